"""Simulated emissions as the band front end finds them."""

import numpy as np
import pytest

from streaming.band.box import Box
from streaming.features import MOST, SHORTEST
from training.datasets.emissions import (
    CLASSES,
    OUTLIER,
    any_channel,
    captured,
    make_evidence,
    narrow_evidence,
    part,
)


@pytest.mark.parametrize("name", [*CLASSES, OUTLIER])
def test_evidence_of_every_class_is_found_and_the_same_for_a_seed(name):
    def some():
        return (make_evidence(name, np.random.default_rng([3, i])) for i in range(12))

    samples, snr_db = next(made for made in some() if made)
    assert SHORTEST <= len(samples) <= MOST
    assert np.isfinite(samples).all()
    assert np.isfinite(snr_db)
    again, _ = next(made for made in some() if made)
    np.testing.assert_array_equal(samples, again)


def test_a_part_of_an_emission_is_no_example_of_the_generator_of_streams():
    made = [narrow_evidence("4FSK", np.random.default_rng(i)) for i in range(12)]
    found = [one for one in made if one]
    assert len(found) > 6
    # Four tones: the phase turns by four different amounts per sample, to either side.
    for samples, snr_db in found:
        if snr_db > 15:
            turns = np.angle(samples[1:] * samples[:-1].conj())
            assert np.quantile(turns, 0.9) - np.quantile(turns, 0.1) > 0.2


@pytest.mark.parametrize("length", [SHORTEST, 100, 5_000, 100_000])
def test_a_part_is_consecutive_and_long_enough_to_be_described(length):
    samples = np.arange(length).astype(np.complex64)
    parts = [part(samples, np.random.default_rng(i)) for i in range(50)]
    assert all((np.diff(one.real) == 1).all() for one in parts)
    assert min(len(one) for one in parts) >= min(SHORTEST, length)
    assert any(one[0] > 0 for one in parts) == (length > 2 * SHORTEST)


def test_any_channel_of_a_band_is_described_as_it_is():
    x = np.random.default_rng(1).standard_normal(2 * 32_768).astype(np.float32).view(np.complex64)
    samples, snr_db = any_channel(x, np.random.default_rng(2))
    assert SHORTEST <= len(samples) <= MOST
    assert -6 <= snr_db <= 3


def test_a_box_around_one_tone_of_fsk_holds_half_of_its_power():
    keyed = np.repeat(np.random.default_rng(5).integers(0, 2, 64) * 2 - 1, 1024)
    x = np.exp(2j * np.pi * 0.1 * np.cumsum(keyed)).astype(np.complex64)
    power = np.square(np.abs(np.fft.fft(x)))
    assert captured(power, 1e6, Box(-1.1e5, -0.9e5, 20.0, -20.0)) == pytest.approx(
        np.mean(keyed < 0), abs=0.02
    )
    assert captured(power, 1e6, Box(-1.1e5, 1.1e5, 20.0, -20.0)) > 0.99
