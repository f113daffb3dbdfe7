"""The resampler and the channel against direct sums, tones and scipy; and no cut that shows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import firwin

from streaming.channel import Channel
from streaming.errors import ConfigError
from streaming.resample import Resampler

RNG = np.random.default_rng(1)
STEPS = [0.3, 0.5, 1.0, 1.37, 2.0, 3.3, 9.6, 40.0]


def noise(length):
    return RNG.standard_normal((length, 2)).astype(np.float32).view(np.complex64)[:, 0]


def tone(frequency, length):
    return np.exp(2j * np.pi * frequency * np.arange(length)).astype(np.complex64)


def test_whole_steps_equal_a_direct_sum():
    resampler = Resampler(4.0, 0.11)
    assert (resampler.size, resampler.kept) == (1024, 256)
    x = noise(6000)
    got = resampler.push(x)
    beta, edge = 0.1102 * (60 - 8.7), (60 - 7.95) / (14.36 * 512)
    taps = firwin(513, 0.125 - edge / 2, window=("kaiser", beta), fs=1.0)
    turned = x.astype(complex) * np.exp(-2j * np.pi * resampler.offset * np.arange(len(x)))
    expected = np.convolve(turned, taps)[256:][::4][: len(got)]
    assert np.abs(got - expected).max() < 1e-3 * np.abs(expected).max()  # a stopband of 60 dB folds back


@pytest.mark.parametrize("step", STEPS)
def test_a_tone_keeps_its_amplitude_phase_and_place(step):
    resampler = Resampler(step, -0.1)
    f = 0.3 * min(1, 1 / step)
    got = resampler.push(tone(resampler.offset + f, 12 * resampler.size))
    middle = slice(len(got) // 4, 3 * len(got) // 4)
    expected = np.exp(2j * np.pi * f * resampler.step * np.arange(len(got)))
    assert np.abs(got - expected)[middle].max() < 1e-3


@pytest.mark.parametrize("step", [s for s in STEPS if s > 1])
def test_what_would_fold_is_60_db_down(step):
    resampler = Resampler(step)
    got = resampler.push(tone(0.51 / step, 12 * resampler.size))
    assert 20 * np.log10(np.abs(got[len(got) // 4 :]).max()) < -57


@pytest.mark.parametrize("step", np.geomspace(0.07, 1000, 60))
def test_any_step_is_met_within_a_few_percent(step):
    assert Resampler(step).step == pytest.approx(step, rel=0.016)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 1500), max_size=10), st.sampled_from([0.5, 1.37, 9.6]))
def test_no_cut_of_the_stream_shows_in_a_bit(cuts, step):
    x = np.random.default_rng(2).standard_normal((8000, 2)).astype(np.float32).view(np.complex64)[:, 0]
    whole, resampler = Resampler(step, 0.2), Resampler(step, 0.2)
    at = np.minimum(np.cumsum([0, *cuts]), len(x)).astype(int)
    pieces = [resampler.push(piece) for piece in np.split(x, at)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole.push(x))
    np.testing.assert_array_equal(resampler.flush(), whole.flush())


def test_flush_gives_every_place_up_to_the_last_sample():
    resampler = Resampler(3.3)
    got = np.concatenate([resampler.push(noise(5001)), resampler.flush()])
    assert len(got) == int(np.ceil(5001 / resampler.step))
    x = noise(9000)
    np.testing.assert_array_equal(resampler.push(x), Resampler(3.3).push(x))  # it was reset


@pytest.mark.parametrize("args", [(0.01,), (5000.0,), (2.0, 0.7)])
def test_settings_that_make_no_sense_are_refused(args):
    with pytest.raises(ConfigError, match=r"resample\.(step|offset) is"):
        Resampler(*args)


def test_a_channel_is_tuned_to_zero_at_its_own_rate():
    channel = Channel(2.4e6, 300e3, 250e3)
    assert (channel.rate_hz, channel.offset_hz, channel.step) == (250e3, 300e3, 9.6)
    got = channel.push(tone(310e3 / 2.4e6, 200_000))[500:]
    frequency = np.angle(np.mean(got[1:] * got[:-1].conj())) / (2 * np.pi) * 250e3
    assert frequency == pytest.approx(10e3, abs=1)
    channel.reset()
    x = noise(30_000)
    first = channel.push(x)
    channel.reset()
    np.testing.assert_array_equal(channel.push(x), first)


@pytest.mark.parametrize(("offset", "width"), [(0, 0), (0, 3e6), (1.2e6, 250e3)])
def test_a_channel_outside_the_band_is_refused(offset, width):
    with pytest.raises(ConfigError, match="channel"):
        Channel(2.4e6, offset, width)
