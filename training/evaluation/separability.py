"""From a head's margins, the SNR above which its decisions hold: the paper's separability result.

A pair's plane (for RBF in the kernel's own feature space) has a unit normal w. If clean features lie within
the radius rho and at least mu from the plane, and the noise on a feature is Gaussian with covariance at most
(rho / SNR_enc) I, then Q clean examples all stay on their side with probability

    P >= [1 - Qf(mu / sqrt(rho / SNR_enc))]^Q

with Qf the Gaussian tail, hence P >= 1 - eps as soon as

    SNR_enc >= rho (Qf^-1(1 - (1 - eps)^(1/Q)) / mu)^2

SNR_enc is the SNR of the features. `feature_snr` measures it: rho over the largest variance that noise of a
given input SNR makes along any direction, in the space in which the plane lies: that of the embeddings for a
linear head, the kernel's for RBF, where everything is known from products of the noise alone. With it
`input_snr_db` finds an input SNR that is enough.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from streaming.bundle import Bundle
from streaming.errors import InputError
from streaming.head import Head
from training.datasets.synthetic import Signal, make_frames
from training.heads.embed import embed_frames

Real = NDArray[np.float64]
PER_CLASS = 40  # clean frames of each class
SNRS_DB = tuple(float(snr) for snr in range(-20, 61, 8))


@dataclass(frozen=True)
class Margin:
    """One pair of classes on clean examples."""

    pair: tuple[str, str]
    mu: float  # smallest distance from the plane on the right side; negative where it does not separate
    rho: float  # largest norm of a feature
    examples: int

    def snr(self, eps: float) -> float:
        """The SNR at the encoder's output above which all hold with probability 1 - eps; inf if none does."""
        if not 0 < eps < 1:
            raise InputError(f"eps is {eps}; it must lie between 0 and 1")
        if self.mu <= 0:
            return float("inf")
        # 1 - (1 - eps)^(1/Q) without cancellation
        tail = -np.expm1(np.log1p(-eps) / self.examples)
        return float(self.rho * (max(norm.isf(tail), 0.0) / self.mu) ** 2)

    def probability(self, snr: float) -> float:
        """The bound on the probability that all examples hold at this SNR at the encoder's output."""
        return float(norm.cdf(self.mu / np.sqrt(self.rho / snr)) ** self.examples)


def margins(head: Head, embeddings: NDArray[np.float32], labels: NDArray[np.int64]) -> list[Margin]:
    """The margin of each pair of the head's classes on clean embeddings (n, D)."""
    decisions = head.decide(embeddings)  # (n, pairs)
    lengths = plane_norms(head)  # (pairs,)
    z = (embeddings - head.mean) / head.scale
    # In the RBF kernel's space every feature has norm 1.
    norms = np.ones(len(z)) if head.kernel == "rbf" else np.linalg.norm(z, axis=1)
    sign = -1.0 if len(head.classes) == 2 else 1.0  # with two classes the second one is positive
    out = []
    for p, (i, j) in enumerate(combinations(range(len(head.classes)), 2)):
        mine = (labels == i) | (labels == j)
        if not mine.any():
            continue
        side = np.where(labels[mine] == i, sign, -sign)
        distance = side * decisions[mine, p] / lengths[p]
        pair = head.classes[i], head.classes[j]
        out.append(Margin(pair, float(distance.min()), float(norms[mine].max()), int(mine.sum())))
    return out


def plane_norms(head: Head) -> Real:
    """|w| of each pair's plane: sqrt(a' K a) over the pair's support vectors, (pairs,)."""
    _, _, coefficients = head._machine
    vectors = head.vectors.astype(np.float64)
    squares = ((kernel(head, vectors, vectors) @ coefficients) * coefficients).sum(0)
    return np.asarray(np.sqrt(np.maximum(squares, 1e-300)))


