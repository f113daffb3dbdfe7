"""The noise floor: what is always there in each bin.

    T[k] = a lower quantile, over the last second or two, of averages of 16 looks

Bins of an emission that came and stays are held, and rise by at most 2 % per average: an emission is not
absorbed while it is followed, and a receiver that was turned up is not an emission indefinitely. The first
floor is the lower quartile of the looks that are there, smoothed over neighbours the more the fewer they are;
below an emission that begins or ends within these looks it is what was there without it.
"""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from streaming.band.looks import FREEDOM, Spectrum
from streaming.filters import gamma_quantile, moving_mean, moving_median
from streaming.native_signals import signal_kernel

AVERAGED, KEPT = 16, 64  # looks in an average, averages kept
QUANTILE, FIRST_QUANTILE = 0.3, 0.25
LEAST = 0.75  # of the mean over noise: the quietest 16 of the first looks
BURST = 0.5  # quieter than this, and they are the noise without a burst
STEADY_LOOKS = 48  # looks after which the first floor needs no neighbours
RISE = 1.02
LOWEST = 1e-15  # 150 dB below full scale: a floor that can be divided by
QUIETEST = 0.12  # of the band: what is taken to be empty
SMOOTHED = 128  # parts of the band over which the noise is smoothed
WIDEST = 0.4  # of the band: what is wider is noise that a filter shaped, or has steep edges
STEEP, SLOPES = (1.4, 3.0), 0.04  # times the quietest part, and how much of the band may lie between


class Floor:
    """`start` with the first looks, then `add` and `count` all; `level` is the floor (bins,)."""

    def __init__(self, bins: int) -> None:
        self.bins = bins
        self._first_bias = gamma_quantile(FREEDOM, FIRST_QUANTILE) / FREEDOM
        self._bias = gamma_quantile(AVERAGED * FREEDOM, QUANTILE) / (AVERAGED * FREEDOM)

    def start(self, looks: NDArray[np.float64]) -> None:
        """The first floor, from looks (n, bins)."""
        n = len(looks)
        bias = self._first_bias if n > 8 else 0.5 + 0.5 / n
        width = int(np.clip(2 * round(STEADY_LOOKS / n) + 1, 3, self.bins // 8 | 1))
        first = np.quantile(looks, FIRST_QUANTILE, axis=0) / bias
        if n > 2 * AVERAGED:
            least = moving_mean(looks, AVERAGED, axis=0)[AVERAGED // 2 : 1 - AVERAGED // 2].min(0)
            share = least / np.maximum(looks.mean(0), LOWEST)
            burst = moving_mean(share, 5, "nearest") < BURST
            first = np.where(burst, np.minimum(first, least / LEAST), first)
        self.level: Spectrum = np.maximum(moving_median(first, width), LOWEST)
        self._averages = deque[Spectrum](maxlen=KEPT)
        self._ordered = np.full((KEPT, self.bins), np.inf)  # the averages, each bin's sorted
        for _ in range(4):
            self._keep(self._bias * self.level)
        self._clear()

    def _clear(self) -> None:
        """`total` and `held` are of the looks of the next average so far."""
        self.total, self._count = np.zeros(self.bins), 0
        self.held = np.zeros(self.bins, bool)

    @property
    def constant(self) -> int:
        """Looks until the floor may be another one."""
        return AVERAGED - self._count

    def add(self, look: Spectrum, held: NDArray[np.bool_]) -> None:
        """A look to learn from, but for the bins that are held."""
        self.total += look
        self.held |= held

    def count(self, looks: int) -> None:
        """So many looks were added; the floor may be a new one now."""
        self._count += looks
        if self._count < AVERAGED:
            return
        average = self.total / AVERAGED  # bounded as a whole: bounded looks would have the mean of their dips
        highest = RISE * self._bias * self.level
        self._keep(np.where(self.held, np.minimum(average, highest), average))
        self._clear()
        self.level = np.maximum(moving_median(self._usual() / self._bias, 3), LOWEST)

    def _keep(self, average: Spectrum) -> None:
        kernel = signal_kernel()
        if kernel:
            oldest = self._averages[0] if len(self._averages) == KEPT else None
            kernel.reorder(self._ordered, oldest, average)
        self._averages.append(average)

    def _usual(self) -> Spectrum:
        """The lower quantile of the averages; to sort them anew each time would take far longer."""
        if signal_kernel() is None:
            return np.asarray(np.quantile(np.array(self._averages), QUANTILE, axis=0))
        whole, part = divmod(QUANTILE * (len(self._averages) - 1), 1)
        lower, upper = self._ordered[int(whole)], self._ordered[int(whole) + 1]
        # As numpy interpolates: from the nearer of the two.
        apart = upper - lower
        return np.asarray(lower + apart * part if part < 0.5 else upper - apart * (1 - part))

    def forget(self, mask: NDArray[np.bool_], level: Spectrum) -> None:
        """What was steady in these bins has ended: there the floor is at most this high."""
        for average in self._averages:
            average[mask] = np.minimum(average, self._bias * level)[mask]
        self._ordered[: len(self._averages)] = np.sort(np.array(self._averages), axis=0)
        self.level[mask] = np.minimum(self.level, level)[mask]

    @property
    def noise(self) -> Spectrum:
        """Below what is always there and narrow: the opening of the floor, which keeps a filter's slopes."""
        smooth = moving_mean(self.level, max(3, self.bins // SMOOTHED), "nearest")
        return opened(smooth, round(WIDEST * self.bins))

    def below(self, noise: Spectrum) -> Spectrum:
        """The noise below what is always there and wide.

        It stands out only where its edges are steep and what is beside it is flat; a filter's slope is not.
        """
        quiet, edge = self.quietest, self.bins // 16  # filters fall in the outer sixteenths
        slope = (noise > STEEP[0] * quiet) & (noise < STEEP[1] * quiet)
        if slope.mean() < SLOPES and noise[edge:-edge].min() > quiet / STEEP[0]:
            return np.minimum(noise, quiet)
        return noise

    @property
    def quietest(self) -> float:
        """The density in the quietest part of the band; not in its outer sixteenths, where filters fall."""
        smooth = moving_mean(self.level, max(3, self.bins // 64), "nearest")
        edge = self.bins // 16
        return float(np.quantile(smooth[edge:-edge], QUIETEST))


def opened(values: Spectrum, width: int) -> Spectrum:
    """At each entry the highest minimum of `width` neighbours that hold it: without narrower peaks."""
    least = -extended(-values, width)
    beyond = np.full(width - 1, -np.inf)
    return extended(np.concatenate([beyond, least, beyond]), width)


def extended(values: Spectrum, width: int) -> Spectrum:
    """The maxima of all runs of `width` entries, by doubling."""
    size = 1
    while 2 * size <= width:
        values, size = np.maximum(values[:-size], values[size:]), 2 * size
    return np.maximum(values[: len(values) - (width - size)], values[width - size :])
