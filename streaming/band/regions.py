"""Regions: runs of bins that stand out of the floor in one look.

    hot where mean(P / T over w bins) > threshold(w),    w = 1, 2, 4, ...

The thresholds follow from the false-alarm rate: over noise the mean of k independent values is Gamma(k) / k.
Narrow means come first; what they find counts as noise in the wider ones, so that a strong narrow emission
does not make its neighbourhood hot.
"""

import numpy as np
from numpy.typing import NDArray

from streaming.band.looks import FREEDOM, Spectrum
from streaming.filters import gamma_exceeded
from streaming.native_signals import signal_kernel

FALSE_ALARM = 1e-7  # per look
MARGIN, LEAST = 10**0.1, 1.4  # real noise is not quite stationary
WIDEST = 0.7  # of the band
CLOSED = 2  # bins of a gap that does not part a region
Mask = NDArray[np.bool_]  # (bins,)
Run = tuple[int, int]  # first bin, bin after the last


class Standout:
    """Finds the bins of looks that stand out."""

    def __init__(self, bins: int) -> None:
        self._widths = [1 << i for i in range(11) if 1 << i <= WIDEST * bins]
        freedom = [FREEDOM * max(1.0, 0.75 * width) for width in self._widths]
        alarms = [FALSE_ALARM * width / bins for width in self._widths]
        limits = [MARGIN * gamma_exceeded(k, a) / k for k, a in zip(freedom, alarms, strict=True)]
        self._limits = np.maximum(limits, LEAST)

    def find(self, looks: NDArray[np.float64], floor: Spectrum) -> NDArray[np.bool_]:
        """The mask (n, bins) of looks (n, bins) over one floor."""
        kernel = signal_kernel()
        return kernel.standout(looks, floor, self._limits) if kernel else self.find_in_numpy(looks, floor)

    def find_in_numpy(self, looks: NDArray[np.float64], floor: Spectrum) -> NDArray[np.bool_]:
        """The definition of what stands out, which the kernel keeps to."""
        ratio = looks / floor
        found = np.asarray(ratio > self._limits[0])
        ratio[found] = 1.0
        below = summed(ratio)
        for width, limit in zip(self._widths[1:], self._limits[1:], strict=True):
            hot = mean_over(below, width) > limit
            rows = np.flatnonzero(hot.any(1))
            if not len(rows):
                continue
            near = mean_over(summed(hot[rows].astype(np.float64)), width) > 0.5 / width
            near &= mean_over(below[rows], max(1, width // 4)) > 1 + (limit - 1) / 2
            found[rows] |= near
            ratio[found] = 1.0
            below[rows] = summed(ratio[rows])
        return found


def summed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of all entries before each, and of all: (n, bins) to (n, bins + 1)."""
    out = np.zeros((len(values), values.shape[1] + 1))
    np.cumsum(values, axis=1, out=out[:, 1:])
    return out


def mean_over(below: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """The mean of the `width` entries around each, from the sums below: (n, bins + 1) to (n, bins)."""
    bins = below.shape[1] - 1
    first = np.clip(np.arange(bins) - width // 2, 0, bins - width)  # at the edges the nearest `width`
    return np.asarray((below[:, first + width] - below[:, first]) / width)


def runs(mask: Mask, closed: int = CLOSED) -> list[Run]:
    """The runs of a mask; gaps of up to `closed` bins are closed.

    >>> runs(np.array([1, 0, 0, 1, 0, 0, 0, 1], bool))
    [(0, 4), (7, 8)]
    """
    steps = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    found: list[Run] = []
    for first, end in zip(
        np.flatnonzero(steps == 1).tolist(), np.flatnonzero(steps == -1).tolist(), strict=True
    ):
        if found and first - found[-1][1] <= closed:
            found[-1] = (found[-1][0], end)
        else:
            found.append((first, end))
    return found


def as_mask(bins: int, found: list[Run]) -> Mask:
    """The bins of runs."""
    mask = np.zeros(bins, bool)
    for first, end in found:
        mask[first:end] = True
    return mask


def widened(mask: Mask) -> Mask:
    """A mask and two bins to either side of it."""
    out = mask.copy()
    for shift in (1, 2):
        out[shift:] |= mask[:-shift]
        out[:-shift] |= mask[shift:]
    return out


def own_regions(mask: Mask, excess: Spectrum, hot: Mask) -> Mask:
    """The hot regions whose strongest bin lies in a mask."""
    if not (mask & hot).any():
        return np.zeros(len(mask), bool)
    found = [run for run in runs(hot) if mask[run[0] + int(excess[run[0] : run[1]].argmax())]]
    return as_mask(len(mask), found)
