"""The box of an emission in frequency, from the density E above the noise floor F.

    kept  where E (smoothed over 3 bins) > peak / 400
    band  the middle 98 % of what is kept,    SNR = sum E / sum F in the band

Frequencies are in cycles per sample. The limit of 26 dB below the peak (ITU-R SM.328's x-dB bandwidth) leaves
out noise that a channel filter let through; the share of power gives hard-keyed signals, whose spectra fall
off slowly, a bandwidth that means something.
"""

import math
from dataclasses import dataclass

import numpy as np

from streaming.band.looks import Spectrum
from streaming.filters import moving_mean

SHARE, DROP = 0.98, 400.0
WINDOW = 1.4  # bins by which the window of a look widens what is narrow; squares add up


@dataclass(frozen=True, slots=True)
class Box:
    """In cycles per sample, or in hertz after `scaled`."""

    lower: float
    upper: float
    snr_db: float  # within the edges
    level_db: float  # power above the noise, dB of full scale

    @property
    def centre(self) -> float:
        """The middle of the band."""
        return (self.lower + self.upper) / 2

    @property
    def width(self) -> float:
        """The bandwidth."""
        return self.upper - self.lower

    def scaled(self, rate_hz: float) -> "Box":
        """In hertz."""
        return Box(self.lower * rate_hz, self.upper * rate_hz, self.snr_db, self.level_db)


def measure(excess: Spectrum, floor: Spectrum) -> Box | None:
    """The box of an excess (bins,) over a floor; None where there is none."""
    bins = len(excess)
    smooth = moving_mean(excess, 3, "constant")
    peak = float(smooth.max())
    if peak <= 0:
        return None
    kept = np.where(smooth > peak / DROP, np.maximum(excess, 0), 0.0)
    below = np.concatenate([[0.0], np.cumsum(kept)])
    first, last = np.interp(
        below[-1] * np.array([(1 - SHARE) / 2, (1 + SHARE) / 2]), below, np.arange(bins + 1)
    )
    middle, width = (first + last) / 2, math.sqrt(max((last - first) ** 2 - WINDOW**2, 1.0))
    low, high = max(0.0, middle - width / 2), min(float(bins), middle + width / 2)
    inside = slice(int(low), int(np.ceil(high)))
    ratio = kept[inside].sum() / max(float(floor[inside].sum()), 1e-30)
    # Bin k is centred on (k - bins / 2) / bins, and reaches half a bin to either side.
    edge = [(at - 0.5) / bins - 0.5 for at in (low, high)]
    level = kept.sum() / bins
    return Box(edge[0], edge[1], *(10 * float(np.log10(max(x, 1e-15))) for x in (ratio, level)))
