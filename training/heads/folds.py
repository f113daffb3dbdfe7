"""Stratified folds for cross-validation, the same as scikit-learn's StratifiedKFold with a shuffle.

>>> [test.tolist() for _, test in stratified_folds(np.array([0, 0, 1, 1]), 2, seed=0)]
[[1, 2], [0, 3]]
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]


def stratified_folds(labels: Index, folds: int, seed: int) -> Iterator[tuple[Index, Index]]:
    """The rows to fit and the rows to test, for each fold; every class is spread evenly over the folds."""
    rng = np.random.RandomState(seed)  # the old generator: its draws are scikit-learn's
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))[inverse]  # classes numbered as they first occur
    inline = np.sort(order)
    shares = [np.bincount(inline[i::folds], minlength=len(first)) for i in range(folds)]
    fold = np.empty(len(labels), np.int64)
    for number in range(len(first)):
        mine = np.arange(folds).repeat([share[number] for share in shares])
        rng.shuffle(mine)
        fold[order == number] = mine
    for i in range(folds):
        yield np.flatnonzero(fold != i), np.flatnonzero(fold == i)
