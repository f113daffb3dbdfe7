"""The receiver: noise, a mixer that is not quite even, a direct current, and a converter.

    y = gain (x + w),    z = a y + b conj(y) + dc,    a = (1 + g exp(j phi)) / 2,    b = 1 - conj(a)
    out = round(z 2^(bits-1)) / 2^(bits-1)

w has unit power; g and phi are the gain and phase of Q against I.
"""

import numpy as np

from streaming.block import Samples
from training.signals.conditions import Conditions


class Receiver:
    """One receiver's faults, drawn once; `level` is the power that its gain brings to 1/16 of full scale."""

    def __init__(self, conditions: Conditions, level: float, rng: np.random.Generator) -> None:
        self.rng = rng
        gain = 10 ** (rng.uniform(-1, 1) * conditions.imbalance_db / 20)
        turned = gain * np.exp(1j * np.deg2rad(rng.uniform(-1, 1) * conditions.imbalance_deg))
        self.straight, self.mirrored = (1 + turned) / 2, (1 - np.conj(turned)) / 2
        self.dc = rng.uniform(0, conditions.dc) * np.exp(2j * np.pi * rng.random())
        self.gain = np.float32(0.25 / np.sqrt(level))
        self.steps = 2.0 ** (conditions.bits - 1) if conditions.bits else 0.0

    def push(self, x: Samples) -> Samples:
        """What the converter gives."""
        noise = self.rng.standard_normal(2 * len(x), dtype=np.float32) * np.float32(np.sqrt(0.5))
        y = (x + noise.view(np.complex64)) * self.gain
        if self.mirrored:
            y = np.complex64(self.straight) * y + np.complex64(self.mirrored) * y.conj()
        y += np.complex64(self.dc)
        if self.steps:
            parts = y.view(np.float32)
            np.rint(np.multiply(parts, self.steps, out=parts), out=parts)
            np.clip(parts, -self.steps, self.steps - 1, out=parts)
            parts /= self.steps
        return y
