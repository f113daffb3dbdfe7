"""Choice of a support vector machine: kernel, C and gamma by cross-validation.

The grid is that of the encoder's reference code, for the paper names none: C in 1e-4 .. 1e4 by decades and
infinity, an RBF kernel with scikit-learn's gamma "scale" (and multiples of it), five folds. It is fast
because inner products are computed once for all folds and all C, and because a C that bounds no coefficient
gives the solution of every larger C. A C that does not converge is left out, with every larger one.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streaming.errors import ConfigError, InputError
from streaming.head import Kernel
from training.heads.folds import stratified_folds
from training.heads.machine import INF, fit_machine
from training.progress import Progress

Real = NDArray[np.float64]
Labels = NDArray[np.int64]
PAPER_C = (*(10.0**i for i in range(-4, 5)), np.inf)
PATIENCE = 300  # steps per label; an SVM that cannot separate its classes does not end at a large C


@dataclass(frozen=True)
class Search:
    """What is tried, and how the best is chosen."""

    kernel: Kernel = "rbf"
    C: tuple[float, ...] = PAPER_C
    gamma: tuple[float, ...] = (0.5, 1.0, 2.0)  # multiples of scikit-learn's "scale"
    folds: int = 5
    refuse: float = 0.01  # share of held-out labels that the threshold makes unknown
    penalties: tuple[float, ...] = (1.0,)  # of the calibration; many classes have many weights to hold down
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.C or not self.gamma or min(self.C) <= 0 or min(self.gamma) <= 0:
            raise ConfigError("search.C and search.gamma must hold numbers above 0")
        if self.folds < 2 or not 0 <= self.refuse < 1:
            raise ConfigError(
                f"search.folds is {self.folds} (at least 2), search.refuse {self.refuse} (0 to 1)"
            )


class Chosen(NamedTuple):
    """The best of a search."""

    right: float  # share of right votes on held-out folds
    C: float
    multiple: float  # of gamma
    decisions: Real  # (n, pairs), on held-out folds


def choose(products: Real, unit: float, labels: Labels, search: Search, name: str) -> Chosen:
    """The best machine for inner products (n, n); on a tie the smaller C and gamma, which is smoother."""
    best: Chosen | None = None
    classes = len(np.unique(labels))
    multiples = search.gamma if search.kernel == "rbf" else (1.0,)
    with Progress(f"fitting head {name}", len(multiples) * search.folds * len(search.C)) as progress:
        for g, multiple in enumerate(multiples):
            gram = kernel_matrix(products, search.kernel, unit * multiple)
            for C, decided in zip(
                sorted(search.C), held_out(gram, labels, search, progress, g), strict=False
            ):
                right = float(np.mean(vote(decided, classes) == labels))
                if best is None or right > best.right:
                    best = Chosen(right, C, multiple, decided)
    if best is None:
        raise InputError(f"head {name}: no C of the search converges; try smaller ones")
    return best


def kernel_matrix(products: Real, kernel: Kernel, gamma: float) -> Real:
    """The kernel between all embeddings, from their inner products (n, n)."""
    if kernel == "linear":
        return products
    energy = np.diagonal(products)
    distances = energy[:, None] + energy - 2 * products
    np.maximum(distances, 0, out=distances)
    distances *= -gamma
    return np.asarray(np.exp(distances, out=distances))


def held_out(gram: Real, labels: Labels, search: Search, progress: Progress, group: int) -> list[Real]:
    """Decisions (n, pairs) on held-out folds, for each C from small to large that converges."""
    folds = min(search.folds, int(np.bincount(labels).min()))
    pairs = len(np.unique(labels)) * (len(np.unique(labels)) - 1) // 2
    out = [np.empty((len(labels), pairs)) for _ in search.C]  # cut where a fold does not converge
    for fold, (train, test) in enumerate(stratified_folds(labels, folds, search.seed)):
        inner, outer = gram[np.ix_(train, train)], gram[np.ix_(test, train)]
        decided: Real | None = None
        for i, C in enumerate(sorted(search.C)[: len(out)]):
            if decided is None:
                machine = fit_machine(inner, labels[train], C, PATIENCE * len(train))
                if not machine.converged:
                    del out[i:]
                    break
                values = machine.decide(outer)
                out[i][test] = values
                if np.abs(machine.dual).max() < min(C, INF) * (1 - 1e-9):
                    decided = values  # no coefficient is bounded: every larger C has this solution
            else:
                out[i][test] = decided
            progress.to(((group * search.folds) + fold) * len(search.C) + i + 1)
    return out


def vote(decisions: Real, classes: int) -> Labels:
    """The class that wins most pairs, as libsvm counts; on a tie the first."""
    if classes == 2:
        return (decisions[:, 0] > 0).astype(np.int64)
    votes = np.zeros((len(decisions), classes))
    column = 0
    for i in range(classes):
        for j in range(i + 1, classes):
            wins = decisions[:, column] > 0
            votes[:, i] += wins
            votes[:, j] += ~wins
            column += 1
    return np.asarray(votes.argmax(1), np.int64)
