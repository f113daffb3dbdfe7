"""Fitted heads against scikit-learn's own machines and grid search."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from streaming.errors import ConfigError, InputError
from streaming.head import STEPS
from training.heads import fit as heads
from training.heads.calibration import best_penalty, calibrate, softmax
from training.heads.fit import Identity, fit_head
from training.heads.search import Search, vote

IDENTITY = Identity("station", ("A", "B", "C", "D"), "frame", 100, 100, "0" * 64)


def blobs(n=240, outputs=20, classes=4, seed=0, spread=1.3):
    """Overlapping clusters at an odd place and scale."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).standard_normal((4, outputs))
    label = np.arange(n) % classes
    x = centres[label] + spread * rng.standard_normal((n, outputs))
    return (3 * x + 5).astype(np.float32), label


def levelled(head, x):
    """Embeddings as the machine was fitted on."""
    return np.rint((x - head.mean) / head.scale * STEPS) / STEPS


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_head_is_the_machine_that_scikit_learn_fits(kernel):
    x, label = blobs()
    fit = fit_head(x, label, IDENTITY, Search(kernel=kernel, gamma=(1.0,), C=(0.1, 1.0, 10.0)))
    z = levelled(fit.head, x)
    machine = SVC(kernel=kernel, C=fit.C, gamma=fit.head.gamma, tol=1e-3, decision_function_shape="ovo")
    machine.fit(z, label)
    query = blobs(seed=1)[0]
    expected = machine.decision_function((query - fit.head.mean) / fit.head.scale)
    assert fit.head.decide(query) == pytest.approx(expected, abs=1e-6)


def test_the_search_chooses_as_grid_search_does():
    x, label = blobs()
    search = Search(gamma=(1.0,), C=(0.001, 0.01, 0.1, 1.0, 10.0, 1000.0, np.inf), seed=3)
    fit = fit_head(x, label, IDENTITY, search)
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    grid = {"C": [0.001, 0.01, 0.1, 1.0, 10.0, 1000.0, 1e12]}
    expected = GridSearchCV(SVC(gamma=fit.head.gamma), grid, cv=folds).fit(levelled(fit.head, x), label)
    assert expected.best_params_["C"] == fit.C


def test_gamma_is_scikit_learns_scale():
    x, label = blobs()
    fit = fit_head(x, label, IDENTITY, Search(gamma=(1.0,), C=(1.0,)))
    expected = SVC(gamma="scale").fit(levelled(fit.head, x), label)._gamma
    assert fit.head.gamma == pytest.approx(expected)


def test_probabilities_are_calibrated_on_fresh_data():
    x, label = blobs(800, spread=2.0)
    head = fit_head(x, label, IDENTITY, Search(gamma=(1.0,), C=(1.0,))).head
    query, truth = blobs(4000, seed=7, spread=2.0)
    p = head.probabilities(query)
    top, right = p.max(1), p.argmax(1) == truth
    for low in (0.3, 0.5, 0.7, 0.9):
        inside = (top > low) & (top <= low + 0.2)
        if inside.sum() > 50:
            assert top[inside].mean() == pytest.approx(right[inside].mean(), abs=0.08)
    assert 0.5 < right.mean() < 0.99


def test_calibration_recovers_the_model_that_made_the_labels():
    rng = np.random.default_rng(0)
    f = rng.standard_normal((20_000, 3))
    weights, bias = rng.standard_normal((3, 3)), np.array([0.5, 0.0, -0.5])
    p = softmax(f @ weights + bias)
    label = (p.cumsum(1) > rng.random((20_000, 1))).argmax(1)
    found = softmax(f @ calibrate(f, label, 3)[0] + calibrate(f, label, 3)[1])
    assert np.abs(found - p).max() < 0.06


def test_the_threshold_refuses_its_share_of_held_out_labels():
    x, label = blobs(800)
    search = Search(gamma=(1.0,), C=(1.0,), refuse=0.1)
    head = fit_head(x, label, IDENTITY, search).head
    refused = np.mean(head.answer(blobs(2000, seed=5)[0])[0] == -1)
    assert refused == pytest.approx(0.1, abs=0.05)
    assert fit_head(x, label, IDENTITY, Search(gamma=(1.0,), C=(1.0,), refuse=0.0)).head.threshold == 0


def test_votes_are_libsvms():
    x, label = blobs()
    machine = SVC(decision_function_shape="ovo").fit(x, label)
    assert (vote(machine.decision_function(x), 4) == machine.predict(x)).all()
    two = SVC().fit(x[label < 2], label[label < 2])
    assert (vote(two.decision_function(x[label < 2])[:, None], 2) == two.predict(x[label < 2])).all()


def test_a_station_answers_only_what_it_was_taught():
    x, label = blobs(classes=2)
    fit = fit_head(x, np.array([1, 3])[label], IDENTITY, Search(gamma=(1.0,), C=(1.0,)))
    assert fit.head.classes == ("B", "D")
    assert np.mean(fit.head.answer(x)[0] == label) > 0.9


def test_many_labels_are_thinned_in_proportion(monkeypatch):
    monkeypatch.setattr(heads, "MOST", 100)
    x, _ = blobs(400)
    label = np.repeat([0, 1, 2, 3], [200, 100, 60, 40])
    fit = fit_head(x, label, IDENTITY, Search(gamma=(1.0,), C=(1.0,)))
    assert fit.labels == 100


def test_a_c_that_does_not_converge_is_left_out():
    """Labels by chance in two dimensions: no plane separates them, and C = inf would not end."""
    rng = np.random.default_rng(0)
    x, label = rng.standard_normal((120, 2)).astype(np.float32), rng.integers(0, 2, 120)
    fit = fit_head(x, label, IDENTITY, Search(kernel="linear", C=(0.01, 1e8, np.inf)))
    assert fit.C == 0.01
    with pytest.raises(InputError, match="no C of the search converges"):
        fit_head(x, label, IDENTITY, Search(kernel="linear", C=(np.inf,)))


@pytest.mark.parametrize(
    ("label", "message"),
    [([0] * 8, "a head needs two classes"), ([0] * 7 + [1], "class B has 1 label")],
)
def test_too_few_labels_are_named(label, message):
    with pytest.raises(InputError, match=message):
        fit_head(np.random.default_rng(0).random((8, 4), np.float32), np.array(label), IDENTITY)


def test_impossible_searches_are_refused():
    with pytest.raises(ConfigError, match=r"search\.C"):
        Search(C=(0.0,))
    with pytest.raises(ConfigError, match=r"search\.folds is 1"):
        Search(folds=1)


def test_the_penalty_of_the_calibration_is_chosen_on_held_out_labels():
    """Decisions that say nothing need the strongest penalty; as many as there are weights fit any label."""
    rng = np.random.default_rng(0)
    decisions, labels = rng.standard_normal((60, 40)), np.arange(60) % 3
    search = Search(penalties=(1e-3, 1e3))
    assert best_penalty(decisions, labels, search) == 1e3
    assert best_penalty(np.eye(3)[labels], labels, search) == 1e-3
    assert best_penalty(decisions, labels, Search()) == 1.0
