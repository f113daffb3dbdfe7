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
    head = head_of(**FAMILY, outlier_limit=0.5)
    odds = np.array([[0.4], [0.6], [-3.0], [9.0]], np.float32)
    rows = np.concatenate([CASES, odds], 1)
    assert [name.label for name in head.name_all(rows)[0]] == ["16QAM", UNKNOWN, UNKNOWN, UNKNOWN]
    lenient = replace(head, outlier_margin=np.array([0.0, 0.2, 10.0]))  # of a class that was taught later
    assert [name.label for name in lenient.name_all(rows)[0]] == ["16QAM", "QAM", UNKNOWN, "GMSK"]
    with pytest.raises(InputError, match="expected \\(n, 4\\)"):
        head.name_all(CASES)


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
    rich = head_of(**FAMILY, outlier_limit=0.0, outlier_margin=np.zeros(3))
    for head in (plain, rich):
        again = Head.from_arrays(json.loads(json.dumps(head.meta())), head.arrays())
        rows = np.concatenate([CASES, CASES], 1)[:, : head.entries]
        assert (again.families, again.outlier_limit) == (head.families, head.outlier_limit)
        assert again.name_all(rows)[0] == head.name_all(rows)[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"families": ("QAM",)}, "1 families; expected 3, one per class"),
        ({"outlier_margin": np.zeros(2)}, "outlier_margin has shape"),
    ],
)
def test_families_and_margins_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        head_of(**changes)
