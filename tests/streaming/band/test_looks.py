"""Looks against scipy's Welch estimate, without a direct current; and no cut that shows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import welch

from streaming.band.looks import FEWEST, MOST, Looks, bins_for
from tests.streaming.band.signals import noise, psk, tone

BINS = 128
MIDDLE = slice(BINS // 2 - 2, BINS // 2 + 3)
ASIDE = np.r_[0 : MIDDLE.start, MIDDLE.stop : BINS]
LEVEL = 0.02**2  # of the noise
X = noise(10 * BINS + 77)


def test_a_look_is_scipys_welch_estimate_of_its_samples():
    found = Looks(BINS).push(X)
    assert found.shape == (10, BINS)
    for i, look in enumerate(found):
        part = X[i * BINS : i * BINS + BINS * 3 // 2]
        _, theirs = welch(part, nperseg=BINS, noverlap=BINS // 2, return_onesided=False, detrend=False)
        np.testing.assert_allclose(look[ASIDE], np.fft.fftshift(theirs)[ASIDE], rtol=1e-4, atol=1e-9)


def test_the_mean_over_the_bins_is_the_power_and_a_tone_is_in_its_bin():
    for frequency in (-0.5, -0.25, 10 / BINS):
        look = Looks(BINS).push(tone(2 * BINS, frequency, 0.5))[0]
        assert look.argmax() == BINS // 2 + frequency * BINS
        assert look.mean() == pytest.approx(0.25, rel=1e-5)


def test_a_direct_current_is_taken_off_and_nothing_else():
    plain, spoilt = (Looks(BINS).push(noise(20 * BINS) + np.complex64(dc)) for dc in (0, 0.5))
    assert spoilt[:, MIDDLE].max() < 12 * LEVEL
    np.testing.assert_allclose(spoilt[:, ASIDE], plain[:, ASIDE], rtol=1e-3, atol=1e-3 * LEVEL)


@pytest.mark.parametrize("dc", [0.0, 0.02])
@pytest.mark.parametrize("x", [psk(200 * BINS, 500, level=0.2), tone(200 * BINS, 0.1 / BINS, 0.2)])
def test_an_emission_at_zero_stays(x, dc):
    looks = Looks(BINS).push(noise(200 * BINS) + x + np.complex64(dc))
    assert looks[50:, MIDDLE].sum(1).mean() == pytest.approx(BINS * 0.2**2, rel=0.1)


@settings(max_examples=25)
@given(st.lists(st.integers(0, len(X)), max_size=12))
def test_no_cut_of_the_stream_shows(cuts):
    looks = Looks(BINS)
    parts = [looks.push(part) for part in np.split(X, sorted(cuts))]
    np.testing.assert_allclose(np.concatenate(parts), Looks(BINS).push(X), rtol=1e-5)


def test_a_stream_sample_by_sample_and_after_a_reset():
    looks = Looks(BINS)
    looks.push(X[:500])
    looks.reset()
    parts = [looks.push(X[i : i + 1]) for i in range(3 * BINS)]
    np.testing.assert_allclose(np.concatenate(parts), Looks(BINS).push(X[: 3 * BINS]), rtol=1e-5)


@pytest.mark.parametrize("rate_hz", [1.0, 9.6e3, 48e3, 250e3, 1.024e6, 2.4e6, 20e6, 1e9])
def test_bins_are_a_power_of_two_and_a_look_is_near_a_millisecond_where_it_can_be(rate_hz):
    bins = bins_for(rate_hz)
    assert FEWEST <= bins <= MOST
    assert bins & (bins - 1) == 0
    assert bins in (FEWEST, MOST) or 0.5e-3 < bins / rate_hz < 1.5e-3
