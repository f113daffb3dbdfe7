"""Fitting heads: a support vector machine, its calibration and its threshold, from labels alone.

The grid is the paper's: C in 1e-4 .. 1e4 by decades and infinity, an RBF kernel with scikit-learn's gamma
"scale" (and multiples of it), five folds; above 10,000 labels a stratified 10,000 of them. It is fast because
inner products are computed once for all folds and all C, and because a C that bounds no coefficient gives the
solution of every larger C. A C that does not converge is left out, with every larger one.

Probabilities come from a multinomial logistic map of all decisions, fitted on decisions of held-out folds,
as the head will meet them. On client 1's labels and an untrained encoder its held-out log-loss was
0.642, that of Platt's scaling of the pairs 0.649, that of one temperature 0.676. Its argmax is the answer,
and its largest value is compared with the threshold.

>>> labels = np.arange(40) % 2
>>> embeddings = np.random.default_rng(1).normal(3 * labels[:, None], 1, (40, 5)).astype(np.float32)
>>> fitted = fit_head(embeddings, labels, Identity("mine", ("OOK", "2FSK"), "live", 1024, 256, ""))
>>> fitted.head.classes, fitted.validation > 0.9
(('OOK', '2FSK'), True)
"""

import logging
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import SVC

from streaming.errors import ConfigError, InputError
from streaming.features import COUNT
from streaming.head import STEPS, Head, Kernel, Mode
from training.progress import Progress

log = logging.getLogger(__name__)
Real = NDArray[np.float64]
Labels = NDArray[np.int64]
PAPER_C = (*(10.0**i for i in range(-4, 5)), np.inf)
LIBSVM_INF = 1e12  # libsvm has no infinity; no coefficient comes near this
MOST = 10_000
SURE = 0.75  # an answer this probable is reported even where all labels of a few recordings were clearer
ENCODED = 0.3  # weight of an encoder output where a feature has 1; chosen on validation signals
PATIENCE = 300  # steps per label; an SVM that cannot separate its classes does not end at a large C


@dataclass(frozen=True)
class Identity:
    """What a head is for: it is fitted on embeddings made with these settings."""

    name: str
    classes: tuple[str, ...]
    mode: Mode
    window: int
    hop: int
    encoder_sha256: str


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


@dataclass(frozen=True)
class Fit:
    """A fitted head, and what its cross-validation said."""

    head: Head
    C: float
    gamma_scale: float
    validation: float  # accuracy on held-out folds
    log_loss: float  # of the calibrated probabilities there
    labels: int


