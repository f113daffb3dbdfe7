"""Bins that stand out: none in noise, all of an emission, and nothing beside a strong one."""

import numpy as np
import pytest

from streaming.band.looks import Looks
from streaming.band.regions import WIDEST, Standout, as_mask, mean_over, runs, summed
from tests.streaming.band.signals import flat_band, noise, tone

BINS, LEVEL = 256, 0.02**2
FLOOR = np.full(BINS, LEVEL)


def found_in(x, floor=FLOOR):
    return Standout(BINS).find(Looks(BINS).push(x).astype(np.float64), floor)


def test_noise_raises_no_alarm_in_five_thousand_looks():
    assert not found_in(noise(5_000 * BINS)).any()


def test_noise_over_a_floor_half_a_decibel_low_raises_no_alarm_at_the_edges_either():
    assert not found_in(noise(4_000 * BINS), 0.9 * FLOOR).any()


@pytest.mark.parametrize(("width", "snr_db"), [(0.01, 17), (0.05, 10), (0.2, 5), (0.5, 3)])
def test_an_emission_is_found_where_it_is_and_nowhere_else(width, snr_db):
    level = 0.02 * np.sqrt(width * 10 ** (snr_db / 10))
    found = found_in(noise(200 * BINS) + flat_band(200 * BINS, width, 0.1, level))
    first, last = (round((0.6 + side * width / 2) * BINS) for side in (-1, 1))
    assert found.any(1).mean() > 0.95
    assert found[:, first:last].mean() > 0.3
    assert found[:, : first - 12].mean() < 0.01
    assert found[:, last + 12 :].mean() < 0.01


def test_a_strong_narrow_emission_does_not_make_its_neighbourhood_hot():
    looks = np.full((4, BINS), LEVEL)
    looks[:, 100] *= 1e5
    assert [runs(row) for row in Standout(BINS).find(looks, FLOOR)] == [[(100, 101)]] * 4


def test_a_real_carrier_is_as_wide_as_the_windows_main_lobe():
    found = found_in(noise(100 * BINS) + tone(100 * BINS, 30 / BINS, 0.5))
    assert {run for row in found for run in runs(row)} <= {(157, 160), (156, 161)}


def test_the_whole_band_can_stand_out():
    assert found_in(noise(20 * BINS, level=0.06)).mean() > WIDEST


@pytest.mark.parametrize("width", [1, 2, 3, 4, 8, 9])
def test_means_are_of_as_many_entries_everywhere(width):
    rows = np.random.default_rng(1).random((2, 9))
    found = mean_over(summed(rows), width)
    for row, means in zip(rows, found, strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(row, width).mean(1)
        before = np.repeat(windows[0], width // 2)
        np.testing.assert_allclose(means, [*before, *windows, *[windows[-1]] * 9][:9])


def test_runs_close_small_gaps_and_come_back_as_a_mask():
    mask = np.array([0, 1, 1, 0, 0, 1, 0, 0, 0, 1], bool)
    assert runs(mask) == [(1, 6), (9, 10)]
    assert runs(mask, closed=0) == [(1, 3), (5, 6), (9, 10)]
    assert runs(np.zeros(4, bool)) == []
    np.testing.assert_array_equal(as_mask(10, runs(mask, closed=0)), mask)
