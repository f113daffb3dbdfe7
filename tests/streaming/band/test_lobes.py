"""Which lobes of a spectrum are one emission: tones, sidebands, images and neighbours."""

import numpy as np
import pytest
from scipy.signal import firwin, lfilter

from streaming.band.heard import STEPS, Heard, Lobe, power_of
from streaming.band.lobes import find_lobes, group, split
from streaming.band.looks import Looks
from streaming.band.regions import runs
from tests.streaming.band.signals import flat_band, fsk, noise, psk, tone

BINS, LOOKS, LEVEL = 256, 16, 0.02**2
LENGTH = BINS * LOOKS


def emissions(x):
    """The lobes of each emission, of samples whose noise floor is known."""
    x = x + noise(len(x))
    look = Looks(BINS).push(x).astype(np.float64).mean(0)
    hot = np.convolve(look, np.ones(3) / 3, "same") > 2.5 * LEVEL
    lobes = find_lobes(np.where(hot, np.maximum(look - LEVEL, 0), 0), runs(hot))
    return [one.members for one in group(lobes, Heard(x, BINS), steady=False)]


def centres(members):
    return sorted(lobe.centre / BINS - 0.5 for lobe in members)


@pytest.mark.parametrize("seed", range(4))
def test_the_tones_of_fsk_are_one_emission(seed):
    (found,) = emissions(fsk(LENGTH, 128, 0.2, 0.05, seed=seed))
    assert centres(found) == [pytest.approx(-0.05, abs=0.01), pytest.approx(0.15, abs=0.01)]


def test_a_carrier_and_its_sidebands_are_one_emission():
    sound = lfilter(firwin(255, [0.06, 0.12], pass_zero=False), 1, noise(LENGTH, 3, 1.0).real)
    (found,) = emissions(tone(LENGTH, 0.1, 0.2) * (1 + 1.5 * sound).astype(np.float32))
    assert len(found) == 3
    assert centres(found)[1] == pytest.approx(0.1, abs=0.01)
    assert centres(found)[2] - 0.1 == pytest.approx(0.1 - centres(found)[0], abs=0.02)


@pytest.mark.parametrize("image_db", [-15, -25])
def test_the_image_of_an_uneven_receiver_is_no_emission(image_db):
    x = psk(LENGTH, 16, 0.2, 0.5)
    (found,) = emissions(x + 10 ** (image_db / 20) * x.conj())
    assert centres(found) == [pytest.approx(0.2, abs=0.01)]


def test_what_rises_and_falls_with_a_stronger_one_is_its_product():
    x = psk(LENGTH, 32, 0.1, 0.5)
    (found,) = emissions(x + 0.1 * x * tone(LENGTH, 0.23))
    assert centres(found) == [pytest.approx(0.1, abs=0.01)]


@pytest.mark.parametrize("stronger_db", [0, 6, 12])
@pytest.mark.parametrize("seed", range(3))
def test_independent_neighbours_remain_two(stronger_db, seed):
    level = 0.1 * 10 ** (stronger_db / 20)
    found = emissions(psk(LENGTH, 16, -0.1, level, seed=seed) + psk(LENGTH, 16, 0.2, 0.1, seed=seed + 50))
    assert sorted(centres(members)[0] for members in found) == [
        pytest.approx(-0.1, abs=0.015),
        pytest.approx(0.2, abs=0.015),
    ]


