"""Fitting heads: a support vector machine, its calibration and its threshold, from labels alone.

Above 10,000 labels a stratified 10,000 of them are used. The argmax of the calibrated probabilities is the
answer, and their largest value is compared with the threshold.

>>> labels = np.arange(40) % 2
>>> embeddings = np.random.default_rng(1).normal(3 * labels[:, None], 1, (40, 5)).astype(np.float32)
>>> fitted = fit_head(embeddings, labels, Identity("mine", ("OOK", "2FSK"), "live", 1024, 256, ""))
>>> fitted.head.classes, fitted.validation > 0.9
(('OOK', '2FSK'), True)
"""

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streaming.bundle import Bundle
from streaming.errors import InputError
from streaming.head import STEPS, Head, Mode
from training.heads.calibration import best_penalty, calibrate, softmax
from training.heads.machine import fit_machine
from training.heads.search import PATIENCE, Labels, Real, Search, choose, kernel_matrix

log = logging.getLogger(__name__)
MOST = 10_000
SURE = 0.75  # an answer this probable is reported even where all labels of a few recordings were clearer
LEVEL = 0.1  # weight of the level over the root of the number of other entries; docs/pretraining.md
ENCODED = 0.3  # weight of an encoder output where a feature has 1; chosen on validation signals


@dataclass(frozen=True)
class Identity:
    """What a head is for: it is fitted on embeddings made with these settings."""

    name: str
    classes: tuple[str, ...]
    mode: Mode
    window: int
    hop: int
    encoder_sha256: str
    level: bool = False  # the last entry of an embedding is the log of the frame's RMS


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
) -> Fit:
    """The best head of the search, fitted on these labels (n,) of embeddings (n, D).

    Classes without a label are left out of the head: a station answers only what it was taught. ``weights``
    (D,) weigh the standardised entries of an embedding. One level among hundreds of outputs would not count:
    it weighs as much as a fixed share of them.
    """
    search = search or Search()
    if identity.level:
        weights = np.ones(embeddings.shape[1]) if weights is None else weights
        weights = np.append(weights[:-1], max(1.0, LEVEL * np.sqrt(len(weights) - 1)))
    embeddings, labels, classes = checked(embeddings, labels, identity, search)
    mean = embeddings.mean(0, dtype=np.float64)
    scale = embeddings.std(0, dtype=np.float64)
    scale = np.where(scale > 1e-9 * np.abs(mean) + 1e-30, scale, 1.0) / (1.0 if weights is None else weights)
    x = np.clip(np.rint((embeddings - mean) / scale * STEPS) / STEPS, -60, 60)  # (n, D), exact in float16
    products = x @ x.T  # (n, n)
    unit = 1 / (x.shape[1] * x.var()) if search.kernel == "rbf" else 1.0
    right, C, multiple, decided = choose(products, unit, labels, search, identity.name)
    gram = kernel_matrix(products, search.kernel, unit * multiple)
    machine = fit_machine(gram, labels, C, 10 * PATIENCE * len(labels))
    calibration, bias = calibrate(decided, labels, len(classes), best_penalty(decided, labels, search))
    probabilities = softmax(decided @ calibration + bias)
    lowest = float(np.quantile(probabilities.max(1), search.refuse)) if search.refuse else 0.0
    head = Head(
        name=identity.name,
        classes=classes,
        mode=identity.mode,
        window=identity.window,
        hop=identity.hop,
        encoder_sha256=identity.encoder_sha256,
        kernel=search.kernel,
        gamma=float(unit * multiple),
        threshold=min(SURE, lowest),
        mean=mean,
        scale=scale,
        vectors=x[machine.support].astype(np.float16),  # libsvm orders them by class
        counts=machine.counts,
        dual=machine.dual,
        intercept=machine.intercept,
        calibration=calibration,
        calibration_bias=bias,
        level=identity.level,
    )
    log.info("head %s: C %g, gamma %g, held-out accuracy %.4f", identity.name, C, head.gamma, right)
    chosen = probabilities[np.arange(len(labels)), labels]
    log_loss = float(-np.log(np.maximum(chosen, 1e-300)).mean())
    return Fit(head, C, multiple, right, log_loss, len(labels))


def fit_live(
    bundle: Bundle,
    rows: NDArray[np.float32],
    labels: Labels,
    identity: Identity,
    search: Search | None = None,
) -> Fit:
    """The same for live embeddings (n, entries) of a model.

    Behind a projection the last entry, the odds of an outlier, is not fitted, and the projection's outputs
    weigh more than the encoder's.
    """
    if bundle.projection is None:
        return fit_head(rows, labels, identity, search)
    weights = np.repeat([ENCODED, 1.0], [bundle.encoder.shape.outputs, bundle.projection.outputs])
    return fit_head(rows[:, :-1], labels, identity, search, weights)


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
        from sklearn.model_selection import train_test_split

        keep, _ = train_test_split(
            np.arange(len(labels)), train_size=MOST, stratify=renumbered, random_state=search.seed
        )
        log.info("head %s: a stratified %d of %d labels", identity.name, MOST, len(labels))
        embeddings, renumbered = embeddings[keep], renumbered[keep]
    return embeddings, renumbered, classes
