"""Features of one window.

With a = |x|, u = x / (a + 0.1), x'd the conjugate of x d samples before, and the phase increment from sample
to sample about its mean,

    quantiles of a, and of the phase increment by power
    of x, x^2, x^4, u^2, u^4, x x'16, x x'64, a^2, the phase increment and its size:
        autocorrelation      |r(l)| / r(0) at lags l; with its sign where the series is real
        lines                how far the strongest bins of the spectrum stand out, how low the others lie

A symbol clock, a carrier left in a power of the signal, the beat of a chirp with itself: each is a line over
the whole window.
"""

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.fourier import fft

LENGTH = 2048  # samples
LAGS = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128])
LINE = 8  # bins that hold one line at most
RANKS = (1, 4, 7)  # of the strongest lines
SHARES = (0.5, 0.25)  # of the lines that are weaker
QUANTILES = np.linspace(0.02, 0.98, 17)
DELAYS = (16, 64)  # samples
POWERS, COMPLEX, SERIES = 5, 7, 10  # the first so many are powers, are complex, are all
SOFT, TINY, FAINT = np.float32(0.1), np.float32(1e-6), np.float32(1e-3)
LINES = SERIES * (len(RANKS) + len(SHARES))
LINE_PART = slice(SERIES * len(LAGS), SERIES * len(LAGS) + LINES)
COUNT = SERIES * len(LAGS) + LINES + 2 * len(QUANTILES)
Row = NDArray[np.float32]


def describe(x: Samples) -> Row:
    """The features (COUNT,) of a window at unit level."""
    a = np.abs(x)
    u = x / (a + SOFT)
    steps = x[1:] * x[:-1].conj()
    weight = np.abs(steps)
    increment = np.angle(steps * np.mean(steps).conj())
    square, unit = x * x, u * u
    series = np.zeros((SERIES, len(x)), np.complex64)
    series[:POWERS] = x, square, square * square, unit, unit * unit
    for row, delay in enumerate(DELAYS, POWERS):
        if delay < len(x):
            series[row, delay:] = x[delay:] * x[:-delay].conj()
    series[COMPLEX] = a * a
    series[COMPLEX + 1, 1:] = increment * np.minimum(weight, 2)
    series[COMPLEX + 2, 1:] = np.minimum(np.abs(increment), 1) * np.minimum(weight, 1)
    series[POWERS:] -= series[POWERS:].mean(1, keepdims=True)
    spectra = fft.fft(series)
    power = np.square(spectra.real) + np.square(spectra.imag)  # (SERIES, T)
    power /= power.mean(1, keepdims=True) + TINY * len(x)
    r = fft.ifft(power)[:, np.minimum(LAGS, len(x) - 1)]
    autocorrelation = np.concatenate([np.abs(r[:COMPLEX]), r[COMPLEX:].real])
    spread = np.quantile(a, QUANTILES), weighted_quantiles(increment, weight, QUANTILES)
    return np.concatenate([autocorrelation.ravel(), lines(power).ravel(), *spread], dtype=np.float32)


def lines(power: Row) -> Row:
    """Logarithms of the strongest lines and of the quantiles of spectra (series, T)."""
    groups = power.shape[1] // LINE
    every = [power[:, i : groups * LINE : LINE] for i in range(LINE)]
    strongest = np.maximum.reduce(every)  # (series, groups); numpy is slow along short axes
    places = [max(groups - rank, 0) for rank in RANKS] + [int(share * groups) for share in SHARES]
    return np.asarray(np.log(np.sort(strongest, axis=1)[:, places] + FAINT))


def weighted_quantiles(values: Row, weights: Row, quantiles: NDArray[np.float64]) -> Row:
    """Quantiles of values (T,) that count by their weights."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    below /= below[-1] + 1e-20
    return np.asarray(np.interp(quantiles, below, values[order]), np.float32)
