"""Examples of simulated emissions."""

import numpy as np

from streaming.features import COUNT
from training.datasets.examples import PARTS_OF_EACH, Maker, make_examples
from training.signals.classes import NOISE


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
