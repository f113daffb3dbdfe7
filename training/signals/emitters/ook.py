"""On-off keying: remote controls, sensors, transponders, Morse.

    y(t) = (leak + (1 - leak) s(t)^bend) exp(2 pi j int pull (s - lag(s)))

s is the keyed level behind the transmitter's rise time; an oscillator that is keyed itself is pulled at
each key-on, by far more than its symbol rate where it is an LC circuit. A supply or a matching network may
ring at each edge, and a resonator decay slowly behind each pulse.
"""

from dataclasses import dataclass, replace

import numpy as np

from streaming.block import Samples
from training.signals.classes import log_uniform
from training.signals.emitters.bursts import Range
from training.signals.emitters.emitter import Reals, Spans, Wave
from training.signals.emitters.keying import ENDLESS, Keying, draw_keying
from training.signals.emitters.ook_devices import ANY, DEVICES
from training.signals.emitters.shapes import half_cosine
from training.signals.emitters.waves import filtered, gate, steps
from training.signals.phasor import phasor


@dataclass(frozen=True)
class Ook:
    """One device with its settings."""

    title: str
    keying: Keying
    symbol_rate_hz: float
    rise: float  # from 10 to 90 %, in chips; 0 for a hard switch
    gentle: bool  # rises as a capacitor charges, not as a cosine
    bend: float  # power law of the amplifier: rise and fall differ
    leak: float  # level between pulses
    pull: tuple[float, float] | None = None  # at key-on: in symbol rates, and its time constant in chips
    ring: tuple[float, float] | None = None  # of edges: in symbol rates, and how many cycles it lasts
    tail: tuple[float, float] | None = None  # behind a pulse: its level, and its time constant in chips
    oversampling: Range = (1.2, 250.0)  # its skirts are wide

    @property
    def width_hz(self) -> float:
        """The main lobe; hard edges make the spectrum wider."""
        return 2 * self.symbol_rate_hz

    @property
    def settings(self) -> str:
        """Title, chip, code and edges."""
        k = self.keying
        frame = "steady" if np.isinf(k.bits) else f"{k.bits:.0f} bits, {k.repeats} times"
        chip_us = 1e6 / self.symbol_rate_hz
        return f"{self.title}, {k.code}, chips of {chip_us:.4g} us, {frame}, rise {self.rise:.2g} chips"

    def make(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Wave:
        """Keyed carrier; a frame is a burst, from its first pulse to its last."""
        chip = rate_hz / self.symbol_rate_hz
        times, levels, bursts = [np.zeros(1)], [np.zeros(1)], Spans()
        for frame in self.keying.frames(rng, samples / chip):
            edges = chip * frame.edges
            times.append(edges)
            levels.append(np.append(frame.levels, 0.0))
            on = np.flatnonzero(frame.levels)
            begin, end = edges[on[0]], edges[on[-1] + 1]
            if end >= 1 and begin < samples - 1:
                bursts.append((max(0, int(begin)), min(samples, int(np.ceil(end)))))
        level = steps(np.concatenate(times), np.concatenate(levels), samples).astype(np.float32)
        x = self.keyed(level, chip)
        return Wave(x * gate(bursts, samples, 0) if self.leak else x, bursts)

    def keyed(self, level: Reals, chip: float) -> Samples:
        """The carrier behind the transmitter's edges."""
        rise = np.float32(self.rise * chip)
        if rise > 1 and self.gentle:  # one pole: 10 to 90 % in 2.2 time constants
            level = filtered(level, lambda f: 1 / (1 + 2j * np.pi * f * (rise / np.float32(2.2))))
        elif rise > 1:  # a cosine edge: 10 to 90 % in 0.59 of its length
            level = filtered(level, lambda f: half_cosine(f * (rise / np.float32(0.59))))
        if self.ring:
            own, cycles = np.float32(self.ring[0] / chip), np.float32(self.ring[1])
            level = filtered(level, lambda f: 1 / (1 - (f / own) ** 2 + 1j * f / (own * cycles)))
        smooth = np.clip(level, 0, 2) ** np.float32(self.bend)
        if self.tail:
            share, length = np.float32(self.tail[0]), np.float32(2 * np.pi * self.tail[1] * chip)
            smooth = np.maximum(smooth, share * filtered(level, lambda f: 1 / (1 + 1j * f * length)))
        out = (self.leak + (1 - self.leak) * smooth).astype(np.complex64)
        if self.pull:
            by, slow = self.pull[0] / chip, np.float32(2 * np.pi * self.pull[1] * chip)
            lag = filtered(level, lambda f: 1 / (1 + 1j * f * slow))
            out *= phasor(np.cumsum((level - lag) * by, dtype=np.float64))
        return out


def draw_ook(rng: np.random.Generator) -> Ook:
    """A device that exists, or any."""
    device = DEVICES[int(rng.integers(len(DEVICES)))]
    if rng.random() < 0.35:
        device = replace(ANY, bits=ENDLESS) if rng.random() < 0.4 else ANY
    keying = draw_keying(
        rng, device.codes, device.bits, device.repeats, device.gap, device.pause, device.heads
    )
    return Ook(
        device.title,
        keying,
        1 / log_uniform(rng, *device.chip_s),
        rise=0.0 if rng.random() < 0.35 else log_uniform(rng, *device.rise),
        gentle=rng.random() < 0.5,
        bend=rng.uniform(0.6, 2) if rng.random() < 0.3 else 1.0,
        leak=10 ** rng.uniform(-2.5, -1) if rng.random() < 0.2 else 0.0,
        pull=draw_pull(rng) if rng.random() < 0.3 else None,
        ring=(log_uniform(rng, 2, 30), rng.uniform(0.7, 6)) if rng.random() < 0.15 else None,
        tail=(log_uniform(rng, 0.03, 0.4), log_uniform(rng, 0.1, 3)) if rng.random() < 0.15 else None,
    )


def draw_pull(rng: np.random.Generator) -> tuple[float, float]:
    """How far a keyed oscillator moves, in symbol rates, and how slowly, in chips."""
    return float(rng.choice([-1, 1])) * log_uniform(rng, 0.1, 10), log_uniform(rng, 0.1, 10)
