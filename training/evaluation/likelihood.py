"""The likelihood limit of the synthetic set: what no classifier can beat.

Given gain A, phase, carrier offset and SNR the samples of a frame are independent: with y derotated by phase
and carrier offset,

    log p(r) = sum_n log [ 1/M sum_s exp(-|y[n] - A s|^2 / v) / (pi v) ],      v = A^2 E|s|^2 / SNR

The parameters are integrated out over the distributions that `training.datasets.synthetic` draws them
from, and the best answer is the class with the largest prior times likelihood. The steps of the quadrature
are about one standard deviation of each parameter's estimate, for which the midpoint rule on a smooth peak is
nearly exact. A first pass, at the gain that the frame's power suggests, finds the cells of SNR, phase and
offset that matter; only those are refined.

>>> from training.datasets.synthetic import make_frames
>>> frames = make_frames(Signal(snr_db=(10.0, 10.0)), (9, 9, 9, 9), seed=1)
>>> limit(Signal(snr_db=(10.0, 10.0)), (1, 1, 1, 1), frames).share > 0.9
True
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from streaming.block import Samples
from training.datasets.synthetic import Signal, SyntheticFrames, constellation
from training.evaluation.accuracy import Accuracy

Real = NDArray[np.float64]
Points = NDArray[np.complex128]
KEEP = 9.0  # nats below a class's best cell at which a cell no longer matters
CHUNK = 40_000  # samples worked on at once: small enough for the cache
SUB = 3  # fine nodes along each side of a cell


@dataclass(frozen=True)
class Level:
    """One SNR and one band of carrier offsets, cut into K cells of S carriers each."""

    snr: float
    log_weight: float  # prior of one fine carrier at this SNR
    centre: NDArray[np.complex64]  # (K, N) conjugate carriers
    fine: NDArray[np.complex64]  # (K, S, N)
    log_gain: Real  # (J,) nodes about the gain that the power suggests


def limit(signal: Signal, priors: Sequence[float], frames: SyntheticFrames, known: bool = False) -> Accuracy:
    """The accuracy of the best answer on these frames.

    With ``known`` the gain, phase, offset and SNR of every frame are given away: an upper bound.
    """
    scores = known_scores(signal, frames) if known else marginal_scores(signal, frames.iq)
    return Accuracy.of((scores + log_priors(priors)).argmax(1) == frames.label)


def posteriors(signal: Signal, priors: Sequence[float], iq: Samples) -> Real:
    """Class probabilities (n, classes) of frames with unknown parameters."""
    scores = marginal_scores(signal, iq) + log_priors(priors)
    return np.asarray(np.exp(scores - logsumexp(scores, axis=1, keepdims=True)))


def log_priors(priors: Sequence[float]) -> Real:
    """Logarithms of priors, given up to a factor."""
    share = np.array(priors, float) / np.sum(priors)
    return np.asarray(np.log(np.maximum(share, 1e-300)))


def known_scores(signal: Signal, frames: SyntheticFrames) -> Real:
    """log p(frame | class, its true parameters), (n, classes)."""
    n = np.arange(signal.samples) / signal.samples
    angle = frames.phase[:, None] + 2 * np.pi * frames.cfo[:, None] * n
    y = (frames.iq * np.exp(-1j * angle)).astype(np.complex64)
    snr = 10 ** (frames.snr_db.astype(np.float64) / 10)
    gain = frames.gain.astype(np.float64)
    points = [constellation(name, signal.unit_power) for name in signal.classes]
    return np.stack([log_likelihood(y, p, gain, snr) for p in points], 1)


def marginal_scores(signal: Signal, iq: Samples) -> Real:
    """log p(frame | class), (n, classes), the parameters integrated out."""
    levels = list(quadrature(signal))
    frames = max(1, CHUNK // (signal.samples * max(len(level.centre) for level in levels)))
    return np.concatenate([score(signal, levels, iq[i : i + frames]) for i in range(0, len(iq), frames)])


def score(signal: Signal, levels: list[Level], iq: Samples) -> Real:
    """The marginal scores of a few frames."""
    out = np.empty((len(iq), len(signal.classes)))
    for c, name in enumerate(signal.classes):
        points = constellation(name, signal.unit_power)
        coarse = [first_pass(level, points, iq) for level in levels]  # (n, K) each
        best = np.max([block.max(1) for block in coarse], 0)  # (n,)
        frames, values = [], []
        for level, block in zip(levels, coarse, strict=True):
            frame, cell = np.nonzero(block > best[:, None] - KEEP)
            frames.append(frame)
            values.append(refine(signal, level, points, iq[frame], cell))
        out[:, c] = logsumexp_by(np.concatenate(frames), np.concatenate(values), len(iq))
    return out


def logsumexp_by(group: NDArray[np.int64], value: Real, groups: int) -> Real:
    """log of the summed exp of the values of each group."""
    top = np.full(groups, -np.inf)
    np.maximum.at(top, group, value)
    total = np.zeros(groups)
    np.add.at(total, group, np.exp(value - top[group]))
    return np.asarray(top + np.log(total))


def first_pass(level: Level, points: Points, iq: Samples) -> Real:
    """log p at each cell's centre and the suggested gain, (n, K)."""
    y = (iq[:, None] * level.centre).reshape(-1, iq.shape[1])  # (n * K, N)
    gain = np.repeat(suggested_gain(level, points, iq), len(level.centre))
    return log_likelihood(y, points, gain, np.full(len(y), level.snr)).reshape(len(iq), -1)


