"""Phases to points of the unit circle: exp(2 pi j turns)."""

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples


def phasor(turns: NDArray[np.float64]) -> Samples:
    """exp(2 pi j turns) in single precision; whole turns are taken off first, in double."""
    angle = ((turns - np.rint(turns)) * (2 * np.pi)).astype(np.float32)
    out = np.empty(angle.shape, np.complex64)
    out.real, out.imag = np.cos(angle), np.sin(angle)
    return out
