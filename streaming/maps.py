"""Input maps: what an encoder may see of its samples beside I and Q, causal and a few operations each.

With the amplitude a = sqrt(|x|^2 + 1e-12), the phasor u = x / a and the compressed samples z = x / sqrt(a),

    iq          x                       amplitude   a
    phase       u                       level       log(|x|^2 + 0.001) / 2
    square      x u                     increment   u[n] conj(u[n-1])
    fourth      x u^3                   delayL      z[n] conj(z[n-L]),   L = 1, 2, 4, 8, 16

with zeros before the first sample. Powers and delayed products are at the level of the samples, not of their
powers, so that a peak does not drown the rest. The complex ones have two channels.

>>> expand(np.array([1, 1j], np.complex64), ("amplitude", "increment")).round(3)
array([[1., 0., 0.],
       [1., 0., 1.]], dtype=float32)
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples

InputMap = Literal[
    "iq",
    "phase",
    "square",
    "fourth",
    "amplitude",
    "level",
    "increment",
    "delay1",
    "delay2",
    "delay4",
    "delay8",
    "delay16",
]
SMALLEST = 1e-12  # power that keeps a division finite
QUIETEST = 1e-3  # power that the level falls to: 30 dB below a signal of unit power
Floats = NDArray[np.float32]
LAGS = {"increment": 1, "delay1": 1, "delay2": 2, "delay4": 4, "delay8": 8, "delay16": 16}  # samples


def channels(maps: Sequence[InputMap]) -> int:
    """How many channels these maps have; none of them means I and Q."""
    return sum(1 if name in ("amplitude", "level") else 2 for name in maps or ("iq",))


def longest_lag(maps: Sequence[InputMap]) -> int:
    """How many samples before the present one these maps see."""
    return max((LAGS.get(name, 0) for name in maps), default=0)


def expand(samples: Samples, maps: Sequence[InputMap]) -> Floats:
    """Samples (..., T) to the channels of these maps (..., T, C)."""
    x: Samples = np.ascontiguousarray(samples, np.complex64)
    if not maps:
        return _pairs(x)
    power = np.square(x.real) + np.square(x.imag)
    amplitude = np.sqrt(power + np.float32(SMALLEST))
    parts = []
    for name in maps:
        if name == "amplitude":
            parts.append(amplitude[..., None])
        elif name == "level":
            parts.append(np.log(power + np.float32(QUIETEST))[..., None] / 2)
        else:
            parts.append(_pairs(_complex_map(name, x, amplitude)))
    return np.concatenate(parts, -1)


def _complex_map(name: InputMap, x: Samples, amplitude: Floats) -> Samples:
    if name == "iq":
        return x
    if name in LAGS:
        factor = _over(x, amplitude if name == "increment" else np.sqrt(amplitude))
        later, lag = np.zeros_like(factor), LAGS[name]
        later[..., lag:] = factor[..., lag:] * factor[..., :-lag].conj()
        return later
    phasor = _over(x, amplitude)
    turned = {"phase": phasor, "square": x * phasor, "fourth": x * phasor * phasor * phasor}
    return turned[name]


def _over(x: Samples, divisor: Floats) -> Samples:
    return np.divide(x, divisor, dtype=np.complex64)


def _pairs(x: Samples) -> Floats:
    return x.view(np.float32).reshape(*x.shape, 2)
