"""What fits heads on a receiver without scikit-learn and scipy, against both."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from training.heads.calibration import calibrate
from training.heads.folds import stratified_folds
from training.heads.machine import INF, native_machine, sklearn_machine
from training.heads.search import kernel_matrix


def blobs(classes, n, apart, seed=0):
    """Points (n, 6) around one centre per class, and their labels in no order."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % classes)
    return rng.normal(apart * rng.standard_normal((classes, 6))[labels], 1.0), labels


def objective(gram, labels, dual):
    """What a machine of two classes minimises."""
    y = np.where(labels == 1, 1.0, -1.0)
    return 0.5 * dual @ gram @ dual - y @ dual


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, np.inf])
@pytest.mark.parametrize(("classes", "apart"), [(2, 0.5), (2, 3.0), (3, 1.0), (7, 1.5)])
def test_the_kernels_machine_is_scikit_learns(classes, apart, C):
    x, labels = blobs(classes, 210, apart)
    gram = kernel_matrix(x @ x.T, "rbf", 1 / 6)
    train, test = np.arange(150), np.arange(150, 210)
    inner, outer = np.ascontiguousarray(gram[np.ix_(train, train)]), gram[np.ix_(test, train)]
    ours = native_machine(inner, labels[train], C, 10**7)
    svc = SVC(C=min(C, INF), kernel="precomputed", tol=1e-3, decision_function_shape="ovo")
    expected = svc.fit(inner, labels[train]).decision_function(outer).reshape(len(test), -1)
    # Both stop where no condition of optimality is violated by more than 1e-3.
    assert ours.converged
    assert np.abs(ours.decide(outer) - expected).max() < 1e-2
    theirs = sklearn_machine(inner, labels[train], C, 10**7)
    assert np.allclose(theirs.decide(outer), expected, atol=1e-9)
    if classes == 2:
        values = []
        for machine in (ours, theirs):
            dual = np.zeros(150)
            dual[machine.support] = machine.dual[0]
            assert dual.sum() == pytest.approx(0, abs=1e-9 * np.abs(dual).max())
            values.append(objective(inner, labels[train], dual))
        assert values[0] == pytest.approx(values[1], rel=1e-3)


def test_support_vectors_are_laid_out_as_libsvm_does():
    x, labels = blobs(4, 120, 1.0)
    gram = kernel_matrix(x @ x.T, "rbf", 1 / 6)
    ours, svc = native_machine(gram, labels, 1.0, 10**6), SVC(C=1.0, kernel="precomputed").fit(gram, labels)
    shared, mine, its = np.intersect1d(ours.support, svc.support_, return_indices=True)
    assert len(shared) >= 0.95 * max(len(ours.support), len(svc.support_))
    assert np.abs(ours.dual[:, mine] - svc.dual_coef_[:, its]).max() < 0.01
    assert np.all(np.diff(labels[ours.support]) >= 0)
    assert ours.counts.tolist() == np.bincount(labels[ours.support]).tolist()


def test_a_machine_that_cannot_converge_says_so():
    x, labels = blobs(2, 100, 0.0)
    gram = kernel_matrix(x @ x.T, "linear", 1.0)
    assert not native_machine(gram, labels, np.inf, 1000).converged
    assert not sklearn_machine(gram, labels, np.inf, 1000).converged


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("folds", [2, 3, 5])
@pytest.mark.parametrize("first", [0, 2])
def test_folds_are_scikit_learns(folds, seed, first):
    labels = np.random.default_rng(seed).integers(0, 4, 97)
    labels[0] = first
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    for ours, theirs in zip(
        stratified_folds(labels, folds, seed), splitter.split(labels, labels), strict=True
    ):
        assert np.array_equal(ours[0], theirs[0])
        assert np.array_equal(ours[1], theirs[1])


@pytest.mark.parametrize(("classes", "scale"), [(2, 1.0), (4, 10.0), (8, 1.0)])
def test_calibration_finds_the_minimum_that_scipy_finds(classes, scale):
    rng = np.random.default_rng(classes)
    labels = rng.integers(0, classes, 300)
    pairs = classes * (classes - 1) // 2
    decisions = scale * (rng.standard_normal((300, pairs)) + rng.standard_normal((classes, pairs))[labels])

    def loss(flat):
        w = flat.reshape(pairs + 1, classes)
        logits = decisions @ w[:-1] + w[-1]
        top = logits.max(1)
        total = top + np.log(np.exp(logits - top[:, None]).sum(1))
        return np.mean(total - logits[np.arange(300), labels]) + np.square(w[:-1]).sum() / 600

    weights, bias = calibrate(decisions, labels, classes)
    found = loss(np.vstack([weights, bias]).ravel())
    start = np.zeros((pairs + 1) * classes)
    best = minimize(loss, start, method="L-BFGS-B", options={"maxiter": 1000, "maxfun": 10**6})
    assert found <= best.fun * (1 + 1e-4)
