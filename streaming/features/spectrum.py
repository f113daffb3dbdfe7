"""Features of an emission's spectrum: its shape, and its autocorrelation at long lags.

The shape is the logarithm of the density in 64 parts of the model's rate. A cyclic prefix, a spreading code
or a repeated pattern is a peak of the autocorrelation at a long lag; where the spectrum is made flat first, a
peak of a few percent stands out of what the shape of the spectrum alone would give.
"""

import numpy as np

from streaming.block import Samples
from streaming.features.window import Row
from streaming.filters import moving_mean
from streaming.fourier import fft

FRAME, PARTS, FRAMES = 256, 64, 512
LOWEST = 1e-4  # of the peak
RANGES = ((24, 64), (64, 160), (160, 400), (400, 1024), (1024, 4096))  # lags
STANDOUT, EDGE = 6.0, 0.05  # limits of the flattened spectrum: lines, and what lies outside of the band
COUNT = PARTS + 6 * len(RANGES) + 2


def describe(x: Samples) -> Row:
    """The features (COUNT,) of samples at unit level."""
    return np.concatenate([shape(x), long_lags(x)])


def shape(x: Samples) -> Row:
    """The logarithm of the density, relative to its peak."""
    if len(x) < FRAME:
        x = np.concatenate([x, np.zeros(FRAME - len(x), np.complex64)])
    count = min(FRAMES, (len(x) - FRAME) // (FRAME // 2) + 1)
    step = max(FRAME // 2, (len(x) - FRAME) // max(1, count))
    at = np.arange(FRAME) + step * np.arange(count)[:, None]
    frames = x[at[at[:, -1] < len(x)]] * np.hanning(FRAME).astype(np.float32)
    density = fft.fftshift(np.square(np.abs(fft.fft(frames))).mean(0)).reshape(PARTS, -1).mean(1)
    return np.asarray(np.log10(density / (density.max() + 1e-30) + LOWEST), np.float32)


def long_lags(x: Samples) -> Row:
    """For each range of lags the highest peak, over the median, and where; as it is and flattened.

    Last of all the highest peak of the flattened one over the median of its range, and where it is.
    """
    size = 1 << int(np.ceil(np.log2(len(x) + min(len(x) // 2, RANGES[-1][1]))))
    power = np.square(np.abs(fft.fft(x, size)))
    smooth = moving_mean(power, max(3, size // 128), "wrap") + 1e-9 * power.mean() + 1e-30
    flat = np.minimum(power / smooth, STANDOUT) * np.minimum(smooth / (EDGE * smooth.max()), 1)
    found: list[float] = []
    as_is, flattened = (np.abs(fft.ifft(p))[: RANGES[-1][1] + 1] for p in (power, flat))
    for low, high in RANGES:
        for r in (as_is, flattened):
            if high > len(x) // 2:
                found += [0.0, 0.0, 0.0]
                continue
            inside = r[low:high] / (r[0] + 1e-9)
            best = int(inside.argmax())
            peak = float(inside[best])
            found += [
                peak**0.5,
                np.log10((peak + 1e-12) / (np.median(inside) + 1e-6)),
                np.log2((low + best) / low),
            ]
    standout = found[4::6]
    best = int(np.argmax(standout))
    found += [standout[best], np.log2(RANGES[best][0]) + found[6 * best + 5]]
    return np.array(found, np.float32)
