"""A head that knows families and distances names the class, the family, or nothing."""

import json
from dataclasses import replace

import numpy as np
import pytest

from streaming.errors import InputError
from streaming.head import OPTIONAL, Head
from streaming.prediction import UNKNOWN

CLASSES = ("16QAM", "64QAM", "GMSK")


def head_of(**changes):
    """Three classes whose log-probabilities are the decisions: f = (f01, f02, f12), of no support vectors."""
    parts = {
        "name": "live",
        "classes": CLASSES,
        "mode": "live",
        "window": 100,
        "hop": 100,
        "encoder_sha256": "0" * 64,
        "kernel": "linear",
        "gamma": 1.0,
        "threshold": 0.6,
        "mean": np.zeros(3),
        "scale": np.ones(3),
        "vectors": np.eye(3, dtype=np.float16),
        "counts": np.array([1, 1, 1]),
        # libsvm's layout: vector 0 feeds only the pair (0, 1), vector 1 only (1, 2), vector 2 only (0, 2)
        "dual": np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
        "intercept": np.zeros(3),
        "calibration": np.array([[1.0, 0, 0], [0, 0, 1.0], [0, 1.0, 0]]),
        "calibration_bias": np.zeros(3),
    }
    return Head(**{**parts, **changes})


def ones(*shape):
    return np.ones(shape, np.float32)


def open_set(*layers):
    return {f"open_set_{i + 1}": layer for i, layer in enumerate(layers)}


def embeddings(*probabilities):
    """Embeddings of which the head says these probabilities."""
    return np.log(np.array(probabilities)).astype(np.float32)


FAMILY = {"families": ("QAM", "QAM", "FSK"), "certain": 0.5}
CASES = embeddings([0.7, 0.2, 0.1], [0.4, 0.45, 0.15], [0.35, 0.2, 0.45], [0.02, 0.03, 0.95])


def test_the_probabilities_are_as_written():
    assert np.allclose(head_of().probabilities(CASES)[1], [0.4, 0.45, 0.15])


def test_the_class_where_it_is_certain_and_else_the_family():
    names, _ = head_of(**FAMILY).name_all(CASES)
    labels, families, probability = zip(*names, strict=True)
    assert labels == ("16QAM", "QAM", UNKNOWN, "GMSK")  # the third: no family has 60 %
    assert families == ("QAM", "QAM", None, "FSK")
    assert np.allclose(probability, [0.7, 0.85, 0.45, 0.95])


def test_without_families_a_head_names_classes_only():
    names, probabilities = head_of().name_all(CASES)
    labels, families, probability = zip(*names, strict=True)
    assert labels == ("16QAM", UNKNOWN, UNKNOWN, "GMSK")
    assert families == (None,) * 4
    assert np.array_equal(probability, probabilities.max(1))


def test_an_outlier_is_unknown_however_probable():
    first = np.array([[-1, 0], [0, 1], [2, 0]], np.float32)  # of the last two entries: 2 z2 - 1, and z1
    second = np.array([[0, 0], [1, 0], [0, 1]], np.float32)
    third = np.array([[0, 0.5, 1], [0, 0, 1], [1, 0, 0]], np.float32)
    other = [np.zeros_like(layer) for layer in (first, second, third)]  # its odds are 1 : 2
    layers = (np.stack(pair) for pair in zip((first, second, third), other, strict=True))
    head = head_of(**FAMILY, **open_set(*layers), outlier_limit=0.5)
    z = np.array([[0, 3, 1], [0, -1, 2], [9, 0, 1e6]], np.float32)
    bent = [(max(2 * min(c, 6.0) - 1, 0), max(b, 0)) for _, b, c in z.tolist()]
    expected = [(1 + odd - np.log(np.exp(own) + np.exp(0.5)) - np.log(2)) / 2 for odd, own in bent]
    assert np.allclose(head.outlier_odds(z), expected, atol=1e-5)
    head = replace(head, threshold=0.0)
    assert (head.answer(z)[0] < 0).tolist() == [False, True, True]
    assert head.name_all(z)[0][2].label == UNKNOWN


def test_going_past_the_pairs_changes_no_probability():
    rng = np.random.default_rng(0)
    machine = {"kernel": "rbf", "gamma": 0.3, "calibration": rng.standard_normal((3, 3))}
    x = rng.standard_normal((300, 3)).astype(np.float32)
    plain, rich = head_of(**machine), head_of(**machine, **FAMILY)
    assert np.allclose(plain.probabilities(x), rich.probabilities(x), atol=1e-12)
    assert rich.probabilities(x[:0]).shape == (0, 3)


def test_what_a_head_does_not_have_is_not_written():
    plain = head_of()
    assert not set(OPTIONAL) & (plain.meta().keys() | plain.arrays().keys())
    rich = head_of(**FAMILY, **open_set(ones(1, 4, 2), ones(1, 3, 2), ones(1, 3, 2)))
    for head in (plain, rich):
        again = Head.from_arrays(json.loads(json.dumps(head.meta())), head.arrays())
        assert again.families == head.families
        assert again.name_all(CASES)[0] == head.name_all(CASES)[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"families": ("QAM",)}, "1 families; expected 3, one per class"),
        (open_set(ones(1, 3, 2)), "do not fit"),
        (open_set(ones(3, 2), ones(3, 2), ones(3, 2)), "do not fit"),
        (open_set(ones(1, 3, 2), ones(1, 2, 2), ones(1, 3, 2)), "do not fit"),
        (open_set(ones(1, 3, 2), ones(2, 3, 2), ones(1, 3, 2)), "do not fit"),
        (open_set(ones(1, 5, 2), ones(1, 3, 2), ones(1, 3, 2)), "do not fit"),
        (open_set(ones(1, 3, 2), ones(1, 3, 2), ones(1, 3, 1)), "do not fit"),
    ],
)
def test_families_and_open_set_layers_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        head_of(**changes)