@pytest.mark.parametrize("width", [0.1, 0.15, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_neighbours_whose_powers_are_as_restless_as_noise_remain_two(width, seed):
    distance = 1.25 * width
    found = emissions(
        flat_band(LENGTH, width, 0.05 - distance / 2, 0.1, seed=seed)
        + flat_band(LENGTH, width, 0.05 + distance / 2, 0.08, seed=seed + 50)
    )
    assert sorted(len(members) for members in found) == [1, 1]


@pytest.mark.parametrize(("per_symbol", "spacing"), [(24, 0.35), (40, 0.25), (16, 0.4)])
def test_the_tones_of_strong_fsk_are_one_emission_though_their_slopes_fill_the_band(per_symbol, spacing):
    (found,) = emissions(fsk(LENGTH, per_symbol, spacing, 0.05, level=1.0))
    assert len(found) >= 2


@pytest.mark.parametrize("width", [3, 20, 70, 110, 146, 256])
def test_the_powers_of_lobes_of_any_width_are_on_one_time_axis(width):
    x = np.zeros(LENGTH, np.complex64)
    x[LENGTH // 4 : LENGTH // 4 + 800] = noise(800, level=1.0)
    power = power_of(np.fft.fft(x), Lobe(0, width, 1.0, 1.0), BINS)
    assert len(power) == STEPS
    middle = np.average(np.arange(STEPS), weights=power) / STEPS
    assert middle == pytest.approx((LENGTH / 4 + 400) / LENGTH, abs=0.03)


def test_two_carriers_that_are_always_on_remain_two():
    assert len(emissions(tone(LENGTH, -0.13, 0.2) + tone(LENGTH, 0.2, 0.15))) == 2


@pytest.mark.parametrize(("valley", "parts"), [(0.9, [(0, 5), (5, 10)]), (1.2, [(0, 10)])])
def test_a_region_is_parted_at_valleys_of_nine_decibels(valley, parts):
    assert split(np.array([1, 3, 8, 5, 3, valley, 3, 5, 8, 3.0]), (0, 10)) == parts


def test_of_several_valleys_the_shallow_ones_are_closed():
    levels = np.array([9.0, 30.0, 5.0, 0.9, 2.0, 1.0, 5.0, 30.0, 20.0, 25.0])
    assert split(levels, (0, 10)) == [(0, 3), (3, 10)]


def test_faint_lobes_are_left_out_and_the_strongest_comes_first():
    excess = np.zeros(BINS)
    excess[[50, 120, 200]] = [1.0, 100.0, 0.01]
    lobes = find_lobes(excess, [(48, 53), (118, 123), (198, 203)])
    assert [lobe.centre for lobe in lobes] == [120, 50]
    assert find_lobes(excess, []) == []
    assert group([], Heard(noise(LENGTH), BINS), steady=False) == []


def test_the_third_of_three_carriers_that_are_not_alike_is_no_sideband():
    lobes = [Lobe(c - 2, c + 3, p, float(c)) for c, p in ((100, 9.0), (140, 1.0), (60, 0.1))]
    assert [len(one.members) for one in group(lobes, Heard(noise(BINS), BINS), steady=False)] == [1, 1, 1]


def test_fsk_that_sends_a_pattern_is_one_emission_though_none_of_its_lines_keys():
    keyed = np.resize(np.repeat([1.0, -1.0], 26), LENGTH)  # a preamble: lines at equal distances
    x = 0.3 * np.exp(2j * np.pi * np.cumsum(0.05 + 0.06 * keyed)).astype(np.complex64)
    powers = {tuple(centres(members)): sum(lobe.power for lobe in members) for members in emissions(x)}
    strongest = max(powers, key=lambda places: powers[places])
    assert min(strongest) < 0.05 < max(strongest)
    assert powers[strongest] > 0.9 * sum(powers.values())


def test_noise_that_rises_in_the_pauses_of_a_strong_emission_is_no_tone_of_it():
    on = np.resize(np.repeat([1.0, 0.0], 400), LENGTH).astype(np.float32)
    x = 0.5 * on * tone(LENGTH, -0.3) + (1 - on) * flat_band(LENGTH, 0.15, 0.1, 0.08)
    assert all(len({c > -0.1 for c in centres(members)}) == 1 for members in emissions(x))


def test_nothing_is_known_of_lobes_without_any_power():
    lobes = [Lobe(10, 14, 1.0, 12.0), Lobe(40, 44, 1.0, 42.0)]
    silent = Heard(np.zeros(LENGTH, np.complex64), BINS)
    assert [one.members for one in group(lobes, silent, steady=False)] == [[lobes[0]], [lobes[1]]]
