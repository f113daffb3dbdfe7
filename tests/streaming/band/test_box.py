"""The box against theory: 98 % of the power, 26 dB below the peak, SNR within the edges."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from streaming.band.box import Box, measure
from streaming.band.looks import Looks
from tests.streaming.band.signals import flat_band, noise, ook, psk

BINS = 1024
FREQUENCY = (np.arange(BINS) - BINS // 2) / BINS
FLOOR = np.full(BINS, 1e-4)


def raised_cosine(f, rate, roll_off):
    """The density of symbols behind root-raised-cosine filters."""
    beyond = np.abs(f) - (1 - roll_off) * rate / 2
    edge = 0.5 * (1 + np.cos(np.pi / (roll_off * rate) * np.clip(beyond, 0, roll_off * rate)))
    return np.where(beyond < roll_off * rate, edge, 0.0)


@pytest.mark.parametrize("roll_off", [0.2, 0.35, 0.5])
@pytest.mark.parametrize(("rate", "offset"), [(0.05, 0.1), (0.2, -0.2), (0.5, 0.0)])
def test_the_box_of_a_raised_cosine_holds_98_percent_of_its_power(rate, roll_off, offset):
    total = 2 * quad(raised_cosine, 0, rate, (rate, roll_off), limit=200)[0]
    half = brentq(lambda f: 2 * quad(raised_cosine, 0, f, (rate, roll_off))[0] - 0.98 * total, 0, rate)
    box = measure(raised_cosine(FREQUENCY - offset, rate, roll_off), FLOOR)
    assert box.centre == pytest.approx(offset, abs=0.5 / BINS)
    assert box.width == pytest.approx(2 * half, abs=1 / BINS)


def hann_line(f):
    """The density of a carrier of unit power in a look: the Hann window's response over its energy."""
    bins = f * BINS

    def dirichlet(k):
        return np.sinc(k) * BINS

    response = 0.5 * dirichlet(bins) + 0.25 * (dirichlet(bins - 1) + dirichlet(bins + 1))
    return response**2 / (0.375 * BINS)


@pytest.mark.parametrize("per_symbol", [20, 50])
def test_the_box_of_hard_keyed_ook_is_that_of_its_lobes_above_26_decibels(per_symbol):
    f = np.arange(2**18) / 2**18 - 0.5
    density = 0.25 * per_symbol * np.sinc(f * per_symbol) ** 2 + 0.25 * hann_line(f)
    three = sum(np.roll(density, side * 2**18 // BINS) for side in (-1, 0, 1)) / 3
    density[three < three.max() / 400] = 0
    below = np.cumsum(density) / density.sum()
    lower, upper = np.interp([0.01, 0.99], below, f)
    x = ook(400 * BINS, per_symbol, 0.125, 1.0)
    box = measure(Looks(BINS).push(x).astype(float).mean(0), FLOOR)
    assert box.centre == pytest.approx(0.125, abs=0.02 * (upper - lower))
    assert box.width == pytest.approx(upper - lower, rel=0.08)


@pytest.mark.parametrize(("false_floor_db", "counts"), [(-32, False), (-15, True)])
def test_noise_that_a_channel_filter_let_through_counts_only_down_to_26_decibels(false_floor_db, counts):
    signal = raised_cosine(FREQUENCY, 0.05, 0.35)
    false_floor = np.where(np.abs(FREQUENCY) < 0.3, 10 ** (false_floor_db / 10), 0)
    alone, both = measure(signal, FLOOR), measure(signal + false_floor, FLOOR)
    assert (both.width > 2 * alone.width) == counts
    assert counts or both.width == pytest.approx(alone.width, rel=0.05)


def test_snr_and_level_are_those_within_the_edges():
    level, width = 0.2, 0.2
    x = flat_band(300 * BINS, width, 0.1, level) + noise(300 * BINS)
    look = Looks(BINS).push(x).astype(float).mean(0)
    box = measure(look - 0.02**2, np.full(BINS, 0.02**2))
    assert (box.lower, box.upper) == (pytest.approx(0, abs=0.004), pytest.approx(0.2, abs=0.004))
    assert box.snr_db == pytest.approx(20 * np.log10(level / 0.02) - 10 * np.log10(width), abs=0.2)
    assert box.level_db == pytest.approx(20 * np.log10(level), abs=0.2)


def test_a_box_of_the_air_is_within_a_bin_of_that_of_the_waveform():
    x = psk(200 * BINS, 16, -0.15, 0.2)
    spectrum = np.abs(np.fft.fftshift(np.fft.fft(x))) ** 2
    edges = np.interp([0.01, 0.99], np.cumsum(spectrum) / spectrum.sum(), np.linspace(-0.5, 0.5, len(x)))
    box = measure(Looks(BINS).push(x).astype(float).mean(0), FLOOR)
    assert (box.lower, box.upper) == pytest.approx(edges, abs=1.5 / BINS)


def test_a_carrier_is_at_least_one_bin_wide_and_nothing_has_no_box():
    line = np.zeros(BINS)
    line[600] = 1.0
    box = measure(line, FLOOR)
    assert box.centre == pytest.approx(FREQUENCY[600], abs=0.5 / BINS)
    assert box.width == pytest.approx(1 / BINS)
    assert measure(np.zeros(BINS), FLOOR) is None


def test_a_box_in_hertz():
    assert Box(-0.1, 0.2, 7.0, -20.0).scaled(1e6) == Box(-1e5, 2e5, 7.0, -20.0)