def fit_head(
    embeddings: NDArray[np.float32],
    labels: Labels,
    identity: Identity,
    search: Search | None = None,
    weights: Real | None = None,
    units: tuple[Real, Real] | None = None,
) -> Fit:
    """The best head of the search, fitted on these labels (n,) of embeddings (n, D).

    Classes without a label are left out of the head: a station answers only what it was taught. ``weights``
    (D,) weigh the standardised entries of an embedding; ``units`` are the mean and scale (D,) of another head
    to standardise by instead.
    """
    search = search or Search()
    embeddings, labels, classes = checked(embeddings, labels, identity, search)
    mean, scale = units or own_units(embeddings, weights)
    x = np.clip(np.rint((embeddings - mean) / scale * STEPS) / STEPS, -60, 60)  # (n, D), exact in float16
    products = x @ x.T  # (n, n)
    unit = 1 / (x.shape[1] * x.var()) if search.kernel == "rbf" else 1.0

    best: tuple[float, float, float, Real] | None = None
    multiples = search.gamma if search.kernel == "rbf" else (1.0,)
    with Progress(f"fitting head {identity.name}", len(multiples) * search.folds * len(search.C)) as progress:
        for g, multiple in enumerate(multiples):
            gram = kernel_matrix(products, search.kernel, unit * multiple)
            decisions = held_out(gram, labels, search, progress, g)  # (C, n, pairs)
            for C, decided in zip(sorted(search.C), decisions, strict=False):
                right = float(np.mean(vote(decided, len(classes)) == labels))
                # On a tie the smaller C and gamma, which were tried first, have the smoother boundary.
                if best is None or right > best[0]:
                    best = right, C, multiple, decided
    if best is None:
        raise InputError(f"head {identity.name}: no C of the search converges; try smaller ones")
    right, C, multiple, decided = best
    machine = fit_machine(kernel_matrix(products, search.kernel, unit * multiple), labels, C, 10 * PATIENCE)
    calibration, bias = calibrate(decided, labels, len(classes), best_penalty(decided, labels, search))
    probabilities = softmax(decided @ calibration + bias)
    order = machine.support_  # libsvm orders them by class
    head = Head(
        name=identity.name,
        classes=classes,
        mode=identity.mode,
        window=identity.window,
        hop=identity.hop,
        encoder_sha256=identity.encoder_sha256,
        kernel=search.kernel,
        gamma=float(unit * multiple),
        threshold=min(SURE, float(np.quantile(probabilities.max(1), search.refuse)))
        if search.refuse
        else 0.0,
        mean=mean,
        scale=scale,
        vectors=x[order].astype(np.float16),
        counts=machine.n_support_.astype(np.int64),
        dual=np.ascontiguousarray(machine.dual_coef_, np.float64),
        intercept=np.ascontiguousarray(machine.intercept_, np.float64),
        calibration=calibration,
        calibration_bias=bias,
    )
    chosen = probabilities[np.arange(len(labels)), labels]
    fit = Fit(
        head,
        C,
        multiple,
        right,
        float(-np.log(np.maximum(chosen, 1e-300)).mean()),
        len(labels),
    )
    log.info("head %s: C %g, gamma %g, held-out accuracy %.4f", identity.name, C, head.gamma, fit.validation)
    return fit


def own_units(embeddings: NDArray[np.float32], weights: Real | None) -> tuple[Real, Real]:
    """Mean and scale (D,) that standardise these embeddings."""
    mean = embeddings.mean(0, dtype=np.float64)
    scale = embeddings.std(0, dtype=np.float64)
    scale = np.where(scale > 1e-9 * np.abs(mean) + 1e-30, scale, 1.0)
    return mean, scale / (1.0 if weights is None else weights)


def feature_weights(width: int) -> Real:
    """The weight of each entry of an embedding: the encoder's outputs, then the features."""
    return np.repeat([ENCODED, 1.0], [width - COUNT, COUNT])


def checked(
    embeddings: NDArray[np.float32], labels: Labels, identity: Identity, search: Search
) -> tuple[NDArray[np.float32], Labels, tuple[str, ...]]:
    """Embeddings, labels renumbered to the classes that occur, and those classes."""
    if embeddings.ndim != 2 or len(embeddings) != len(labels):
        raise InputError(
            f"embeddings have shape {embeddings.shape}; expected {len(labels)} rows, one per label"
        )
    if not np.isfinite(embeddings).all():
        raise InputError("embeddings contain NaN or infinity")
    present, renumbered = np.unique(labels, return_inverse=True)
    classes = tuple(identity.classes[i] for i in present)
    counts = np.bincount(renumbered)
    if len(classes) < 2:
        raise InputError(f"the labels are all {', '.join(classes) or 'missing'}; a head needs two classes")
    if counts.min() < 2:
        raise InputError(f"class {classes[int(counts.argmin())]} has 1 label; at least 2 are needed")
    renumbered = renumbered.astype(np.int64)
    if len(labels) > MOST:
        keep, _ = train_test_split(
            np.arange(len(labels)), train_size=MOST, stratify=renumbered, random_state=search.seed
        )
        log.info("head %s: a stratified %d of %d labels", identity.name, MOST, len(labels))
        embeddings, renumbered = embeddings[keep], renumbered[keep]
    return embeddings, renumbered, classes


