"""Nodes over which the parameters of a synthetic frame are integrated out.

The steps are about one standard deviation of each parameter's estimate, for which the midpoint rule on a
smooth peak is nearly exact. Carriers (phase and offset) come in cells of a few nodes: the cells' centres are
looked at first, and only those that matter are refined.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from training.datasets.synthetic import Band, Signal

Real = NDArray[np.float64]
SUB = 3  # fine nodes along each side of a cell


@dataclass(frozen=True)
class Grid:
    """One SNR and one band of carrier offsets, cut into K cells of S carriers each."""

    snr: float
    log_weight: float  # prior of one fine carrier at this SNR
    cfo: Real  # (C,) offsets of the cells' centres, cycles per frame
    centre: NDArray[np.complex64]  # (K, N) conjugate carriers, all offsets of the first phase first
    sub: NDArray[np.complex64]  # (S, N) what turns a centre into a cell's nodes
    log_gain: Real  # (J,) nodes about the gain that the power suggests

    def nearest(self, cfo: Real) -> NDArray[np.int64]:
        """Indices of the offsets that are nearest to these."""
        width = self.cfo[1] - self.cfo[0] if len(self.cfo) > 1 else 1.0
        index = np.rint((cfo - self.cfo[0]) / width).astype(np.int64)
        return np.asarray(np.clip(index, 0, len(self.cfo) - 1))


def quadrature(signal: Signal) -> list[list[Grid]]:
    """For each band of carrier offsets the SNRs from low to high, with steps fine enough for each."""
    total = sum(band.weight for band in signal.cfo)
    return [list(grids(signal, band, band.weight / total)) for band in signal.cfo if band.weight > 0]


def grids(signal: Signal, band: Band, share: float) -> Iterator[Grid]:
    """The SNRs of one band."""
    N = signal.samples
    index = 2 * np.pi * np.arange(N) / N
    for snr_db, snr_share in snr_nodes(*signal.snr_db, N):
        snr = 10 ** (snr_db / 10)
        phase, phase_sub = cells(*signal.phase, float(1.2 / np.sqrt(2 * N * snr)))
        cfo, cfo_sub = cells(band.low, band.high, float(np.sqrt(6 / (N * snr)) / (2 * np.pi)))
        angle = (phase[:, None, None] + cfo[:, None] * index).reshape(-1, N)
        sub = (phase_sub[:, None, None] + cfo_sub[:, None] * index).reshape(-1, N)
        yield Grid(
            snr,
            float(np.log(snr_share * share / (len(angle) * len(sub)))),
            cfo,
            np.exp(-1j * angle).astype(np.complex64),
            np.exp(-1j * sub).astype(np.complex64),
            gain_nodes(snr, N),
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
