"""Simulated emissions as the band front end finds them."""

import numpy as np
import pytest

from streaming.band.box import Box
from streaming.features import COUNT, MOST, SHORTEST
from training.datasets.emissions import (
    CLASSES,
    OUTLIER,
    PARTS_OF_EACH,
    Maker,
    any_channel,
    captured,
    make_evidence,
    make_examples,
    part,
)
from training.signals.classes import NOISE


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


def test_examples_are_kept_and_found_again(tmp_path):
    maker = Maker(("OOK", "GMSK", NOISE), seed=5)
    first = make_examples(maker, 60, tmp_path, "emissions")
    kept = sorted(tmp_path.iterdir())
    kept[0].unlink()  # a run that was stopped makes what is missing
    again = make_examples(maker, 60, tmp_path, "emissions")
    assert first.names == ("OOK", "GMSK", NOISE)
    numbers, times = np.unique(first.number, return_counts=True)
    assert 40 <= len(numbers) <= 60
    assert set(times) == {1 + PARTS_OF_EACH}
    np.testing.assert_array_equal(first.label, first.number % 3)
    assert first.features.shape == (len(first.label), COUNT)
    np.testing.assert_array_equal(first.features, again.features)
    np.testing.assert_array_equal(first.label, again.label)


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
