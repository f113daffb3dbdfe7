"""Partitions: the paper's ways of dividing a set among clients, and label budgets.

With Dirichlet(alpha) each class is divided separately: fractions x ~ Dir(alpha, ..., alpha) over the clients,
small alpha for very uneven ones. With clusters the fractions are drawn over clusters, and a cluster's
members share its part evenly: 16 clients in five clusters of 3, 3, 3, 3 and 4 in the paper.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streaming.errors import ConfigError

Rows = NDArray[np.int64]
PAPER_CLUSTERS = (3, 3, 3, 3, 4)


def dirichlet(labels: Rows, clients: int, alpha: float, seed: int, most: int | None = None) -> list[Rows]:
    """Rows for each client, each class divided by its own draw from Dirichlet(alpha).

    With ``most`` a client keeps at most so many rows, chosen at random.
    """
    return clustered(labels, (1,) * clients, alpha, seed, most)


def clustered(
    labels: Rows, sizes: Sequence[int], alpha: float, seed: int, most: int | None = None
) -> list[Rows]:
    """Rows for each client of clusters of these sizes; members of a cluster have like shares of classes."""
    if not sizes or min(sizes) < 1 or not alpha > 0:
        raise ConfigError(f"alpha is {alpha} and the clusters {tuple(sizes)}; all must be above 0")
    rng = np.random.default_rng(seed)
    member = np.repeat(np.arange(len(sizes)), sizes)  # cluster of each client
    parts: list[list[Rows]] = [[] for _ in member]
    for c in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == c))
        share = rng.dirichlet(np.full(len(sizes), alpha))[member] / np.array(sizes)[member]
        edges = np.rint(np.cumsum(share)[:-1] * len(rows)).astype(np.int64)
        for part, piece in zip(parts, np.split(rows, edges), strict=True):
            part.append(piece)
    mixed = [rng.permutation(np.concatenate(part)) for part in parts]
    return [rows[:most] for rows in mixed]


def split(rows: Rows, labelled: int, test: int, seed: int) -> tuple[Rows, Rows, Rows]:
    """Rows without labels, with labels and for testing, drawn at random; the rest is unlabelled."""
    if labelled + test > len(rows):
        raise ConfigError(f"{labelled} labelled and {test} test frames were asked of {len(rows)}")
    mixed = np.random.default_rng(seed).permutation(rows)
    return mixed[labelled + test :], mixed[:labelled], mixed[labelled : labelled + test]


def label_budget(labels: Rows, budget: int, seed: int) -> Rows:
    """Rows of a random subset of this size, in the classes' proportions; at least two of each class."""
    counts = np.bincount(labels)
    present = np.flatnonzero(counts)
    if budget > len(labels) or budget < 2 * len(present):
        raise ConfigError(f"the label budget is {budget}; it must be {2 * len(present)} to {len(labels)}")
    share = counts[present] * budget / len(labels)
    take = np.maximum(np.floor(share).astype(np.int64), np.minimum(2, counts[present]))
    while take.sum() != budget:
        step = 1 if take.sum() < budget else -1
        possible = take < counts[present] if step > 0 else take > 2
        take[int(np.where(possible, (share - take) * step, -np.inf).argmax())] += step
    rng = np.random.default_rng(seed)
    chosen = zip(present, take, strict=True)
    rows = [rng.choice(np.flatnonzero(labels == c), count, replace=False) for c, count in chosen]
    return rng.permutation(np.concatenate(rows))
