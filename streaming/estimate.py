"""Estimates of a signal from its spectrum P over the noise floor F: SNR, occupied bandwidth, centre.

    excess = P - F where P stands out,    band = its middle 99 %,    SNR = sum excess / sum F, in the band

Frequencies are in cycles per sample. 99 % is what ITU-R SM.443 calls occupied. Runs of bins that noise may
have made are left out: a narrow signal has less power than the chance peaks of a whole band.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streaming.detector import BINS, Spectrum

OCCUPIED, CORE = 0.99, 0.9
STANDOUT = 0.25  # 1 dB over the floor, once the average is steady
SURE = 6.0  # standard deviations of a run's sum


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is known of a signal; in cycles per sample, or in hertz after `scaled`."""

    snr_db: float  # in the occupied bandwidth
    bandwidth: float  # occupied
    offset: float  # centre of the middle 90 %: the band's edge may cut long skirts on one side

    def scaled(self, rate_hz: float, offset_hz: float = 0.0) -> "Estimate":
        """In hertz: of a channel of this rate, tuned this far from the source's centre."""
        return Estimate(self.snr_db, self.bandwidth * rate_hz, self.offset * rate_hz + offset_hz)


def estimate(spectrum: Spectrum, floor: Spectrum, averages: float) -> Estimate:
    """The estimate from the mean of `averages` independent spectra."""
    smooth = np.convolve(spectrum / floor, np.ones(3) / 3, mode="same")
    stands_out = smooth > 1 + max(STANDOUT, 4 / np.sqrt(3 * averages))
    stands_out[int(np.argmax(smooth))] = True
    excess = np.where(stands_out, np.maximum(spectrum - floor, 1e-3 * floor), 0.0)
    excess = without_specks(excess, floor, averages)
    low, high = edges(excess, OCCUPIED)
    inside = np.abs(np.arange(BINS) / BINS - 0.5 - (low + high) / 2) <= (high - low) / 2 + 0.5 / BINS
    snr = float(excess.sum() / floor[inside].sum())
    core_low, core_high = edges(excess, CORE)
    return Estimate(10 * float(np.log10(snr)), high - low, (core_low + core_high) / 2)


def without_specks(excess: Spectrum, floor: Spectrum, averages: float) -> Spectrum:
    """The excess without the runs of bins that noise may well have made; the strongest run always stays."""
    begins: NDArray[np.bool_] = (excess > 0) & np.concatenate([[True], excess[:-1] == 0])
    run = np.cumsum(begins)  # (BINS,), the number of the run that a bin belongs to, or of the one before
    over = np.bincount(run, excess / floor)
    length = np.bincount(run, excess > 0)
    sure = over >= SURE * np.sqrt(length / averages)
    sure[np.argmax(np.bincount(run, excess))] = True
    return np.where(sure[run], excess, 0.0)


def edges(excess: Spectrum, share: float) -> tuple[float, float]:
    """The band that leaves out (1 - share) / 2 of the power on either side, a bin wide at least."""
    below = np.concatenate([[0.0], np.cumsum(excess)])
    left_out = below[-1] * np.array([(1 - share) / 2, (1 + share) / 2])
    at = np.interp(left_out, below, np.arange(BINS + 1)) / BINS - 0.5 - 0.5 / BINS
    centre, width = float(at.mean()), max(float(at[1] - at[0]), 1 / BINS)
    return centre - width / 2, centre + width / 2
