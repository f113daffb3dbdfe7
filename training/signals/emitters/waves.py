"""Waves made fast: steps at any times, pulses by their spectra, filters as products.

    steps      each sample is the mean over its own interval, so an edge between two samples is seen there
    pulses     K symbols in N samples, both circular: Y[n] = A[n mod K] G(n / K), y = IFFT(Y)
    filters    y = IFFT(H FFT(x))

All frequencies of a pulse beyond half the rate are left out, as the anti-aliasing filter of a receiver does.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from streaming.block import Samples
from training.signals.emitters.emitter import Floats, Reals, Spans

Response = Callable[[Reals], NDArray[Any]]  # real or complex


def steps(times: Floats, values: Floats, samples: int) -> Floats:
    """`values[i]` from `times[i]` (in samples) on, and 0 before the first."""
    rise = np.diff(values, prepend=0.0)
    times = np.maximum(times, 0.0)
    inside = times < samples
    times, rise = times[inside], rise[inside]
    at = times.astype(np.int64)
    late = (times - at) * rise
    change = np.bincount(at, rise - late, samples + 1)
    change += np.bincount(at + 1, late, samples + 1)
    return np.asarray(np.cumsum(change[:samples]))


def pulses(symbols: NDArray[np.complex64], samples: int, response: Response, reach: float) -> Samples:
    """Symbols evenly over all samples, each with the pulse of this response.

    `response` takes frequencies in symbol rates and is zero beyond `reach`.
    """
    count = len(symbols)
    half = int(min(np.ceil(reach * count), samples // 2))
    bins = np.arange(-half, samples - half if half == samples // 2 else half + 1)
    spectrum = np.zeros(samples, np.complex64)
    spectrum[bins] = fft.fft(symbols)[bins % count] * response((bins / count).astype(np.float32))
    spectrum *= antialias(samples)
    out = fft.ifft(spectrum, overwrite_x=True)
    return np.asarray(out, np.complex64)


@lru_cache(maxsize=16)
def antialias(samples: int) -> Reals:
    """A receiver's filter before its converter: flat to 0.42 of the rate, down to zero at 0.5."""
    x = np.clip((np.abs(fft.fftfreq(samples)) - 0.42) / 0.08, 0, 1)
    return (0.5 + 0.5 * np.cos(np.pi * x)).astype(np.float32)


def filtered(x: Reals, response: Response) -> Reals:
    """Behind a filter, whose response takes frequencies in cycles per sample; circular."""
    spectrum = fft.rfft(x.astype(np.float32, copy=False))
    spectrum *= response(fft.rfftfreq(len(x)).astype(np.float32))
    return np.asarray(fft.irfft(spectrum, len(x), overwrite_x=True), np.float32)


def occupied(x: Samples, share: float = 0.99) -> tuple[float, float]:
    """Edges of the band that holds this share of the power, in cycles per sample, at full resolution.

    Both sides leave out the same power (ITU-R SM.328).
    """
    spectrum = fft.fftshift(fft.fft(x))
    below = np.cumsum(spectrum.real**2 + spectrum.imag**2, dtype=np.float64)
    if not below[-1]:
        return 0.0, 0.0
    edges = np.searchsorted(below, below[-1] * np.array([(1 - share) / 2, (1 + share) / 2]))
    first = len(x) // 2 + 0.5  # a bin's cell begins half a bin below its frequency
    return float((edges[0] - first) / len(x)), float((edges[1] + 1 - first) / len(x))


def gate(bursts: Spans, samples: int, rise: float) -> Reals:
    """1 within the bursts and 0 outside, with cosine ramps of `rise` samples on the inside."""
    out = np.zeros(samples, np.float32)
    for begin, end in bursts:
        out[begin:end] = 1
        ramp = min(int(rise), (end - begin) // 2)
        if ramp > 0:
            edge = np.sin((np.arange(ramp, dtype=np.float32) + 0.5) * np.float32(np.pi / 2 / ramp)) ** 2
            if begin > 0:
                out[begin : begin + ramp] = edge
            if end < samples:
                out[end - ramp : end] = edge[::-1]
    return out
