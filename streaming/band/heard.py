"""What is heard of lobes: their powers over time, side by side."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streaming.band.regions import Run
from streaming.block import Samples
from streaming.filters import moving_mean
from streaming.fourier import fft

STEPS = 1024  # of time, in which lobes are compared
FLAT = 0.15  # deviation over the mean: a power that varies less neither rises nor falls
EDGE = STEPS // 64  # steps: a burst's first and last, in which everything rises and falls


@dataclass(frozen=True, slots=True)
class Lobe:
    """A peak: bins [first, end), its power and the bin of its centre."""

    first: int
    end: int
    power: float
    centre: float


class Compared(NamedTuple):
    """Two lobes side by side, as `compare` has it; these are those of two that cannot be compared."""

    correlated: float = 0.0
    product: float = 1.0
    keyed: float = 0.0


class Heard:
    """The samples of the looks in which lobes were seen; what is compared is computed once."""

    def __init__(self, samples: Samples, bins: int) -> None:
        self.samples, self.bins = samples, bins
        self._powers: dict[Run, NDArray[np.float64]] = {}
        self._compared: dict[tuple[Run, Run], Compared] = {}

    @property
    def enough(self) -> bool:
        """Whether powers over time can be told from them."""
        return len(self.samples) >= 4 * self.bins

    @cached_property
    def _spectrum(self) -> Samples:
        return np.asarray(fft.fft(self.samples))

    def power(self, lobe: Lobe) -> NDArray[np.float64]:
        """The power of a lobe over time, in STEPS steps."""
        run = lobe.first, lobe.end
        if run not in self._powers:
            self._powers[run] = power_of(self._spectrum, lobe, self.bins)
        return self._powers[run]

    def compare(self, lobe: Lobe, other: Lobe) -> Compared:
        """Two lobes side by side."""
        pair = (lobe.first, lobe.end), (other.first, other.end)
        if pair not in self._compared:
            enough = self.enough
            self._compared[pair] = compare(self.power(lobe), self.power(other)) if enough else Compared()
        return self._compared[pair]


def power_of(spectrum: Samples, lobe: Lobe, bins: int) -> NDArray[np.float64]:
    """The power of a lobe over time, in STEPS steps."""
    size = len(spectrum)
    first = int((lobe.first - bins // 2) / bins * size)
    count = max(4, int((lobe.end - lobe.first) / bins * size))
    series = fft.ifft(spectrum[(first + np.arange(count)) % size], -(-count // STEPS) * STEPS)
    return np.asarray(np.square(np.abs(series)).reshape(STEPS, -1).mean(1), np.float64)


def compare(a: NDArray[np.float64], b: NDArray[np.float64]) -> Compared:
    """Correlation while the sum is high: edges of a burst would make everything alike; mean product; how
    much of the power one switch from the one to the other does not explain.

    Independent powers are correlated negatively while their sum is high; their product is not small.
    """
    a, b = a / (a.mean() + 1e-30), b / (b.mean() + 1e-30)
    on = a + b > 0.3 * np.quantile(a + b, 0.9)
    ends = np.flatnonzero(on)[[0, -1]] if on.any() else (0, 0)
    on[: ends[0] + EDGE] = on[max(0, ends[1] + 1 - EDGE) :] = False
    long = moving_mean(a + b, STEPS // 16)
    burst = long > 0.3 * np.quantile(long, 0.9)
    if not burst.any():  # no power in either: nothing can be said
        return Compared()
    product = float(np.mean(a[burst] * b[burst]) / (a[burst].mean() * b[burst].mean() + 1e-30))
    one, other = np.cumsum(a) / len(a), np.cumsum(b) / len(b)
    keyed = min(float((1 - one + other).min()), float((1 - other + one).min())) / 2
    if on.sum() < 32 or min(x[on].std() / (x[on].mean() + 1e-30) for x in (a, b)) < FLAT:
        return Compared(0.0, product, keyed)
    return Compared(float(np.corrcoef(a[on], b[on])[0, 1]), product, keyed)