def kernel_matrix(products: Real, kernel: Kernel, gamma: float) -> Real:
    """The kernel between all embeddings, from their inner products (n, n)."""
    if kernel == "linear":
        return products
    energy = np.diagonal(products)
    distances = energy[:, None] + energy - 2 * products
    np.maximum(distances, 0, out=distances)
    distances *= -gamma
    return np.asarray(np.exp(distances, out=distances))


def fit_machine(gram: Real, labels: Labels, C: float, patience: int = PATIENCE) -> SVC:
    """A support vector machine on a kernel matrix (n, n); `fit_status_` is 1 where it did not converge."""
    steps = patience * len(labels)
    machine = SVC(C=min(C, LIBSVM_INF), kernel="precomputed", cache_size=500, max_iter=steps)
    machine.set_params(decision_function_shape="ovo")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.fit(gram, labels)


def held_out(gram: Real, labels: Labels, search: Search, progress: Progress, group: int) -> list[Real]:
    """Decisions (n, pairs) on held-out folds, for each C from small to large that converges."""
    folds = min(search.folds, int(np.bincount(labels).min()))
    pairs = len(np.unique(labels)) * (len(np.unique(labels)) - 1) // 2
    out = [np.empty((len(labels), pairs)) for _ in search.C]  # cut where a fold does not converge
    splitter = StratifiedKFold(folds, shuffle=True, random_state=search.seed)
    for fold, (train, test) in enumerate(splitter.split(labels, labels)):
        inner, outer = gram[np.ix_(train, train)], gram[np.ix_(test, train)]
        decided: Real | None = None
        for i, C in enumerate(sorted(search.C)[: len(out)]):
            if decided is None:
                machine = fit_machine(inner, labels[train], C)
                if machine.fit_status_:
                    del out[i:]
                    break
                values = machine.decision_function(outer).reshape(len(test), pairs)
                out[i][test] = values
                if np.abs(machine.dual_coef_).max() < min(C, LIBSVM_INF) * (1 - 1e-9):
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


def calibrate(decisions: Real, labels: Labels, classes: int, penalty: float = 1.0) -> tuple[Real, Real]:
    """Weights (pairs, classes) and bias (classes,) of the logistic map; convex, with a small L2 penalty."""
    n, pairs = decisions.shape
    truth = np.eye(classes)[labels]

    def loss(flat: Real) -> tuple[float, Real]:
        weights = flat.reshape(pairs + 1, classes)
        logits = decisions @ weights[:-1] + weights[-1]
        logits -= logits.max(1, keepdims=True)
        total = np.log(np.exp(logits).sum(1))
        error = (np.exp(logits - total[:, None]) - truth) / n
        gradient = np.concatenate([decisions.T @ error, error.sum(0, keepdims=True)])
        gradient[:-1] += penalty / n * weights[:-1]
        value = (total - (logits * truth).sum(1)).mean() + penalty / (2 * n) * np.square(weights[:-1]).sum()
        return float(value), gradient.ravel()

    start = np.zeros((pairs + 1, classes))
    best = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    weights = best.x.reshape(pairs + 1, classes)
    return np.ascontiguousarray(weights[:-1]), weights[-1].copy()


def best_penalty(decisions: Real, labels: Labels, search: Search) -> float:
    """The penalty whose calibration gives the least log-loss on held-out folds."""
    if len(search.penalties) == 1:
        return search.penalties[0]
    classes, folds = int(labels.max()) + 1, min(search.folds, int(np.bincount(labels).min()))
    losses = np.zeros(len(search.penalties))
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=search.seed).split(labels, labels):
        for i, penalty in enumerate(search.penalties):
            weights, bias = calibrate(decisions[train], labels[train], classes, penalty)
            found = softmax(decisions[test] @ weights + bias)[np.arange(len(test)), labels[test]]
            losses[i] -= np.log(np.maximum(found, 1e-300)).sum()
    return search.penalties[int(losses.argmin())]


def softmax(logits: Real) -> Real:
    """Rows that sum to 1."""
    grown = np.exp(logits - logits.max(1, keepdims=True))
    return np.asarray(grown / grown.sum(1, keepdims=True))
