"""The signal-to-noise ratio: the front end's, or an estimate from the spectrum alone.

    SNR = (P - N) / N,    P = mean of the averaged periodogram's bins,  N = noise floor

The floor is the bins' 20th percentile, divided by what that percentile would be for noise of unit power (a
gamma distribution with as many degrees as periodograms were averaged). A signal that fills the whole band
leaves no floor to see: then, as for noise alone, there is no estimate.
"""

from collections.abc import Callable

import numpy as np

from streaming.block import Samples
from streaming.filters import gamma_quantile
from streaming.prediction import NO_SIGNAL, Prediction

BINS = 256
SEGMENTS = 64  # at most, evenly spread: more add little
LOW = 0.2
FAINTEST = 0.1  # -10 dB; below, noise alone looks the same


def best_snr_db(prediction: Prediction, samples: Callable[[], Samples]) -> float | None:
    """What the front end measured; without one, an estimate from the prediction's samples."""
    if prediction.snr_db is not None or prediction.label == NO_SIGNAL:
        return prediction.snr_db
    return snr_db(samples())


def snr_db(samples: Samples) -> float | None:
    """The estimate in dB over the band, or None where signal and floor cannot be told apart."""
    whole = len(samples) // BINS
    if whole < 2:
        return None
    chosen = np.linspace(0, whole - 1, min(whole, SEGMENTS)).round().astype(int)
    segments = samples[: whole * BINS].reshape(whole, BINS)[chosen] * np.hanning(BINS)
    psd = np.square(np.abs(np.fft.fft(segments))).mean(0)  # (BINS,)
    floor = np.quantile(psd, LOW) * len(chosen) / gamma_quantile(len(chosen), LOW)
    if floor <= 0:
        return None
    ratio = float(psd.mean() / floor - 1)
    return round(10 * np.log10(ratio), 1) if FAINTEST < ratio < np.inf else None
