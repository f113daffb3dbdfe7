"""Bare carriers: spurs, beacons, open microphones; clean, or with hum. And nothing at all."""

from dataclasses import dataclass

import numpy as np

from training.signals.classes import log_uniform
from training.signals.emitters.bursts import Range
from training.signals.emitters.emitter import Wave
from training.signals.phasor import phasor


@dataclass(frozen=True)
class Carrier:
    """One oscillator; its width is what its drift and phase noise are stated in."""

    level: float  # 0 for nothing
    width_hz: float
    hum_hz: float  # residual AM and FM by the mains, 0 for none
    hum_depth: float
    hum_deviation_hz: float
    symbol_rate_hz: float = np.nan
    oversampling: Range = (48.0, 50.0)

    @property
    def settings(self) -> str:
        """Hum, if any."""
        if not self.level:
            return "nothing"
        return f"carrier, hum of {self.hum_hz:g} Hz" if self.hum_hz else "carrier"

    def make(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Wave:
        """The oscillator, or zeros."""
        if not self.level:
            return Wave(np.zeros(samples, np.complex64), [])
        if not self.hum_hz:
            return Wave(np.ones(samples, np.complex64), [(0, samples)])
        hum = np.sin(2 * np.pi * (self.hum_hz / rate_hz * np.arange(samples) + rng.random()))
        x = phasor(np.cumsum(hum) * (self.hum_deviation_hz / rate_hz))
        return Wave(x * (1 + self.hum_depth * hum).astype(np.float32), [(0, samples)])


def draw_carrier(rng: np.random.Generator) -> Carrier:
    """Clean in half of the cases."""
    hum_hz = float(rng.choice([50, 60, 100, 120])) if rng.random() < 0.5 else 0.0
    return Carrier(1.0, draw_width(rng), hum_hz, log_uniform(rng, 1e-3, 0.05), log_uniform(rng, 0.1, 10))


def draw_nothing(rng: np.random.Generator) -> Carrier:
    """For a receiver of any rate."""
    return Carrier(0.0, draw_width(rng), 0.0, 0.0, 0.0)


def draw_width(rng: np.random.Generator) -> float:
    """A fiftieth of what receivers take in."""
    return log_uniform(rng, 200, 400e3)
