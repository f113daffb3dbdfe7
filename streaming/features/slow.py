"""Features of an emission's power and frequency, averaged over many samples.

    e[m] = mean |x|^2,    f[m] = angle of the sum of x[n] conj x[n-1], about its mean,    over `scale` samples

Hard-keyed signals at a few kilobaud fill bands of twenty symbol rates: a symbol is then longer than a hundred
samples, and a window holds a handful of them.
"""

import numpy as np

from streaming.block import Samples
from streaming.features.window import FAINT, LINE, RANKS, SHARES, Row, lines, weighted_quantiles
from streaming.fourier import fft

MOST, FEWEST = 2048, 16  # values
LAGS = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32])
QUANTILES = np.linspace(0.05, 0.95, 9)
LINES = len(RANKS) + len(SHARES)
COUNT = 1 + 2 * len(QUANTILES) + 2 * (len(LAGS) + LINES + 1)


def describe(x: Samples, scale: int) -> Row:
    """The features (COUNT,) of samples at unit level; zeros where there are too few."""
    count = min(len(x) // scale, MOST)
    if count < FEWEST:
        return np.zeros(COUNT, np.float32)
    x = x[-count * scale :]
    steps = np.zeros(len(x), np.complex64)
    steps[1:] = x[1:] * x[:-1].conj()
    power = np.square(np.abs(x)).reshape(count, scale).mean(1)
    turned = steps.reshape(count, scale).sum(1)
    frequency = np.angle(turned * np.conj(steps.sum() + 1e-9))
    weight = np.abs(turned) + 1e-9
    series = np.stack([np.minimum(power, 4), frequency * np.minimum(weight / scale, 1.5)]).astype(np.float32)
    series -= series.mean(1, keepdims=True)
    spectra = np.square(np.abs(fft.fft(series, axis=1)))
    total = spectra.mean(1)
    spectra = spectra / (total[:, None] + 1e-4 * count)
    r = fft.ifft(spectra, axis=1).real[:, np.minimum(LAGS, count - 1)]
    enough = count >= LINE * LINE
    found = lines(spectra.astype(np.float32)) if enough else np.zeros((2, LINES), np.float32)
    return np.concatenate(
        [
            [1.0],
            np.quantile(np.sqrt(power), QUANTILES),
            weighted_quantiles(frequency, weight, QUANTILES),
            r.ravel(),
            found.ravel(),
            np.log10(total / count + FAINT * 1e-2),
        ],
        dtype=np.float32,
    )
