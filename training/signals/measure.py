"""Power of a clean signal, and the band that holds 99 % of it."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from streaming.block import Samples

BINS = 512


def power(x: Samples) -> float:
    """Mean of |x|^2."""
    return float(np.mean(np.square(x.real, dtype=np.float64) + np.square(x.imag, dtype=np.float64)))


def occupied(x: Samples, share: float = 0.99) -> tuple[float, float]:
    """Lower and upper edge of the occupied band, cycles per sample; both sides leave out the same share."""
    size = min(BINS, len(x))
    window = np.hanning(size).astype(np.float32)
    spectra = np.fft.fft(sliding_window_view(x, size)[:: size // 2] * window)  # (segments, size)
    below = np.concatenate([[0.0], np.cumsum(np.fft.fftshift((np.abs(spectra) ** 2).mean(0)))])
    left_out = below[-1] * np.array([(1 - share) / 2, (1 + share) / 2])
    edges = np.interp(left_out, below, np.linspace(-0.5, 0.5, size + 1))
    half_bin = 0.5 / size  # bin k is centred on its frequency, so its cell begins half a bin below
    return float(edges[0] - half_bin), float(edges[1] - half_bin)
