"""Building blocks of the signals: shapers, filters, symbols, slow noise and speech."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import fft

Signal = NDArray[np.complex64]
Wave = NDArray[np.complexfloating[Any, Any]]
Real = NDArray[np.floating[Any]]
Response = Callable[[Real], Real | Wave]

TAU = 2 * np.pi


def unit(wave: Wave | Real) -> Signal:
    """The wave at mean power one."""
    return (wave / np.sqrt(np.mean(np.abs(wave) ** 2))).astype(np.complex64)


def phasor(cycles: Real | float) -> Wave:
    """The unit phasor at a phase in cycles."""
    return np.exp(1j * TAU * cycles)


def slots(count: int, period: float) -> int:
    """How many periods fit evenly into count samples."""
    return max(2, round(count / period))


def shape(
    rows: Wave | Real,
    count: int,
    response: Response,
    centres: Sequence[float] | Real = (0.0,),
    reach: float = 20.0,
) -> Wave:
    """Rows of symbols over count samples, shaped by response(cycles per symbol), each at its centre."""
    rows = np.atleast_2d(rows)
    number = rows.shape[1]
    half = min(count // 2, int(reach * number))
    bins = np.arange(-half, half)
    gain, spectrum = response(bins / number), np.zeros(count, complex)
    for row, centre in zip(rows, centres, strict=True):
        spectrum[(bins + round(centre * count)) % count] += fft.fft(row.astype(complex))[bins % number] * gain
    return fft.ifft(spectrum)


def root(u: Real, half: float, skirt: float) -> Real:
    """Root-raised-cosine response with its middle of slope at +-half and slopes of +-skirt."""
    return np.cos(np.pi / 4 * (1 + np.clip((np.abs(u) - half) / skirt, -1, 1)))


def rrc(symbols: Wave | Real, count: int, rolloff: float) -> Wave:
    """Symbols through a root-raised-cosine shaper."""
    return shape(symbols, count, lambda u: root(u, 0.5, rolloff / 2))


def band(wave: Wave | Real, width: float) -> Wave:
    """The wave through a low-pass of the given two-sided width."""
    f = fft.fftfreq(len(wave))
    return fft.ifft(fft.fft(wave) * root(f, width / 2, width / 16))


def pam(rng: Generator, levels: int, size: int | tuple[int, ...]) -> Real:
    """Random equally spaced real levels, two apart."""
    return 2.0 * rng.integers(levels, size=size) + 1 - levels


def raster(number: int, spacing: float) -> Real:
    """Equally spaced frequencies about zero."""
    return (np.arange(number) - (number - 1) / 2) * spacing


def qam(rng: Generator, side: int, size: int | tuple[int, ...]) -> Wave:
    """Random square QAM symbols with side levels on each axis."""
    return pam(rng, side, size) + 1j * pam(rng, side, size)


def drift(rng: Generator, count: int, cut: float) -> Real:
    """Smooth real Gaussian wander of unit variance up to about cut."""
    wander = shape(rng.normal(size=slots(count, 0.5 / cut)), count, lambda u: np.exp(-(4 * u**2))).real
    return wander / wander.std()


def voice(rng: Generator, count: int, low: float, high: float) -> Real:
    """Speech-like message between low and high: a gliding pitch, formants and syllables, within +-1."""
    pitch = low * rng.uniform(0.4, 0.8)
    phase = np.cumsum(pitch * (1 + 0.1 * drift(rng, count, pitch / 10)))
    source = np.exp(3 * np.cos(TAU * phase)) + rng.uniform(0.3, 2) * rng.normal(size=count)
    f = fft.rfftfreq(count)
    formants = np.sqrt(f) * (1.2 + np.cos(TAU * (rng.uniform(1, 3) * f / high + rng.random())))
    speech = fft.irfft(fft.rfft(source) * formants * ((f > low) & (f < high)), count)
    speech *= np.clip(0.7 + 0.3 * drift(rng, count, pitch / 8), 0.35, 1.2)
    return np.clip(speech / (2.2 * speech.std()), -1, 1)


def burst(rng: Generator, length: float, low: float = 0.3, high: float = 0.8) -> float:
    """A pulse repetition period for a pulse of this length, of plausible duty and with a gap below 250."""
    return length + min(length * (1 / rng.uniform(low, high) - 1), 250)
