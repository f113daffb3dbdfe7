"""Looks: the power spectrum of the band, once per `bins` samples.

    P[i, k] = mean of |DFT(w x)|^2 / sum w^2 over the two frames of look i,   w = Hann, frames overlap by half

A look begins at sample i * bins; its second frame reaches half a look into the next one. The mean over the
bins is the mean power of the samples, without the receiver's direct current: the mean of the samples so far
is taken off, and where little more than that was there the middle bins are at most as high as those beside
them. An emission at zero stays, if it is stronger and more than a bare carrier.

>>> looks = Looks(128).push(np.ones(64 + 2 * 128, np.complex64))
>>> looks.shape, round(float(looks.max()), 9)
((2, 128), 0.0)
"""

import math

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.fourier import fft

LOOK_S = 0.85e-3
FEWEST, MOST = 128, 2048
STEADY = 256  # looks over which the direct current is averaged
OWN = 4.0  # times its power: what is weaker in the middle bins is the receiver's own
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
        self._mean, self._count = 0j, 0  # of the samples of so many looks

    def push(self, samples: Samples) -> Spectra:
        """The looks that these samples complete."""
        held = np.concatenate([self._held, samples])
        bins, half = self.bins, self.bins // 2
        count = max(0, (len(held) - half) // bins)
        frames = np.stack(
            [held[: count * bins].reshape(count, bins), held[half : half + count * bins].reshape(count, bins)]
        )  # (2, count, bins)
        self._held = held[count * bins :].copy()
        means = self._means(held[: count * bins].reshape(count, bins).mean(1))
        turned = fft.fft(frames * self._window)
        for place, share in ((0, 0.5), (1, -0.25), (-1, -0.25)):  # the spectrum of the window
            turned[:, :, place] -= (share * bins) * means
        power = (np.square(turned.real) + np.square(turned.imag)).sum(0) / self._gain
        return without_line(np.roll(power, half, axis=1), OWN * bins * np.square(np.abs(means)))

    def _means(self, of_looks: Samples) -> Samples:
        """The direct current (n,) as it is known in each of these looks."""
        out = np.empty_like(of_looks)
        for i, mean in enumerate(of_looks.tolist()):
            self._count = min(self._count + 1, STEADY)
            self._mean += (mean - self._mean) / self._count
            out[i] = self._mean
        return out


def without_line(looks: Spectra, most: NDArray[np.floating]) -> Spectra:
    """Looks (n, bins) whose middle bins are at most as high as those beside, where they hold this at most."""
    middle = looks.shape[1] // 2
    beside = np.maximum(looks[:, middle - 4 : middle - 2].mean(1), looks[:, middle + 3 : middle + 5].mean(1))
    centre = looks[:, middle - 2 : middle + 3]
    own = centre.sum(1) <= most + centre.shape[1] * beside
    centre[own] = np.minimum(centre, beside[:, None])[own]
    return looks
