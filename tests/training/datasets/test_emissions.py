"""Simulated emissions as the band front end finds them."""

import numpy as np
import pytest

from streaming.features import COUNT, MOST, SHORTEST
from training.datasets.emissions import CLASSES, OUTLIER, Maker, make_evidence, make_examples
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
    assert 40 <= len(first.label) <= 60
    assert first.features.shape == (len(first.label), COUNT)
    np.testing.assert_array_equal(first.features, again.features)
    np.testing.assert_array_equal(first.label, again.label)
