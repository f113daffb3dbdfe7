"""Chirps: LoRa frames, and the sweeps of radars and beacons.

f(u) = B ((s / 2^SF + u) mod 1 - 1/2),    u = 0..1 over a symbol of 2^SF / B seconds
"""

from dataclasses import dataclass

import numpy as np

from training.signals.classes import log_uniform
from training.signals.emitters.bursts import Bursts, Range
from training.signals.emitters.emitter import USUAL, Floats, Wave
from training.signals.emitters.waves import gate
from training.signals.phasor import phasor

LORA_HZ = (
    7.8e3,
    10.4e3,
    15.6e3,
    20.8e3,
    31.25e3,
    41.7e3,
    62.5e3,
    125e3,
    250e3,
    500e3,
    203e3,
    406e3,
    812e3,
    1625e3,
)


@dataclass(frozen=True)
class Lora:
    """Frames: a preamble of up-chirps, two of the sync word, 2.25 down-chirps, data."""

    spreading: int
    width_hz: float
    inverted: bool  # a gateway's downlink
    preamble: int
    payload: int
    oversampling: Range = USUAL

    @property
    def symbol_rate_hz(self) -> float:
        """Chirps per second."""
        return self.width_hz / 2.0**self.spreading

    @property
    def settings(self) -> str:
        """Spreading factor and bandwidth."""
        return f"LoRa SF{self.spreading}, {self.width_hz / 1e3:g} kHz{', inverted' if self.inverted else ''}"

    def make(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Wave:
        """Frames with pauses; the phase does not jump within one."""
        symbol = rate_hz / self.symbol_rate_hz
        length = (self.preamble + 4.25 + self.payload) / self.symbol_rate_hz
        bursts = Bursts((length, length), (length * 0.2, length * 5)).draw(rng, rate_hz, samples)
        frequency = np.zeros(samples)
        for begin, end in bursts:
            ahead = max(0.0, length * rate_hz - (end - begin)) if begin == 0 else 0.0
            if begin == 0 and rng.random() < 0.5:
                ahead = 0.0
            frequency[begin:end] = self.frame(rng, (np.arange(float(end - begin)) + ahead) / symbol)
        sign = -1.0 if self.inverted else 1.0
        x = phasor(np.cumsum(frequency) * (sign * self.width_hz / rate_hz))
        return Wave(x * gate(bursts, samples, 0.02 * symbol), bursts)

    def frame(self, rng: np.random.Generator, times: Floats) -> Floats:
        """Frequency in bandwidths at these times, counted in symbols from the frame's begin."""
        down = self.preamble + 2
        data = down + 2.25
        late = times >= data
        whole = np.floor(times - np.where(late, 0.25, 0.0)).astype(np.int64)  # data follow a quarter later
        values = rng.integers(0, 2**self.spreading, self.preamble + self.payload + 8) / 2.0**self.spreading
        values[: self.preamble] = 0
        values[self.preamble : down] = [8 / 2**self.spreading, 16 / 2**self.spreading]
        values[down : down + 2] = 0
        part = times - whole - np.where(late, 0.25, 0.0)
        sweep = (values[np.minimum(whole, len(values) - 1)] + part) % 1.0 - 0.5
        falling = (times >= down) & ~late
        return np.where(falling, 0.5 - part % 1.0, sweep)


@dataclass(frozen=True)
class Sweep:
    """A frequency that runs to and fro, or up and at once back."""

    title: str
    width_hz: float
    symbol_rate_hz: float  # sweeps per second
    triangle: bool
    falling: bool
    duty: float  # share of a period with a sweep
    oversampling: Range = USUAL

    @property
    def settings(self) -> str:
        """Title, width and period."""
        return f"{self.title}, {self.width_hz:.4g} Hz, {self.symbol_rate_hz:.4g} sweeps per second"

    def make(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Wave:
        """Sweeps without an end, or pulses with pauses."""
        period = rate_hz / self.symbol_rate_hz
        place = (np.arange(samples) / period + rng.uniform(0, self.duty)) % 1.0  # from amid a sweep on
        part = np.minimum(place / self.duty, 1.0)
        frequency = np.abs(2 * part - 1) - 0.5 if self.triangle else part - 0.5
        x = phasor(np.cumsum(-frequency if self.falling else frequency) * (self.width_hz / rate_hz))
        if self.duty == 1.0:
            return Wave(x, [(0, samples)])
        edge = np.diff(np.concatenate([[0], place < self.duty, [0]]).astype(np.int8))
        bursts = list(zip(np.flatnonzero(edge > 0).tolist(), np.flatnonzero(edge < 0).tolist(), strict=True))
        return Wave(x * (place < self.duty).astype(np.float32), bursts)


def draw_chirp(rng: np.random.Generator) -> Lora | Sweep:
    """LoRa in two thirds of the cases."""
    if rng.random() < 0.67:
        width = float(rng.choice(LORA_HZ)) if rng.random() < 0.8 else log_uniform(rng, 5e3, 2e6)
        preamble, payload = int(rng.integers(6, 17)), int(log_uniform(rng, 8, 120))
        return Lora(int(rng.integers(5, 13)), width, rng.random() < 0.2, preamble, payload)
    width = log_uniform(rng, 2e3, 10e6)
    title, rate_hz, duty = "FMCW radar", log_uniform(rng, 20, 5000), 1.0
    if rng.random() < 0.3:
        title, width, rate_hz = "HF radar, ionosonde", log_uniform(rng, 5e3, 100e3), log_uniform(rng, 2, 100)
    elif rng.random() < 0.4:
        title, duty = "pulse compression radar", rng.uniform(0.1, 0.6)
    rate_hz = float(np.clip(rate_hz, width / 2e4, width / 20))
    return Sweep(title, width, rate_hz, rng.random() < 0.3, bool(rng.integers(2)), duty)
