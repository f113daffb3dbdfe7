"""The correction against an imbalance and a direct current that were put there."""

import numpy as np
import pytest

from streaming.correction import ENOUGH, Correction
from streaming.errors import ConfigError

RNG = np.random.default_rng(3)
GAIN, PHASE, DC = 1.1, np.deg2rad(5), 0.02 - 0.03j


def spoilt(x):
    """I as it is, Q stronger and turned, and a direct current."""
    return (x.real + 1j * GAIN * (x.imag * np.cos(PHASE) + x.real * np.sin(PHASE)) + DC).astype(np.complex64)


def noise(length):
    return (RNG.standard_normal((length, 2)) * 0.1).view(np.complex128)[:, 0]


def image_db(x):
    """The power at minus a tone's frequency over the power at it."""
    spectrum = np.abs(np.fft.fft(x))
    n = len(x)
    return 20 * np.log10(spectrum[-n // 8] / spectrum[n // 8])


def test_what_noise_teaches_removes_a_signals_image_and_the_direct_current():
    correction, tone = Correction(), np.exp(2j * np.pi * np.arange(8192) / 8)
    before = spoilt(tone)
    assert image_db(before) > -27
    np.testing.assert_array_equal(correction.push(before), before)  # nothing was learnt
    for _ in range(100):
        correction.learn(spoilt(noise(4096)))
    after = correction.push(before)
    assert image_db(after) < -45
    assert abs(after.mean()) < 1e-3
    assert correction.dc == pytest.approx(DC, abs=1e-3)


def test_an_even_receiver_is_left_alone():
    correction, x = Correction(), noise(400_000).astype(np.complex64)
    correction.learn(x)
    assert abs(correction.image) < 0.005
    np.testing.assert_allclose(correction.push(x[:1000]), x[:1000], atol=4e-3)


def test_no_cut_shows_and_reset_forgets():
    correction, x = Correction(), spoilt(noise(ENOUGH))
    correction.learn(x)
    cut = np.concatenate([correction.push(x[i : i + 7]) for i in range(0, 700, 7)])
    np.testing.assert_array_equal(cut, correction.push(x[:700]))
    correction.reset()
    np.testing.assert_array_equal(correction.push(x), x)


def test_a_constant_stream_has_no_direction():
    correction = Correction()
    correction.learn(np.full(2 * ENOUGH, 0.5, np.complex64))
    assert correction.image == 0
    assert not correction.push(np.full(3, 0.5, np.complex64)).any()


def test_a_time_constant_that_is_too_short_is_refused():
    with pytest.raises(ConfigError, match=r"correction\.samples is 5"):
        Correction(5)
