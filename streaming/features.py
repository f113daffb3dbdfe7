"""Features: statistics of the last window of a signal, computed beside the encoder.

With x at unit power, a = |x|, u = x / (a + 0.1), x'd the conjugate of x delayed by d samples, and the phase
increment from sample to sample less its mean,

    quantiles of a and of the phase increment
    of x, x^2, x^4, u^2, u^4, x x'16, x x'64, a^2, the phase increment and its magnitude:
        lines                how far the strongest bins of the spectrum stand out, how low the others lie
        autocorrelation      |r(l)| / r(0) at small lags l; with its sign where the series is real

Timing, phase and small carrier offsets hardly change them. Lines over a whole window are what an encoder with
a short receptive field and mean pooling cannot see: a symbol clock, a carrier left in a power of the signal,
the beat of a chirp with itself.

>>> extract(np.ones(64, np.complex64)).shape == (COUNT,)
True
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from streaming.block import Samples

LAGS = (1, 2, 3, 4, 6, 8)
LINE = 8  # bins that hold one line at most
RANKS = (1, 4, 7)  # of the strongest lines
SHARES = (0.5, 0.25)  # of the lines that are weaker
QUANTILES = np.linspace(0.02, 0.98, 17)
SOFT = np.float32(0.1)  # keeps u finite
TINY = np.float32(1e-6)  # of a mean power: what is left of a constant
FAINT = np.float32(1e-3)  # of a mean bin: below it lies rounding
DELAYS = (16, 64)  # samples
POWERS, COMPLEX, SERIES = 5, 7, 10  # the first so many are powers, are complex, are all
COUNT = SERIES * (len(LAGS) + len(RANKS) + len(SHARES)) + 2 * len(QUANTILES)
ABOUT = np.concatenate(  # (COUNT,), what each feature describes: a series, the level or the phase increment
    [
        np.repeat(np.arange(SERIES), len(LAGS)),
        np.repeat(np.arange(SERIES), len(RANKS) + len(SHARES)),
        np.repeat([SERIES, SERIES + 1], len(QUANTILES)),
    ]
)
SHORTEST = 16  # samples
Row = NDArray[np.float32]


def extract(x: Samples) -> Row:
    """The features (COUNT,) of a window of at least SHORTEST samples."""
    x = x / np.sqrt(np.vdot(x, x).real / len(x) + TINY)
    a = np.abs(x)
    u = x / (a + SOFT)
    steps = x[1:] * x[:-1].conj()
    increment = np.angle(steps * np.mean(steps).conj())
    square, unit = x * x, u * u
    series = np.zeros((SERIES, len(x)), np.complex64)
    series[:POWERS] = x, square, square * square, unit, unit * unit
    for row, delay in enumerate(DELAYS, POWERS):
        series[row, delay:] = x[delay:] * x[:-delay].conj()
    series[COMPLEX, :] = a * a
    series[COMPLEX + 1, 1:] = increment * np.abs(steps)
    series[COMPLEX + 2, 1:] = np.minimum(np.abs(increment), 1)
    series[POWERS:] -= series[POWERS:].mean(1, keepdims=True)
    spectra = fft.fft(series)
    power = np.square(spectra.real) + np.square(spectra.imag)  # (SERIES, T)
    power /= power.mean(1, keepdims=True) + TINY * len(x)
    return np.concatenate([kept(power), lines(power), spread(a), spread(increment)])


def kept(power: Row) -> Row:
    """Autocorrelations at the lags, from spectra (SERIES, T) of unit mean."""
    r = power @ waves(power.shape[1])  # (SERIES, 2 lags)
    real, imaginary = r[:, : len(LAGS)], r[:, len(LAGS) :]
    size = np.sqrt(np.square(real[:COMPLEX]) + np.square(imaginary[:COMPLEX]))
    return np.concatenate([size.ravel(), real[COMPLEX:].ravel()])


@lru_cache(maxsize=64)
def waves(length: int) -> Row:
    """The transform from a spectrum to its autocorrelation: (T, 2 lags), cosines and sines."""
    angle = 2 * np.pi * np.outer(np.arange(length), LAGS) / length
    return np.concatenate([np.cos(angle), np.sin(angle)], 1, dtype=np.float32) / np.float32(length)


def lines(power: Row) -> Row:
    """Logarithms of the strongest lines and of the quantiles of spectra (SERIES, T)."""
    groups = power.shape[1] // LINE
    every = [power[:, i : groups * LINE : LINE] for i in range(LINE)]
    strongest = np.maximum.reduce(every)  # (SERIES, groups); numpy is slow along short axes
    places = [max(groups - rank, 0) for rank in RANKS] + [int(share * groups) for share in SHARES]
    return np.asarray(np.log(np.sort(strongest, axis=1)[:, places] + FAINT).ravel())


def spread(values: Row) -> Row:
    """The quantiles of values (T,)."""
    places = QUANTILES * (len(values) - 1)
    below = places.astype(int)
    rest = (places - below).astype(np.float32)
    ordered = np.sort(values)
    return np.asarray(ordered[below] * (1 - rest) + ordered[below + 1] * rest)


class Features:
    """Samples of one signal in; the features of the last window at each hop out.

    The window grows until it is full, as `streaming.window` does. The result does not depend on how the
    samples are cut into pushes.
    """

    def __init__(self, hop: int, window: int) -> None:
        self.hop, self.window = hop, window
        self.reset()

    def reset(self) -> None:
        """Restart for another signal."""
        self._recent = np.empty(0, np.complex64)
        self._next = self.hop  # where in `_recent` the next hop ends

    def keep(self, hops: int) -> None:
        """Forget everything before the newest whole hops."""
        drop = max(0, self._next - (1 + hops) * self.hop)
        self._recent, self._next = self._recent[drop:], self._next - drop

    def push(self, samples: Samples) -> Row:
        """The features (hops, COUNT) of the hops that these samples complete."""
        recent = np.concatenate([self._recent, samples])
        ends = range(self._next, len(recent) + 1, self.hop)
        rows = [extract(recent[max(0, end - self.window) : end]) for end in ends]
        drop = max(0, len(recent) - self.window)
        self._recent = recent[drop:].copy()
        self._next += len(ends) * self.hop - drop
        return np.stack(rows) if rows else np.empty((0, COUNT), np.float32)
