"""Building blocks of the signals: symbols, shapers, filters and pulses."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.fft import fft, fftfreq, ifft

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]
Signal = NDArray[np.complex64]
Generator = np.random.Generator

FONT = np.unpackbits(  # 5x7 letters ABCDEFHKLMNORSTU, indexed letter, column, row
    np.frombuffer(
        bytes.fromhex(
            "7e1111117e7f494949363e414141227f4141221c7f494949417f090909017f0808087f7f08142241"
            "7f404040407f020c027f7f0408107f3e4141413e7f09192946464949493101017f01013f4040403f"
        ),
        np.uint8,
    ).reshape(-1, 5, 1),
    axis=2,
)[:, :, 1:]


def unit(signal: NDArray[np.complexfloating] | Real) -> Signal:
    """Scale to unit mean power."""
    return (signal / np.sqrt(np.mean(np.abs(signal) ** 2))).astype(np.complex64)


def psk(rng: Generator, shape: int | tuple[int, ...], order: int = 4) -> Complex:
    """Random PSK symbols."""
    return np.exp(2j * np.pi * (rng.integers(order, size=shape) + 0.5) / order)


def qam(rng: Generator, shape: int | tuple[int, ...], side: int = 4) -> Complex:
    """Random square QAM symbols of unit power."""
    levels = 2 * rng.integers(side, size=(2, *np.atleast_1d(shape))) - side + 1
    return (levels[0] + 1j * levels[1]) / np.sqrt(2 * (side**2 - 1) / 3)


def interpolate(symbols: Complex, count: int, response: Callable[[Real], Real | Complex]) -> Complex:
    """Spread symbols evenly over count samples through a response in cycles per symbol (circular)."""
    bins = np.rint(fftfreq(count) * count).astype(int)
    return ifft(fft(symbols)[bins % symbols.size] * response(bins / symbols.size)) * count / symbols.size


def rrc(symbols: Complex, count: int, rolloff: float) -> Complex:
    """Root-raised-cosine shaping of symbols spread over count samples."""

    def response(cycles: Real) -> Real:
        return np.cos(np.pi / 2 * np.clip((abs(cycles) - 0.5) / rolloff + 0.5, 0, 1))

    return interpolate(symbols, count, response)


def lowpass(signal: Complex, bandwidth: float) -> Complex:
    """Circular low-pass to a two-sided bandwidth with soft edges."""
    edge = np.clip((bandwidth / 2 - abs(fftfreq(signal.size))) / (0.1 * bandwidth), 0, 1)
    return ifft(fft(signal) * np.sin(np.pi / 2 * edge) ** 2)


def pulse(phase: Real, edge: float) -> Real:
    """Pulse over phases 0 to 1 with raised-cosine edges, zero outside."""
    return np.sin(np.pi / 2 * np.clip(np.minimum(phase, 1 - phase) / edge, 0, 1)) ** 2