def feature_snr(clean: NDArray[np.float32], noisy: NDArray[np.float32], head: Head) -> float:
    """rho over the largest variance of the noise along any direction of the features of embeddings (n, D)."""
    z, w = ((x - head.mean) / head.scale for x in (clean, noisy))
    if head.kernel == "linear":
        largest = float(np.linalg.eigvalsh(np.cov((w - z).T))[-1])
        return float(np.linalg.norm(z, axis=1).max()) / max(largest, 1e-300)
    # d_i = feature(w_i) - feature(z_i): their covariance has the eigenvalues of their centred products.
    products = kernel(head, w, w) - kernel(head, w, z) - kernel(head, z, w) + kernel(head, z, z)
    products -= products.mean(0)
    products -= products.mean(1, keepdims=True)
    largest = float(np.linalg.eigvalsh((products + products.T) / 2)[-1]) / (len(z) - 1)
    return 1 / max(largest, 1e-300)  # in the kernel's space every feature has norm 1


def kernel(head: Head, a: Real, b: Real) -> Real:
    """Products of the features of standardised embeddings, (n, D) and (m, D) to (n, m)."""
    products = a @ b.T
    if head.kernel == "linear":
        return np.asarray(products)
    squares = np.square(a).sum(1)[:, None] + np.square(b).sum(1) - 2 * products
    return np.asarray(np.exp(-head.gamma * np.maximum(squares, 0)))


def input_snr_db(
    margin: Margin,
    eps: float,
    feature_snr_at: Callable[[float], float],
    low_db: float = -20.0,
    high_db: float = 60.0,
) -> float:
    """The input SNR in dB at which the encoder's output reaches `margin.snr(eps)`; inf if beyond `high_db`.

    ``feature_snr_at(snr_db)`` must rise with the SNR, as the paper assumes.
    """
    need = margin.snr(eps)
    if feature_snr_at(high_db) < need:
        return float("inf")
    while high_db - low_db > 0.1:
        middle = (low_db + high_db) / 2
        low_db, high_db = (low_db, middle) if feature_snr_at(middle) >= need else (middle, high_db)
    return high_db


@dataclass(frozen=True)
class Separation:
    """One pair of a head's classes."""

    head: str
    margin: Margin
    feature_snr_db: float  # that is enough; inf where clean features are not separated
    input_snr_db: float  # of the samples; inf where none up to the highest looked at is


def separations(bundle: Bundle, head: Head, signal: Signal, eps: float, seed: int = 0) -> list[Separation]:
    """Every pair of a head of frames, on clean frames of a synthetic signal and the same in noise."""
    still = replace(signal, snr_db=(300.0, 300.0), rayleigh=0.0)
    frames = make_frames(still, (PER_CLASS,) * len(signal.classes), seed)
    index = [signal.classes.index(name) for name in head.classes]
    frames = frames.take(np.flatnonzero(np.isin(frames.label, index)))
    labels = np.searchsorted(np.sort(index), frames.label)
    clean = embed_frames(bundle.encoder, frames.iq, level=head.level)
    rng = np.random.default_rng(seed)
    shape = (len(frames), 2 * signal.samples)
    noise = rng.standard_normal(shape, np.float32).view(np.complex64) / np.float32(np.sqrt(2))
    found = []
    for snr_db in SNRS_DB:  # the same draw at every SNR, so that they differ by the SNR alone
        noisy = frames.iq + noise * np.float32(10 ** (-snr_db / 20))
        found.append(feature_snr(clean, embed_frames(bundle.encoder, noisy, level=head.level), head))
    rising = np.maximum.accumulate(np.log(found))

    def at(snr_db: float) -> float:
        return float(np.exp(np.interp(snr_db, SNRS_DB, rising)))

    return [
        Separation(
            head.name,
            margin,
            10 * float(np.log10(margin.snr(eps))) if margin.mu > 0 else float("inf"),
            input_snr_db(margin, eps, at, SNRS_DB[0], SNRS_DB[-1]),
        )
        for margin in margins(head, clean, labels)
    ]
