"""How likely each modulation makes a synthetic frame: the answers that no classifier can beat.

Given gain A, phase, carrier offset and SNR the samples of a frame are independent: with y derotated by phase
and carrier offset,

    log p(r) = sum_n log [ 1/M sum_s exp(-|y[n] - A s|^2 / v) / (pi v) ],      v = A^2 E|s|^2 / SNR

The parameters are integrated out over the distributions that `training.datasets.synthetic` draws them from
(`quadrature`). For frames that were divided by their RMS the gain is gone: what is left of a frame is the
same for every gain, and the integral over the gain is with Haar's measure, dA / A.

A first pass at the cells' centres and the gain that the frame's power suggests goes from low SNR to high: a
carrier that a lower SNR rules out is ruled out more clearly by a higher one, which is what makes wide ranges
of carrier offsets affordable. Cells that matter are refined, in the carrier and in the gain one after the
other: their estimates are uncorrelated.

>>> from training.datasets.synthetic import make_frames
>>> frames = make_frames(Signal(snr_db=(10.0, 10.0)), (9, 9, 9, 9), seed=1)
>>> bool((posteriors(Signal(snr_db=(10.0, 10.0)), (1, 1, 1, 1), frames.iq).argmax(1) == frames.label).all())
True
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from streaming.block import Samples
from training.datasets.augment import Level
from training.datasets.synthetic import Signal, SyntheticFrames, constellation
from training.evaluation.quadrature import Grid, Real, quadrature

Points = NDArray[np.complex128]
Index = NDArray[np.int64]
KEEP = 9.0  # nats below a frame's best cell at which a cell no longer matters
REFINE = 6.0  # nats below it up to which a cell is refined; the others are as their centres say
CHUNK = 40_000  # samples worked on at once: small enough for the cache
FRAMES = 32  # searched at once
GROUP = 10  # samples whose sums are multiplied before the logarithm: 8^10 is far from float32's end


def posteriors(signal: Signal, priors: Sequence[float], iq: Samples, level: Level = "raw") -> Real:
    """Class probabilities (n, classes) of frames with unknown parameters."""
    return normalised(marginal_scores(signal, iq, level) + log_priors(priors))


def known_posteriors(signal: Signal, priors: Sequence[float], frames: SyntheticFrames) -> Real:
    """Class probabilities (n, classes) where gain, phase, offset and SNR are given away."""
    return normalised(known_scores(signal, frames) + log_priors(priors))


def normalised(scores: Real) -> Real:
    """Logarithms up to a constant of each row as probabilities."""
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
    out = np.empty((len(y), len(points)))
    for part in chunks(len(y), signal.samples):
        for c, p in enumerate(points):
            out[part, c] = log_likelihood(y[part], p, gain[part], snr[part])
    return out


def marginal_scores(signal: Signal, iq: Samples, level: Level = "raw") -> Real:
    """log p(frame | class), (n, classes), the parameters integrated out."""
    bands = quadrature(signal)
    parts = [score(signal, bands, iq[i : i + FRAMES], level) for i in range(0, len(iq), FRAMES)]
    return np.concatenate(parts) if parts else np.empty((0, len(signal.classes)))


def score(signal: Signal, bands: list[list[Grid]], iq: Samples, level: Level) -> Real:
    """The marginal scores of a few frames."""
    out = np.empty((len(iq), len(signal.classes)))
    for c, name in enumerate(signal.classes):
        modulation = Modulation(signal, constellation(name, signal.unit_power), level)
        found = [pair for grids in bands for pair in modulation.search(grids, iq)]
        best = np.max([mass.max(1) for _, mass in found], 0)  # (n,)
        refined, kept = np.zeros(len(iq)), np.zeros(len(iq))
        for grid, mass in found:
            frame, cell = np.nonzero(mass > best[:, None] - REFINE)
            value = modulation.refine(grid, iq[frame], cell, mass[frame, cell])
            np.add.at(refined, frame, np.exp(value - best[frame]))
            np.add.at(kept, frame, np.exp(mass[frame, cell] - best[frame]))
        every = np.sum([np.exp(mass - best[:, None]).sum(1) for _, mass in found], 0)
        out[:, c] = best + np.log(refined) + np.log(every / kept)
    return out


@dataclass(frozen=True)
class Modulation:
    """One constellation that a frame may have, and whether the frame kept its level."""

    signal: Signal
    points: Points
    level: Level

    def search(self, grids: list[Grid], iq: Samples) -> list[tuple[Grid, Real]]:
        """Each grid's cells' log mass by their centres, (n, K); -inf where a lower SNR ruled one out."""
        found = []
        best = np.full(len(iq), -np.inf)
        alive, below = np.ones((len(iq), len(grids[0].cfo)), bool), grids[0]  # (n, C) offsets
        for grid in grids:
            phases = len(grid.centre) // len(grid.cfo)
            frame, cell = np.nonzero(np.tile(alive[:, below.nearest(grid.cfo)], phases))
            mass = np.full((len(iq), len(grid.centre)), -np.inf)
            gain = self.first_gain(grid, iq)
            for part in chunks(len(frame), iq.shape[1]):
                rows = frame[part]
                y = iq[rows] * grid.centre[cell[part]]
                mass[rows, cell[part]] = log_likelihood(y, self.points, gain[rows], grid.snr)
            mass += grid.log_weight + np.log(len(grid.sub))
            best = np.maximum(best, mass.max(1))
            alive = mass.reshape(len(iq), phases, -1).max(1) > best[:, None] - KEEP
            alive[:, 1:] |= alive[:, :-1].copy()  # the next grid's cells lie across these' borders
            alive[:, :-1] |= alive[:, 1:].copy()
            below = grid
            found.append((grid, mass))
        return found

    def refine(self, grid: Grid, iq: Samples, cell: Index, mass: Real) -> Real:
        """log of the integral over a cell of carriers and all gains, for frames (pairs, N) and cells."""
        out = np.empty(len(iq))
        for part in chunks(len(iq), iq.shape[1] * max(len(grid.sub), len(grid.log_gain) + 1)):
            y = iq[part] * grid.centre[cell[part]]
            first = self.first_gain(grid, iq[part])
            fine = (y[:, None] * grid.sub).reshape(-1, iq.shape[1])  # (pairs * S, N)
            carriers = log_likelihood(fine, self.points, np.repeat(first, len(grid.sub)), grid.snr)
            gain, weight = self.gains(grid, iq[part])
            pair, node = np.nonzero(weight > 0)  # gains beyond the cut cost nothing
            value = np.full(gain.shape, -np.inf)
            value[pair, node] = log_likelihood(y[pair], self.points, gain[pair, node], grid.snr)
            value[pair, node] += np.log(weight[pair, node])
            out[part] = logsumexp(carriers.reshape(len(y), -1), axis=1) + logsumexp(value, axis=1)
        return np.asarray(out - mass + 2 * grid.log_weight + np.log(len(grid.sub)))

    def suggested_gain(self, grid: Grid, iq: Samples) -> Real:
        """The gain at which a frame of this SNR has its power: E|r|^2 = A^2 E|s|^2 (1 + 1/SNR)."""
        power = (np.abs(iq) ** 2).mean(1, dtype=np.float64)
        return np.asarray(np.sqrt(power / (np.mean(np.abs(self.points) ** 2) * (1 + 1 / grid.snr))))

    def first_gain(self, grid: Grid, iq: Samples) -> Real:
        """The likeliest gain that there is, (n,)."""
        gain = self.suggested_gain(grid, iq)
        return gain if self.level == "rms" else np.minimum(gain, self.signal.gain_max)

    def gains(self, grid: Grid, iq: Samples) -> tuple[Real, Real]:
        """Nodes of the gain and their prior weights, (n, J) each."""
        gain = self.suggested_gain(grid, iq)[:, None] * np.exp(grid.log_gain)
        step = grid.log_gain[1] - grid.log_gain[0]
        if self.level == "rms":
            return gain, np.full(gain.shape, step)
        scale, most = self.signal.rayleigh, self.signal.gain_max
        if scale:
            density = gain / scale**2 * np.exp(-(gain**2) / (2 * scale**2))  # Rayleigh's, below the cut
            weight = np.where(gain < most, density * gain * step, 0.0)
            at_cut = float(np.exp(-(most**2) / (2 * scale**2)))
        else:
            weight, at_cut = np.zeros(gain.shape), 1.0
        if np.isfinite(most):
            gain = np.column_stack([gain, np.full(len(iq), most)])
            weight = np.column_stack([weight, np.full(len(iq), at_cut)])
        return gain, weight


def chunks(rows: int, samples: int) -> Iterator[slice]:
    """Slices of rows of so many samples each that fit into the cache."""
    step = max(1, CHUNK // samples)
    return (slice(i, i + step) for i in range(0, rows, step))


def log_likelihood(y: Samples, points: Points, gain: Real, snr: Real | float) -> Real:
    """log p of frames (n, N) derotated to phase 0, each with its gain and SNR; (n,).

    With every point s its mirror image -s is a point too: the pair makes exp(x) (1 + exp(-2 x)). I and Q of
    QAM are independent, and each is a mixture over its levels alone.
    """
    kappa = np.broadcast_to(snr / np.mean(np.abs(points) ** 2), gain.shape)  # A^2 / v
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
    sums = np.multiply.reduceat(mirror.sum(0), np.arange(0, x.shape[2], GROUP), axis=1)
    energy = (np.abs(y) ** 2).sum(1, dtype=np.float64)
    constant = y.shape[1] * np.log(np.pi * variance * len(points))
    total = top.sum(1, dtype=np.float64) + np.log(sums).sum(1, dtype=np.float64)
    return np.asarray(total - constant - energy / variance)
