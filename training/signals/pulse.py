"""Pulses, tabled at many phases of a symbol so that the samples a symbol may be any number.

    y[n] = sum_k a[k] g(t_n - k),    t_n = n / samples_per_symbol + timing, in symbols

A root raised cosine with roll-off b, a rectangle with cosine edges, and for frequency modulation the phase
pulse q, the integral of a rectangle of one symbol smoothed by a Gaussian of bandwidth-time product BT.
"""

from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

PHASES = 512  # of a symbol: the jitter that is left lies 60 dB below the signal
Value = TypeVar("Value", np.complex64, np.float32)
Table = NDArray[np.float32]  # (taps, PHASES): g(phase / PHASES + tap - reach)


def root_raised_cosine(t: NDArray[np.float64], rolloff: float) -> NDArray[np.float64]:
    """g(t), its energy one symbol."""
    b = rolloff
    t = np.where(np.abs(t) < 1e-8, 1e-8, t)  # both removable singularities: step beside them
    t = np.where(np.abs(np.abs(4 * b * t) - 1) < 1e-6, t * (1 + 1e-5), t)
    top = np.sin(np.pi * t * (1 - b)) + 4 * b * t * np.cos(np.pi * t * (1 + b))
    return np.asarray(top / (np.pi * t * (1 - (4 * b * t) ** 2)))


def rectangle(t: NDArray[np.float64], edge: float) -> NDArray[np.float64]:
    """1 within half a symbol, with cosine edges; pulses side by side add up to 1."""
    x = np.clip((np.abs(t) - (1 - edge) / 2) / edge, 0, 1)
    return np.asarray((1 + np.cos(np.pi * x)) / 2)


def phase_pulse(t: NDArray[np.float64], bt: float) -> NDArray[np.float64]:
    """q(t), from 0 to 1/2 over the symbol at 0 <= t < 1; smoothed by a Gaussian unless BT is infinite."""
    if np.isinf(bt):
        return np.clip(t, 0, 1) / 2
    s = np.sqrt(np.log(2)) / (2 * np.pi * bt)  # standard deviation of the Gaussian, in symbols

    def ramp(x: NDArray[np.float64]) -> NDArray[np.float64]:  # the integral of the Gaussian's distribution
        z = x / (s * np.sqrt(2))
        return np.asarray(x * (1 + erf(z)) / 2 + s * np.exp(-(z**2)) / np.sqrt(2 * np.pi))

    return (ramp(t) - ramp(t - 1)) / 2


@lru_cache(maxsize=256)
def table(kind: str, value: float, reach: int) -> Table:
    """The pulse "rrc", "rectangle" or "phase" over the taps -reach..reach."""
    t = np.arange(-reach, reach + 1)[:, None] + np.arange(PHASES) / PHASES
    pulse = {"rrc": root_raised_cosine, "rectangle": rectangle, "phase": phase_pulse}[kind]
    return pulse(t, value).astype(np.float32)


def slopes(pulses: Table) -> Table:
    """What each entry grows by until the next phase."""
    flat = pulses.ravel()
    return np.append(np.diff(flat), np.float32(0)).reshape(pulses.shape)


def shape(symbols: NDArray[Value], times: NDArray[np.float64], pulses: Table) -> NDArray[Value]:
    """The sum over pulses at these times, in symbols counted from `symbols[reach]`.

    `symbols` begins `reach` symbols before the first time and ends `reach` after the last.
    """
    last = len(pulses) - 1
    whole = np.floor(times).astype(np.int64)
    phase = ((times - whole) * PHASES).astype(np.int64)
    out = np.zeros(len(times), symbols.dtype)
    for tap, pulse in enumerate(pulses):  # a loop over few taps: twice as fast as gathering windows
        out += np.take(symbols, whole + (last - tap)) * pulse.take(phase)
    return out
