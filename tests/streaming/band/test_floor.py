"""The floor under noise of every kind, and under emissions that come, stay and were there before."""

import numpy as np
import pytest
from scipy.signal import firwin, freqz, lfilter

from streaming.band.floor import AVERAGED, KEPT, LOWEST, RISE, Floor
from streaming.band.looks import Looks
from tests.streaming.band.signals import flat_band, noise, tone

BINS = 128
FREE, ALL = np.zeros(BINS, bool), np.ones(BINS, bool)
LEVEL = 0.02**2


def looks_at(x):
    return Looks(BINS).push(x).astype(np.float64)


def started(looks, count=64):
    floor = Floor(BINS)
    floor.start(looks[:count])
    return floor


def learn(floor, looks, held=FREE):
    for look in looks:
        floor.add(look, held)
        floor.count(1)
    return floor


def decibels(ratio):
    return 10 * np.log10(ratio)


@pytest.mark.parametrize(("count", "error_db"), [(4, 1.5), (16, 0.7), (64, 0.3)])
def test_the_first_floor_of_white_noise_is_its_density(count, error_db):
    errors = [decibels(started(looks_at(noise(70 * BINS, seed)), count).level / LEVEL) for seed in range(10)]
    assert abs(np.mean(errors)) < error_db
    assert np.std(errors) < 1.0


def test_the_floor_follows_the_shape_of_a_receivers_filter():
    taps = firwin(33, 0.7)
    x = lfilter(taps, 1, noise(1_500 * BINS).astype(complex)).astype(np.complex64)
    floor = learn(started(looks_at(x)), looks_at(x))
    shape = np.fft.fftshift(np.abs(freqz(taps, worN=BINS, whole=True)[1]) ** 2)
    error = decibels(floor.level / LEVEL / shape)[shape > 1e-3]
    assert np.quantile(np.abs(error), 0.95) < 1.0


@pytest.mark.parametrize(("begin", "end"), [(0, 20), (0, 45), (5, 40), (20, 45), (31, 64)])
def test_a_burst_that_begins_or_ends_in_the_first_looks_is_not_in_the_first_floor(begin, end):
    x = noise(65 * BINS)
    x[begin * BINS : end * BINS] += flat_band((end - begin) * BINS, 0.2, 0.2)
    level = started(looks_at(x)).level
    assert decibels(level.mean() / LEVEL) == pytest.approx(0, abs=0.5)
    assert decibels(level[77:103].mean() / LEVEL) == pytest.approx(0, abs=1.0)


def test_the_first_floor_of_what_is_always_there_is_its_own():
    level = started(looks_at(noise(65 * BINS) + flat_band(65 * BINS, 0.2, 0.2))).level
    assert decibels(level[80:100].mean() / (0.2**2 / 0.2)) == pytest.approx(0, abs=1)


def test_an_emission_that_is_followed_is_not_absorbed_and_others_are():
    quiet, loud = looks_at(noise(65 * BINS)), looks_at(noise(801 * BINS, level=0.1))
    assert decibels(learn(started(quiet), loud, ALL).level.mean() / LEVEL) < 0.6
    assert decibels(learn(started(quiet), np.tile(loud, (2, 1))).level.mean() / LEVEL) > 12


def test_a_gain_increase_is_absorbed_in_the_end_though_it_is_held():
    looks = np.full((AVERAGED, BINS), 1.3 * LEVEL)
    floor, seen = started(np.full((64, BINS), LEVEL)), 0
    while floor.level.mean() < 1.29 * LEVEL and seen < 20 * KEPT * AVERAGED:
        before = floor.level.copy()
        learn(floor, looks, ALL)
        assert (floor.level <= RISE * before * (1 + 1e-9)).all()
        seen += AVERAGED
    assert floor.level.mean() >= 1.29 * LEVEL


@pytest.mark.parametrize(("level", "change_db"), [(0.02, 0), (0.01, -6)])
def test_the_noise_in_the_pauses_of_an_emission_does_not_lower_the_floor_below_it(level, change_db):
    looks = looks_at(noise(1_200 * BINS, level=level))
    held, free = (
        learn(started(looks_at(noise(65 * BINS))), looks, mask).level.mean() for mask in (ALL, FREE)
    )
    assert decibels(held / LEVEL) == pytest.approx(change_db, abs=0.7)
    assert decibels(held / free) == pytest.approx(0, abs=0.2)


def test_the_floor_changes_only_where_it_says():
    looks, floor = looks_at(noise(200 * BINS)), started(looks_at(noise(65 * BINS)))
    for _ in range(5):
        constant, before = floor.constant, floor.level
        learn(floor, looks[: constant - 1])
        assert floor.level is before
        learn(floor, looks[:1])
        assert floor.level is not before


def test_the_quietest_part_is_the_noise_below_emissions_and_not_a_filters_edge():
    x = noise(400 * BINS) + flat_band(400 * BINS, 0.6, 0.1) + tone(400 * BINS, -0.4, 0.1)
    looks = looks_at(x)
    looks[:, :6] *= 1e-4
    looks[:, -6:] *= 1e-4
    assert decibels(learn(started(looks), looks).quietest / LEVEL) == pytest.approx(0, abs=1.0)


def test_the_noise_below_steady_emissions_keeps_the_slopes_of_a_filter():
    looks = looks_at(noise(400 * BINS) + flat_band(400 * BINS, 0.2, 0.1) + tone(400 * BINS, -0.3, 0.1))
    slope = 10 ** -np.clip(20 * (np.abs(np.linspace(-0.5, 0.5, BINS)) - 0.35), 0, 3)  # 30 dB at the edges
    looks *= slope
    found = learn(started(looks), looks).noise / (LEVEL * slope)
    assert np.abs(decibels(found[BINS // 8 : -BINS // 8])).max() < 2.0


def test_digital_silence_has_a_floor_that_can_be_divided_by():
    floor = learn(started(np.zeros((64, BINS))), np.zeros((40, BINS)))
    assert (floor.level == LOWEST).all()
    assert floor.quietest > 0
