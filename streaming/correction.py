"""Correction of a receiver's direct current and of its uneven I and Q.

    y = x - dc,    out = y - w conj(y),    w = c / (1 + sqrt(1 - |c|^2)),    c = E[y^2] / E[|y|^2]

Noise from the air has no direct current and no preferred direction (E[y^2] = 0), so whatever mean and c it
shows are the receiver's (Anttila, Valkama, Renfors 2008). A signal may well have both - a carrier at zero,
BPSK, AM - so `learn` is given stretches without a signal only, and nothing is corrected before enough.
"""

import math

import numpy as np

from streaming.block import Samples
from streaming.errors import ConfigError

ENOUGH = 16_384  # samples of noise: c is then known to 1 %, an image 46 dB down


class Correction:
    """`learn` from noise, `push` everything; `samples` is how far back it remembers."""

    def __init__(self, samples: float = 1e6) -> None:
        if not ENOUGH <= samples < math.inf:
            raise ConfigError(f"correction.samples is {samples!r}; it must be at least {ENOUGH:,}")
        self.samples = samples
        self.reset()

    def reset(self) -> None:
        """Forget the receiver."""
        self._weight = 0.0  # samples learnt from, the old ones counting less
        self._sum = self._square = 0j
        self._power = 0.0

    @property
    def known(self) -> bool:
        """Whether enough was seen."""
        return self._weight >= ENOUGH

    @property
    def dc(self) -> complex:
        """The direct current, 0 until enough was seen."""
        return self._sum / self._weight if self.known else 0j

    @property
    def image(self) -> complex:
        """w, 0 until enough was seen."""
        if not self.known:
            return 0j
        mean = self._sum / self._weight
        power = self._power / self._weight - abs(mean) ** 2
        if power <= 0:  # a stream of one constant has no direction
            return 0j
        c = (self._square / self._weight - mean**2) / power
        return c / (1 + math.sqrt(max(0.0, 1 - abs(c) ** 2)))

    def learn(self, noise: Samples) -> None:
        """Take in a stretch that holds no signal, as it came from the receiver."""
        keep = math.exp(-len(noise) / self.samples)
        exact = noise.astype(np.complex128)
        self._weight = keep * self._weight + len(noise)
        self._sum = keep * self._sum + complex(exact.sum())
        self._square = keep * self._square + complex(np.square(exact).sum())
        self._power = keep * self._power + float(np.vdot(exact, exact).real)

    def push(self, samples: Samples) -> Samples:
        """(T,) to (T,), corrected by what was learnt before."""
        if not self.known:
            return samples
        out = samples - np.complex64(self.dc)
        # By parts: numpy's complex product may round the last samples of an array otherwise than the rest.
        w = self.image
        real, imag = np.float32(w.real), np.float32(w.imag)
        corrected = np.empty_like(out)
        corrected.real = out.real - (real * out.real + imag * out.imag)
        corrected.imag = out.imag - (imag * out.real - real * out.imag)
        return corrected
