"""A clip holds one emission, at its own rate, in its own time; compared with a filter that scipy makes."""

import numpy as np
import pytest
from scipy.signal import firwin

from streaming.band.box import Box
from streaming.band.clip import FRACTION, clip
from streaming.block import Block
from streaming.errors import InputError

RATE = 1_000_000.0
RNG = np.random.default_rng(3)


def narrow(count, centre, width):
    """Noise of unit power in a band."""
    f = np.fft.fftfreq(count, 1 / RATE)
    spectrum = np.where(np.abs(f - centre) < width / 2, RNG.standard_normal((count, 2)) @ [1, 1j], 0)
    x = np.fft.ifft(spectrum)
    return x / np.sqrt(np.mean(np.abs(x) ** 2))


def test_a_clip_is_the_emission_moved_to_zero_and_filtered():
    x = narrow(300_000, 200e3, 20e3) + 10 * narrow(300_000, -300e3, 50e3)
    made = clip(Block(x.astype(np.complex64), 7_000, RATE, 433e6, utc_ns=5), Box(190e3, 210e3, 20.0, -3.0))
    step = RATE / made.rate_hz
    assert 20e3 / made.rate_hz == pytest.approx(FRACTION, rel=0.1)
    offset = made.freq_hz - 433e6
    assert offset == pytest.approx(200e3, abs=100)
    assert (made.utc_ns, len(made.samples)) == (5, int(300_000 / step))
    taps = firwin(2001, 0.47 * made.rate_hz, fs=RATE)
    moved = x * np.exp(-2j * np.pi * offset * np.arange(len(x)) / RATE)
    expected = np.convolve(moved, taps, "same")
    inside = np.arange(100, len(made.samples) - 100)
    turns = np.interp(inside * step, np.arange(len(x)), expected.real)
    turns = turns + 1j * np.interp(inside * step, np.arange(len(x)), expected.imag)
    got = made.samples[inside]
    phase = np.vdot(got, turns) / abs(np.vdot(got, turns))  # blocks count their phase from the first sample
    assert np.abs(got * phase - turns).max() < 0.02 * np.abs(turns).max()


def test_an_emission_as_wide_as_the_band_keeps_the_rate():
    made = clip(Block(np.ones(50_000, np.complex64), 0, RATE), Box(-5e5, 5e5, 20.0, 0.0))
    assert made.rate_hz == pytest.approx(RATE, rel=0.02)
    assert made.freq_hz is None


@pytest.mark.parametrize("box", [(0, 0), (5, -5), (-6e5, 6e5), (6e5, 7e5), (np.nan, 1)])
def test_a_box_that_is_none_is_refused(box):
    with pytest.raises(InputError, match="is not in a band"):
        clip(Block(np.ones(5000, np.complex64), 0, RATE), Box(*box, 20.0, 0.0))
