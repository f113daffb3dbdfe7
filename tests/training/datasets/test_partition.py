"""Partitions give every row to at most one client, in the proportions that were asked for."""

from itertools import pairwise

import numpy as np
import pytest

from streaming.errors import ConfigError
from training.datasets.partition import PAPER_CLUSTERS, clustered, dirichlet, label_budget, split

LABELS = np.repeat(np.arange(11), 1000)


def test_dirichlet_divides_every_row_once():
    parts = dirichlet(LABELS, 4, 0.1, seed=2)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(len(LABELS)))
    again = dirichlet(LABELS, 4, 0.1, seed=2)
    assert all(np.array_equal(a, b) for a, b in zip(parts, again, strict=True))


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0, 10.0])
def test_fractions_have_the_dirichlets_variance(alpha):
    """Var x = (1/K)(1 - 1/K) / (K alpha + 1) for K equal concentrations."""
    labels = np.repeat(np.arange(400), 50)
    parts = dirichlet(labels, 4, alpha, seed=3)
    fractions = np.stack([np.bincount(labels[part], minlength=400) / 50 for part in parts])
    assert fractions.mean() == pytest.approx(0.25)
    assert fractions.var() == pytest.approx(0.25 * 0.75 / (4 * alpha + 1), rel=0.2)


def test_members_of_a_cluster_have_like_classes():
    parts = clustered(LABELS, PAPER_CLUSTERS, 0.05, seed=4)
    assert len(parts) == 16
    shares = np.stack([np.bincount(LABELS[part], minlength=11) / 1000 for part in parts])
    edges = np.cumsum((0, *PAPER_CLUSTERS))
    for first, last in pairwise(edges):
        assert np.ptp(shares[first:last], axis=0).max() <= 0.002
    assert np.ptp(shares, axis=0).max() > 0.2
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(len(LABELS)))


def test_a_client_keeps_at_most_so_many():
    assert max(map(len, clustered(LABELS, PAPER_CLUSTERS, 0.05, seed=4, most=100))) == 100


def test_split_is_disjoint():
    unlabelled, labelled, test = split(np.arange(100, 200), 30, 20, seed=0)
    assert (len(unlabelled), len(labelled), len(test)) == (50, 30, 20)
    assert sorted([*unlabelled, *labelled, *test]) == list(range(100, 200))
    with pytest.raises(ConfigError, match="asked of 10"):
        split(np.arange(10), 8, 3, seed=0)


def test_a_label_budget_keeps_the_proportions():
    labels = np.repeat([0, 1, 2, 3], [1200, 1200, 200, 200])
    rows = label_budget(labels, 140, seed=1)
    assert np.bincount(labels[rows]).tolist() == [60, 60, 10, 10]
    assert len(np.unique(rows)) == 140
    few = label_budget(np.repeat([0, 1], [990, 10]), 20, seed=1)
    assert len(few) == 20
    assert np.bincount(np.repeat([0, 1], [990, 10])[few]).tolist() == [18, 2]
    with pytest.raises(ConfigError, match="label budget is 3"):
        label_budget(labels, 3, seed=1)


def test_impossible_partitions_are_refused():
    with pytest.raises(ConfigError, match="alpha is 0"):
        dirichlet(LABELS, 4, 0, seed=0)
