"""Higher-order cumulants of a frame: the classical features that any learnt ones must beat.

With moments M_pq = E[r^(p-q) conj(r)^q] of a frame at unit power, in the notation of Swami and Sadler,

    C20 = M20                       C60 = M60 - 15 M20 M40 + 30 M20^3
    C40 = M40 - 3 M20^2             C61 = M61 - 5 M21 M40 - 10 M20 M41 + 30 M20^2 M21
    C41 = M41 - 3 M20 M21           C63 = M63 - 9 M21 M42 + 12 M21^3 - 6 Re(conj(M20) M41) + 18 |M20|^2 M21
    C42 = M42 - |M20|^2 - 2 M21^2

and M80, the eighth moment, the first in which 8-PSK has a line. Gaussian noise has no cumulant above C21.
"""

import numpy as np
from numpy.typing import NDArray

from streaming.agc import log_rms, normalise
from streaming.block import Samples


def cumulants(frames: Samples) -> NDArray[np.float32]:
    """Frames (n, N) to features (n, 17): real and imaginary parts, and magnitudes that no phase changes."""
    r = normalise(np.ascontiguousarray(frames)).astype(np.complex128)
    r2, energy = r * r, np.square(np.abs(r))
    m20, m21 = r2.mean(1), energy.mean(1)
    m40, m41, m42 = (r2**2).mean(1), (r2 * energy).mean(1), (energy**2).mean(1)
    m60, m61, m63 = (r2**3).mean(1), (r2**2 * energy).mean(1), (energy**3).mean(1)
    m80 = (r2**4).mean(1)
    c40 = m40 - 3 * m20**2
    c41 = m41 - 3 * m20 * m21
    c42 = m42 - np.abs(m20) ** 2 - 2 * m21**2
    c60 = m60 - 15 * m20 * m40 + 30 * m20**3
    c61 = m61 - 5 * m21 * m40 - 10 * m20 * m41 + 30 * m20**2 * m21
    c63 = m63 - 9 * m21 * m42 + 12 * m21**3 - 6 * (m20.conj() * m41).real + 18 * np.abs(m20) ** 2 * m21
    turning = np.stack([m20, c40, c41, c60, c61, m80], 1)  # (n, 6)
    still = np.stack([c42, c63, np.abs(r).mean(1), np.abs(m40), np.abs(m80)], 1)  # (n, 5)
    return np.concatenate([turning.real, turning.imag, still], 1).astype(np.float32)


def cumulants_and_level(frames: Samples) -> NDArray[np.float32]:
    """The same, and the logarithm of the frame's RMS, (n, 18)."""
    return np.hstack([cumulants(frames), log_rms(np.ascontiguousarray(frames))])
