"""A head decides as scikit-learn does, from plain arrays alone."""

import numpy as np
import pytest
from sklearn.svm import SVC

from streaming.errors import InputError, WavetellError
from streaming.head import STEPS, Head


def blobs(classes, outputs=24, n=60, seed=0):
    """Overlapping clusters, rounded to a head's steps."""
    rng = np.random.default_rng(seed)
    label = np.arange(n * classes) % classes
    x = rng.standard_normal((len(label), outputs)) + rng.standard_normal((classes, outputs))[label]
    return np.rint(x * STEPS) / STEPS, label


def head_of(machine, names, centre, spread, **changes):
    """A head from a fitted SVC, written out independently of training.heads.fit."""
    pairs = len(names) * (len(names) - 1) // 2
    parts = {
        "name": "test",
        "classes": names,
        "mode": "frame",
        "window": 100,
        "hop": 100,
        "encoder_sha256": "0" * 64,
        "kernel": machine.kernel,
        "gamma": float(machine._gamma),
        "threshold": 0.0,
        "mean": centre,
        "scale": spread,
        "vectors": machine.support_vectors_.astype(np.float16),
        "counts": machine.n_support_.astype(np.int64),
        "dual": machine.dual_coef_.copy(),
        "intercept": machine.intercept_.copy(),
        "calibration": np.ones((pairs, len(names))),
        "calibration_bias": np.zeros(len(names)),
    }
    return Head(**(parts | changes))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_decisions_equal_scikit_learns(kernel, classes, C):
    x, label = blobs(classes)
    machine = SVC(kernel=kernel, C=C, decision_function_shape="ovo").fit(x, label)
    rng = np.random.default_rng(1)
    mean, scale = rng.standard_normal(24), rng.uniform(0.5, 2.0, 24)
    head = head_of(machine, tuple("ABCDE"[:classes]), mean, scale)
    embeddings = (rng.standard_normal((40, 24)) * scale + mean).astype(np.float32)
    expected = machine.decision_function((embeddings - mean) / scale).reshape(40, -1)
    assert head.decide(embeddings) == pytest.approx(expected, abs=1e-6)


def test_vectors_that_are_no_steps_are_evaluated_in_float64():
    x, label = blobs(3)
    x = x.astype(np.float16).astype(np.float64) * 1.0009765625
    x = x.astype(np.float16).astype(np.float64)
    machine = SVC(C=100.0, decision_function_shape="ovo").fit(x, label)
    head = head_of(machine, ("A", "B", "C"), np.zeros(24), np.ones(24))
    query = np.random.default_rng(2).standard_normal((40, 24)).astype(np.float32)
    assert head.decide(query) == pytest.approx(machine.decision_function(query.astype(float)), abs=1e-9)


def test_one_embedding_decides_as_in_a_batch():
    x, label = blobs(4)
    head = head_of(SVC(decision_function_shape="ovo").fit(x, label), tuple("ABCD"), np.zeros(24), np.ones(24))
    query = np.random.default_rng(3).standard_normal((300, 24)).astype(np.float32)
    together = head.decide(query)
    alone = np.concatenate([head.decide(query[i : i + 1]) for i in range(300)])
    assert alone == pytest.approx(together, abs=1e-7)
    assert head.decide(query[:0]).shape == (0, 6)


def test_probabilities_are_the_softmax_of_the_calibration():
    x, label = blobs(3)
    rng = np.random.default_rng(4)
    calibration, bias = rng.standard_normal((3, 3)), rng.standard_normal(3)
    head = head_of(
        SVC(decision_function_shape="ovo").fit(x, label),
        ("A", "B", "C"),
        np.zeros(24),
        np.ones(24),
        calibration=calibration,
        calibration_bias=bias,
    )
    query = x[:20].astype(np.float32)
    grown = np.exp(head.decide(query) @ calibration + bias)
    assert head.probabilities(query) == pytest.approx(grown / grown.sum(1, keepdims=True))


def test_an_answer_below_the_threshold_is_unknown():
    x, label = blobs(3)
    machine = SVC(decision_function_shape="ovo").fit(x, label)
    query = x[:50].astype(np.float32)
    calibration = np.array([[1.0, -1, 0], [1, 0, -1], [0, 1, -1]])
    free = head_of(machine, ("A", "B", "C"), np.zeros(24), np.ones(24), calibration=calibration)
    chosen, probabilities = free.answer(query)
    assert (chosen == probabilities.argmax(1)).all()
    middle = float(np.median(probabilities.max(1)))
    strict = head_of(
        machine, ("A", "B", "C"), np.zeros(24), np.ones(24), calibration=calibration, threshold=middle
    )
    assert ((strict.answer(query)[0] == -1) == (probabilities.max(1) < middle)).all()


def test_a_head_comes_back_from_its_arrays():
    x, label = blobs(3)
    head = head_of(
        SVC(decision_function_shape="ovo").fit(x, label), ("A", "B", "C"), np.zeros(24), np.ones(24)
    )
    again = Head.from_arrays(head.meta(), head.arrays())
    assert (again.decide(x[:5].astype(np.float32)) == head.decide(x[:5].astype(np.float32))).all()
    assert again.meta() == head.meta()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mean": np.zeros(7)}, "mean has shape"),
        ({"dual": np.zeros((1, 1))}, "dual has shape"),
        ({"scale": np.zeros(24)}, "scale"),
        ({"classes": ("A", "A", "B")}, "classes"),
        ({"window": 150}, "multiple of hop"),
        ({"kernel": "poly"}, "kernel"),
    ],
)
def test_parts_that_do_not_fit_are_named(changes, message):
    x, label = blobs(3)
    machine = SVC(decision_function_shape="ovo").fit(x, label)
    with pytest.raises(WavetellError, match=message):
        head_of(machine, ("A", "B", "C"), np.zeros(24), np.ones(24), **changes)


def test_embeddings_of_another_width_are_refused():
    x, label = blobs(3)
    head = head_of(
        SVC(decision_function_shape="ovo").fit(x, label), ("A", "B", "C"), np.zeros(24), np.ones(24)
    )
    with pytest.raises(InputError, match="expected \\(n, 24\\)"):
        head.decide(np.zeros((2, 23), np.float32))
