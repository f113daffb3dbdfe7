"""Looks: the power spectrum of the band, once per `bins` samples.

    P[i, k] = mean of |DFT(w x)|^2 / sum w^2 over the two frames of look i,   w = Hann, frames overlap by half

A look begins at sample i * bins; its second frame reaches half a look into the next one. The mean over the
bins is the mean power of the samples.

>>> Looks(128).push(np.ones(64 + 2 * 128, np.complex64)).shape
(2, 128)
"""

import math

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.fourier import fft

LOOK_S = 0.85e-3
FEWEST, MOST = 128, 2048
FREEDOM = 1.8  # independent values in a bin of one look: two Hann frames that overlap by half
Spectrum = NDArray[np.float64]  # (bins,), from -1/2 to 1/2 of the rate
Spectra = NDArray[np.float32]  # (looks, bins)


def bins_for(rate_hz: float) -> int:
    """Bins of a look: a power of two, near a millisecond where the bounds allow."""
    return int(2 ** np.clip(round(math.log2(rate_hz * LOOK_S)), math.log2(FEWEST), math.log2(MOST)))


class Looks:
    """Samples in, the spectra (n, bins) of the looks that they complete out."""

    def __init__(self, bins: int) -> None:
        self.bins = bins
        self._window = np.hanning(bins + 1)[:bins].astype(np.float32)
        self._gain = np.float32(2 * np.square(self._window, dtype=np.float64).sum())
        self.reset()

    def reset(self) -> None:
        """Start again with the next sample."""
        self._held = np.empty(0, np.complex64)

    def push(self, samples: Samples) -> Spectra:
        """The looks that these samples complete."""
        held = np.concatenate([self._held, samples])
        bins, half = self.bins, self.bins // 2
        count = max(0, (len(held) - half) // bins)
        frames = np.stack(
            [held[: count * bins].reshape(count, bins), held[half : half + count * bins].reshape(count, bins)]
        )  # (2, count, bins)
        self._held = held[count * bins :].copy()
        turned = fft.fft(frames * self._window)
        power = (np.square(turned.real) + np.square(turned.imag)).sum(0) / self._gain
        return np.roll(power, half, axis=1)
