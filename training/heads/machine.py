"""Support vector machines of every pair of classes, on a kernel matrix.

scikit-learn fits them where it is installed; elsewhere, as on a receiver that is taught, the native kernel
does (streaming/native/machine.cpp). Both minimise the same function to the same tolerance.
"""

import warnings
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from streaming.native_library import library

Real = NDArray[np.float64]
Labels = NDArray[np.int64]
INF = 1e12  # libsvm has no infinity; no coefficient comes near this
TOLERANCE = 1e-3  # of the optimality conditions, libsvm's default


@dataclass(frozen=True, eq=False)
class Machine:
    """The machines of all pairs, laid out as libsvm does; its support vectors are in the order of classes."""

    support: NDArray[np.int64]  # (v,), which rows of the kernel matrix are support vectors
    counts: NDArray[np.int64]  # (k,), how many each class has
    dual: Real  # (k - 1, v)
    intercept: Real  # (pairs,)
    converged: bool

    def decide(self, kernel: Real) -> Real:
        """Kernel values (m, n) with what was fitted to decisions (m, pairs)."""
        values = kernel[:, self.support]
        if len(self.counts) == 2:
            return np.asarray(values @ self.dual.T + self.intercept)
        ends = np.concatenate([[0], np.cumsum(self.counts)])
        of = [slice(*span) for span in pairwise(ends)]
        columns = [
            values[:, of[i]] @ self.dual[j - 1, of[i]] + values[:, of[j]] @ self.dual[i, of[j]]
            for i, j in combinations(range(len(of)), 2)
        ]
        return np.stack(columns, 1) + self.intercept


def fit_machine(gram: Real, labels: Labels, C: float, steps: int) -> Machine:
    """The machines for labels 0 ... k-1 of the rows of a kernel matrix (n, n)."""
    try:
        return sklearn_machine(gram, labels, C, steps)
    except ModuleNotFoundError:
        return native_machine(gram, labels, C, steps)


def sklearn_machine(gram: Real, labels: Labels, C: float, steps: int) -> Machine:
    """By scikit-learn."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    machine = SVC(C=min(C, INF), kernel="precomputed", cache_size=500, max_iter=steps, tol=TOLERANCE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(gram, labels)
    return Machine(
        machine.support_.astype(np.int64),
        machine.n_support_.astype(np.int64),
        np.ascontiguousarray(machine.dual_coef_, np.float64),
        np.ascontiguousarray(machine.intercept_, np.float64),
        machine.fit_status_ == 0,
    )


def native_machine(gram: Real, labels: Labels, C: float, steps: int) -> Machine:
    """By the native kernel."""
    classes = int(labels.max()) + 1
    dual, intercept, converged = np.zeros((classes - 1, len(labels))), [], True
    for i, j in combinations(range(classes), 2):
        rows = np.flatnonzero((labels == i) | (labels == j))
        rows = rows[np.argsort(labels[rows], kind="stable")]
        sign = np.where(labels[rows] == i, 1.0, -1.0) * (-1 if classes == 2 else 1)  # as scikit-learn has it
        part, out = np.ascontiguousarray(gram[np.ix_(rows, rows)]), np.empty(len(rows) + 1)
        ended = library().wavetell_machine(
            part.ctypes.data, sign.ctypes.data, len(rows), min(C, INF), TOLERANCE, steps, out.ctypes.data
        )
        first = labels[rows] == i
        dual[j - 1, rows[first]], dual[i, rows[~first]] = out[:-1][first], out[:-1][~first]
        intercept.append(out[-1])
        converged &= bool(ended)
    used = np.flatnonzero(dual.any(0))
    support = used[np.argsort(labels[used], kind="stable")]
    counts = np.bincount(labels[support], minlength=classes)
    return Machine(support, counts, np.ascontiguousarray(dual[:, support]), np.array(intercept), converged)