def refine(signal: Signal, level: Level, points: Points, iq: Samples, cell: NDArray[np.int64]) -> Real:
    """log of the integral over a cell of carriers and all gains, for pairs of frame and cell, (pairs,)."""
    gain = suggested_gain(level, points, iq)[:, None] * np.exp(level.log_gain)  # (pairs, J)
    weight = gain_weight(signal, level, gain)
    if np.isfinite(signal.gain_max):
        gain = np.column_stack([gain, np.full(len(iq), signal.gain_max)])
        weight = np.column_stack([weight, np.full(len(iq), cut_mass(signal))])
    out = np.empty(len(iq))
    step = max(1, CHUNK // (level.fine.shape[1] * gain.shape[1] * iq.shape[1]))
    for i in range(0, len(iq), step):
        part = slice(i, i + step)
        y = iq[part, None] * level.fine[cell[part]]  # (pairs, S, N)
        pair, node = np.nonzero(weight[part] > 0)  # gains beyond the cut cost nothing
        gains = np.repeat(gain[part][pair, node], y.shape[1])
        value = log_likelihood(y[pair].reshape(len(gains), -1), points, gains, np.full(len(gains), level.snr))
        value += np.repeat(np.log(weight[part][pair, node]), y.shape[1])
        grid = np.full((len(y), gain.shape[1], y.shape[1]), -np.inf)
        grid[pair, node] = value.reshape(len(pair), -1)
        out[part] = logsumexp(grid, axis=(1, 2))
    return out + level.log_weight


def log_likelihood(y: Samples, points: Points, gain: Real, snr: Real) -> Real:
    """log p of frames (n, N) derotated to phase 0, each with its gain and SNR; (n,).

    With every point s its mirror image -s is a point too: the pair makes exp(x) (1 + exp(-2 x)). I and Q of
    QAM are independent, and each is a mixture over its levels alone.
    """
    kappa = snr / np.mean(np.abs(points) ** 2)  # A^2 / v
    variance = gain**2 / kappa
    if len(points) == 16:
        half = np.unique(points.real[points.real > 0]).astype(np.complex128)
        parts = np.abs(y.view(np.float32))  # (n, 2 N)
        x = np.stack([parts * np.float32(s.real) for s in half])
    else:
        half = points[(points.imag > 1e-9) | ((abs(points.imag) < 1e-9) & (points.real > 0))]
        x = np.stack([np.abs(y.real * s.real + y.imag * s.imag) for s in half.astype(np.complex64)])
    x *= (2 * kappa / gain).astype(np.float32)[:, None]  # (half, n, N or 2 N)
    mirror = np.exp(-2 * x)
    mirror += 1
    x -= (kappa * (np.abs(half) ** 2)[:, None]).astype(np.float32)[..., None]
    top = x.max(0)
    x -= top
    mirror *= np.exp(x, out=x)
    sums = top + np.log(mirror.sum(0))
    energy = (np.abs(y) ** 2).sum(1, dtype=np.float64)
    constant = y.shape[1] * np.log(np.pi * variance * len(points))
    return np.asarray(sums.sum(1, dtype=np.float64) - constant - energy / variance)


def suggested_gain(level: Level, points: Points, iq: Samples) -> Real:
    """The gain at which a frame of this SNR has its power: E|r|^2 = A^2 E|s|^2 (1 + 1/SNR)."""
    power = (np.abs(iq) ** 2).mean(1, dtype=np.float64)
    return np.asarray(np.sqrt(power / (np.mean(np.abs(points) ** 2) * (1 + 1 / level.snr))))


def gain_weight(signal: Signal, level: Level, gain: Real) -> Real:
    """Rayleigh's density at the nodes below the cut, times their distance."""
    if not len(level.log_gain):
        return gain
    step = level.log_gain[1] - level.log_gain[0]
    density = gain / signal.rayleigh**2 * np.exp(-(gain**2) / (2 * signal.rayleigh**2))
    return np.where(gain < signal.gain_max, density * gain * step, 0.0)


def cut_mass(signal: Signal) -> float:
    """The probability that the gain is cut."""
    return float(np.exp(-(signal.gain_max**2) / (2 * signal.rayleigh**2))) if signal.rayleigh else 1.0


def quadrature(signal: Signal) -> Iterator[Level]:
    """Every SNR and band of carrier offsets, with steps that are fine enough for that SNR."""
    N = signal.samples
    index = np.arange(N) / N
    weights = np.array([band.weight for band in signal.cfo])
    for snr_db, snr_share in snr_nodes(*signal.snr_db, N):
        snr = 10 ** (snr_db / 10)
        phase, phase_sub = cells(*signal.phase, float(1.2 / np.sqrt(2 * N * snr)))
        log_gain = gain_nodes(snr, N) if signal.rayleigh else np.empty(0)
        for band, share in zip(signal.cfo, weights / weights.sum(), strict=True):
            cfo, cfo_sub = cells(band.low, band.high, float(np.sqrt(6 / (N * snr)) / (2 * np.pi)))
            angle = (phase[:, None, None] + 2 * np.pi * cfo[:, None] * index).reshape(-1, N)
            sub = (phase_sub[:, None, None] + 2 * np.pi * cfo_sub[:, None] * index).reshape(-1, N)
            if share > 0:
                weight = snr_share * share / (len(angle) * len(sub))
                centre, fine = np.exp(-1j * angle), np.exp(-1j * (angle[:, None] + sub))
                yield Level(
                    snr, np.log(weight), centre.astype(np.complex64), fine.astype(np.complex64), log_gain
                )


def gain_nodes(snr: float, samples: int) -> Real:
    """Nodes of log gain about the suggested one, which is off by the scatter of noise and symbols."""
    scatter = np.sqrt(((1 + 2 * snr) / (1 + snr) ** 2 + 0.32 * (snr / (1 + snr)) ** 2) / (4 * samples))
    step = min(scatter, 1.2 / np.sqrt(2 * samples * snr))
    side = np.ceil(3.5 * scatter / step)
    return np.asarray(step * np.arange(-side, side + 1))


def snr_nodes(low: float, high: float, samples: int) -> list[tuple[float, float]]:
    """SNRs in dB that fill a range, and the share of the range that each stands for."""
    if low == high:
        return [(low, 1.0)]
    edges = [low]
    while edges[-1] < high:
        snr = 10 ** (edges[-1] / 10)
        edges.append(edges[-1] + 10 / np.log(10) * np.sqrt((1 + 2 / snr) / samples))
    scaled = low + (np.array(edges) - low) * (high - low) / (edges[-1] - low)
    return [((a + b) / 2, (b - a) / (high - low)) for a, b in pairwise(scaled.tolist())]


def cells(low: float, high: float, step: float) -> tuple[Real, Real]:
    """Midpoints of cells that fill a range, and the offsets of the fine nodes within a cell."""
    fine = int(np.ceil((high - low) / step))
    if fine <= 1:
        return np.array([(low + high) / 2]), np.zeros(1)
    count = -(-fine // SUB)
    width = (high - low) / count
    sub = width * ((np.arange(SUB) + 0.5) / SUB - 0.5)
    return np.asarray(low + width * (np.arange(count) + 0.5), np.float64), sub
