"""What a receiver makes itself is no emission: clicks, weak lines of its clocks, flicker around zero."""

import numpy as np
import pytest

from tests.streaming.band.signals import flat_band, noise, psk, tone
from tests.streaming.band.streams import RATE, run, tracks

LENGTH, LOOK = 200_000, 128
NOISE = 0.02  # RMS, as `noise` is


@pytest.mark.parametrize("looks", [1, 4, 16])
def test_a_band_that_rises_as_a_whole_is_no_emission(looks):
    x = noise(LENGTH)
    for begin in range(15_000, LENGTH - 5_000, 5_000):
        x[begin : begin + looks * LOOK] *= 1.35  # 2.6 dB
    assert tracks(run(x)[0]) == []


def test_an_emission_that_begins_as_the_band_rises_is_one():
    x = noise(LENGTH)
    x[50_000:60_000] = 1.35 * (x[50_000:60_000] + psk(10_000, 16, 0.2, 0.1))
    ((piece, *_),) = tracks(run(x)[0])
    assert piece.box.centre / RATE == pytest.approx(0.2, abs=0.01)
    assert piece.start == pytest.approx(50_000, abs=3 * LOOK)


@pytest.mark.parametrize(("db", "found"), [(3, 0), (10, 1)])
def test_a_steady_line_is_an_emission_if_it_is_strong(db, found):
    noise_in_lobe = NOISE**2 * 4 / LOOK  # a Hann window's main lobe is four bins wide
    x = noise(LENGTH) + tone(LENGTH, 0.21, np.sqrt(10 ** (db / 10) * noise_in_lobe))
    assert len(tracks(run(x)[0])) == found


@pytest.mark.parametrize(("centre", "found"), [(0.0, 0), (0.2, 1)])
def test_a_weak_hump_around_zero_is_the_receivers_flicker(centre, found):
    x = noise(LENGTH) + flat_band(LENGTH, 0.12, centre, NOISE * np.sqrt(0.12 * 10**0.55))
    assert len(tracks(run(x)[0])) == found
