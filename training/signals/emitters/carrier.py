"""Bare carriers: spurs, beacons, open microphones; steady, drifting, or with hum. And nothing at all."""

from dataclasses import dataclass

import numpy as np

from training.signals.classes import log_uniform
from training.signals.emitters.emitter import Wave
from training.signals.phasor import phasor


@dataclass(frozen=True)
class Carrier:
    """One oscillator; hum is residual AM and FM at the mains' frequency and its double."""

    level: float  # 0 for nothing
    hum_hz: float
    hum_depth: float
    hum_deviation_hz: float
    symbol_rate_hz: float = np.nan
    width_hz: float = 200.0
    oversampling: tuple[float, float] = (48.0, 1e5)

    @property
    def settings(self) -> str:
        """Hum, if any."""
        if not self.level:
            return "nothing"
        return f"carrier, hum of {self.hum_hz:g} Hz" if self.hum_depth else "carrier"

    def make(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Wave:
        """The oscillator, or zeros."""
        if not self.level:
            return Wave(np.zeros(samples, np.complex64), [])
        x = np.ones(samples, np.complex64)
        if self.hum_depth:
            hum = np.sin(2 * np.pi * self.hum_hz / rate_hz * np.arange(samples) + rng.uniform(0, 6.3))
            x = phasor(np.cumsum(hum) * (self.hum_deviation_hz / rate_hz))
            x *= (1 + self.hum_depth * hum).astype(np.float32)
        return Wave(x, [(0, samples)])


def draw_carrier(rng: np.random.Generator) -> Carrier:
    """Clean in half of the cases."""
    if rng.random() < 0.5:
        return Carrier(1.0, 0.0, 0.0, 0.0)
    return Carrier(
        1.0, float(rng.choice([50, 60, 100, 120])), log_uniform(rng, 1e-3, 0.05), log_uniform(rng, 0.1, 10)
    )


NOTHING = Carrier(0.0, 0.0, 0.0, 0.0)
