"""Levels: what makes the encoder see unit power, for streams and for frames.

A stream cannot look ahead, so its gain follows a one-pole average of the power,

    y[n] = x[n] / sqrt(p[n]),    p[n] = sum_m a^m (|x[n-m]|^2 + floor) / sum_m a^m,    a = exp(-1 / samples)

over the samples since the reset, in float64. The denominator, (1 - a^(n+1)) / (1 - a), makes the average
unbiased from the first sample on. The floor keeps silence silent, and the average away from denormal numbers,
which are slow.

A frame is divided by its root mean square, whose logarithm a head may see instead.

>>> Agc(samples=10_000).push(np.full(4, 0.5j, np.complex64)).round(3)
array([0.+1.j, 0.+1.j, 0.+1.j, 0.+1.j], dtype=complex64)
"""

import math
import struct
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples, describe
from streaming.errors import ConfigError, InputError

FLOOR = 1e-12  # 120 dB below full scale: a 16-bit receiver's own noise lies above it
PIECE = (
    16_384  # samples whose float64 temporaries stay in the cache: 3 times as fast as long blocks in one go
)
STATE = struct.Struct("<4sddqd")
MAGIC = b"WAG1"


class Agc:
    """The causal automatic gain control; `samples` is its time constant."""

    def __init__(self, samples: float, floor: float = FLOOR) -> None:
        if not 1 <= samples < math.inf:
            raise ConfigError(f"agc.samples is {samples!r}; it must be at least 1")
        if not 0 < floor < math.inf:
            raise ConfigError(f"agc.floor is {floor!r}; it must be above 0")
        self.samples, self.floor = float(samples), float(floor)
        self.reset()

    def reset(self) -> None:
        """Forget the level."""
        self._seen = 0  # samples since the reset
        self._carry = 0.0  # a times the filter's last output

    def push(self, samples: Samples) -> Samples:
        """(T,) to (T,), at unit power."""
        out = np.empty_like(samples)
        seen, carry = self._seen, self._carry
        for i in range(0, len(samples), PIECE):
            carry = self._piece(samples[i : i + PIECE], out[i : i + PIECE], seen + i, carry)
        self._seen, self._carry = seen + len(samples), carry
        return out

    def _piece(self, x: Samples, out: Samples, seen: int, carry: float) -> float:
        re, im = x.real.astype(np.float64), x.imag.astype(np.float64)
        power = re * re  # (T,)
        power += im * im
        power += self.floor
        rest = -math.expm1(-1 / self.samples)  # 1 - a
        power, carry = one_pole(power, rest, carry)
        if seen < 40 * self.samples:  # beyond, a^(n+1) is below a float64's last bit
            power /= -np.expm1(np.arange(seen + 1, seen + len(x) + 1) / -self.samples)
        gain = 1 / np.sqrt(power)
        np.multiply(re, gain, out=out.real, casting="same_kind")
        np.multiply(im, gain, out=out.imag, casting="same_kind")
        return carry

    def save(self) -> bytes:
        """The state, for `restore`."""
        return STATE.pack(MAGIC, self.samples, self.floor, self._seen, self._carry)

    def restore(self, state: bytes) -> None:
        """Go on from a saved state."""
        if len(state) != STATE.size or state[:4] != MAGIC:
            raise InputError("the state is not one that an AGC saved")
        _, samples, floor, seen, carry = STATE.unpack(state)
        if (samples, floor) != (self.samples, self.floor):
            raise InputError(
                f"the state is of an AGC with samples {samples:g} and floor {floor:g}; "
                f"expected {self.samples:g} and {self.floor:g}"
            )
        self._seen, self._carry = seen, carry


def one_pole(x: NDArray[np.float64], rest: float, carry: float) -> tuple[NDArray[np.float64], float]:
    """p[n] = rest x[n] + a p[n-1], a = 1 - rest, and a times its last value; `carry` is that of before."""
    a = 1 - rest
    x = rest * x
    x[:1] += carry
    # A loop in Python takes some hundredths of the time that the encoder does.
    p = np.fromiter(accumulate(x.tolist(), lambda before, new: new + a * before), np.float64, len(x))
    return p, a * float(p[-1])


def normalise(frames: Samples) -> Samples:
    """Frames (..., T), each divided by its root mean square; a frame of zeros stays one."""
    power = mean_power(frames)
    rms = np.sqrt(np.where(power > 0, power, 1.0))
    return (frames / rms).astype(np.complex64)


def log_rms(frames: Samples) -> NDArray[np.float32]:
    """The natural logarithm (..., 1) of each frame's root mean square; silence is at the floor.

    >>> log_rms(np.full((1, 8), 2, np.complex64)).round(3)
    array([[0.693]], dtype=float32)
    """
    return np.asarray(np.log(mean_power(frames) + FLOOR) / 2, np.float32)


def mean_power(frames: Samples) -> NDArray[np.float64]:
    """Mean power (..., 1) of frames (..., T)."""
    if (
        not isinstance(frames, np.ndarray)
        or frames.dtype != np.complex64
        or frames.ndim == 0
        or frames.shape[-1] == 0
    ):
        raise InputError(f"frames are {describe(frames)}; expected complex64 of shape (..., samples)")
    power: NDArray[np.float64] = np.square(np.abs(frames.astype(np.complex128))).mean(-1, keepdims=True)
    if not np.isfinite(power).all():
        raise InputError("frames contain NaN or infinity")
    return power
