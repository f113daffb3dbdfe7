"""On-off keying: remote controls, sensors, transponders, Morse.

    y(t) = (leak + (1 - leak) s(t)) exp(2 pi j int pull (s - lag(s)))

s is the keyed level behind the transmitter's rise time; an oscillator that is keyed itself is pulled at
each key-on.
"""

from dataclasses import dataclass

import numpy as np

from training.signals.classes import log_uniform
from training.signals.emitters.bursts import Range
from training.signals.emitters.emitter import Reals, Spans, Wave
from training.signals.emitters.keying import ENDLESS, Keying, draw_keying
from training.signals.emitters.waves import filtered, steps
from training.signals.phasor import phasor


@dataclass(frozen=True)
class Device:
    """What a kind of device sends; `chip_s` is its shortest pulse."""

    title: str
    chip_s: Range
    codes: str
    bits: Range
    repeats: tuple[int, int] = (1, 1)
    gap: Range = (5, 50)  # chips
    pause: Range = (50, 5000)  # chips
    rise: Range = (0.005, 0.2)  # chips


DEVICES = (
    Device("remote control (PT2262, EV1527)", (100e-6, 600e-6), "width", (12, 32), (4, 20), (20, 40)),
    Device("rolling code (KeeLoq HCS301)", (200e-6, 400e-6), "width", (66, 69), (1, 4), (30, 80)),
    Device("weather sensor", (250e-6, 1100e-6), "position gap width", (32, 48), (3, 12), (6, 20)),
    Device("weather sensor (Oregon)", (450e-6, 500e-6), "manchester", (64, 200), (1, 2), (10, 40)),
    Device("tyre pressure sensor", (40e-6, 130e-6), "manchester differential", (60, 110), (1, 6), (50, 500)),
    Device("car key", (100e-6, 600e-6), "manchester width", (40, 128), (2, 8), (10, 60)),
    Device("blinds (Somfy RTS)", (590e-6, 660e-6), "manchester", (56, 80), (2, 7), (30, 60)),
    Device("switched socket (KlikAanKlikUit, X10)", (200e-6, 600e-6), "position", (32, 64), (2, 8), (10, 80)),
    Device("garage door (fixed code)", (300e-6, 2000e-6), "width nrz", (8, 25), (3, 20), (10, 40)),
    Device("meter (ERT)", (29e-6, 32e-6), "manchester", (96, 736), (1, 1), (5, 50), (500, 50_000)),
    Device("alarm contact", (50e-6, 150e-6), "manchester width", (40, 80), (3, 10), (20, 200)),
    Device("EnOcean ERP 1", (8e-6, 8e-6), "nrz", (70, 170), (2, 3), (500, 4000), (1000, 50_000)),
    Device("ISM chip (CC1101, SX1231, RFM)", (4e-6, 800e-6), "nrz manchester", (80, 600), (1, 3)),
    Device(
        "Mode S, ADS-B", (0.5e-6, 0.5e-6), "manchester", (56, 112), (1, 1), (5, 50), (100, 8000), (0.05, 0.3)
    ),
    Device("Mode A/C", (0.45e-6, 0.45e-6), "rz gap", (12, 14), (1, 1), (5, 50), (60, 6000), (0.05, 0.3)),
    Device("Morse, 5 to 50 words a minute", (24e-3, 240e-3), "morse", (ENDLESS, ENDLESS), rise=(0.01, 0.3)),
)
ANY_CODE = "nrz nrz manchester differential rz width gap position"


@dataclass(frozen=True)
class Ook:
    """One device with its settings."""

    title: str
    keying: Keying
    symbol_rate_hz: float
    rise: float  # chips; 0 for a hard switch
    gentle: bool  # rises as a capacitor charges, not as a cosine
    bend: float  # power law of the amplifier: rise and fall differ
    leak: float  # level between pulses
    pull: float  # chips of frequency at key-on, in symbol rates

    @property
    def width_hz(self) -> float:
        """The main lobe, and more where hard edges widen the spectrum."""
        return 2 * self.symbol_rate_hz

    @property
    def settings(self) -> str:
        """Title, chip, code and edges."""
        k = self.keying
        frame = "steady" if np.isinf(k.bits) else f"{k.bits:.0f} bits, {k.repeats} times"
        chip_us = 1e6 / self.symbol_rate_hz
        return f"{self.title}, {k.code}, chips of {chip_us:.4g} us, {frame}, rise {self.rise:.2g} chips"

    def make(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Wave:
        """Keyed carrier."""
        chip = rate_hz / self.symbol_rate_hz
        times, levels, bursts = [np.zeros(1)], [np.zeros(1)], Spans()
        for frame in self.keying.frames(rng, samples / chip):
            edges = chip * (frame.begin + np.cumsum(np.append(0.0, frame.durations)))
            times.append(edges)
            levels.append(np.append(frame.levels, 0.0))
            on = edges[:-1][frame.levels > 0]
            off = edges[1:][frame.levels > 0]
            if on.size and off[-1] >= 1 and on[0] < samples - 1:
                bursts.append((max(0, int(on[0])), min(samples, int(np.ceil(off[-1])))))
        level = steps(np.concatenate(times), np.concatenate(levels), samples).astype(np.float32)
        return Wave(self.keyed(level, chip), bursts)

    def keyed(self, level: Reals, chip: float) -> np.ndarray[tuple[int], np.dtype[np.complex64]]:
        """The carrier behind the transmitter's edges."""
        if self.rise * chip > 1:
            tau = np.float32(2 * np.pi * self.rise * chip / 2.2)  # of 10 to 90 %
            spread = self.rise * chip * 0.6
            if self.gentle:
                level = filtered(level, lambda f: 1 / (1 + 1j * f * tau))
            else:
                level = filtered(level, lambda f: np.sinc(f * spread) * np.sinc(f * spread * 2))
        smooth = np.maximum(level, 0) ** np.float32(self.bend)
        out = (self.leak + (1 - self.leak) * smooth).astype(np.complex64)
        if self.pull:
            slow = np.float32(2 * np.pi * chip)
            lag = filtered(level, lambda f: 1 / (1 + 1j * f * slow))
            out *= phasor(np.cumsum((level - lag) * (self.pull / chip), dtype=np.float64))
        return out


def draw_ook(rng: np.random.Generator) -> Ook:
    """A device that exists, or any."""
    if rng.random() < 0.65:
        device = DEVICES[int(rng.integers(len(DEVICES)))]
    else:
        endless = rng.random() < 0.4
        bits = (ENDLESS, ENDLESS) if endless else (12.0, 600.0)
        device = Device("any transmitter", (1e-6, 30e-3), ANY_CODE, bits, (1, 8), rise=(0.005, 1.0))
    keying = draw_keying(rng, device.codes, device.bits, device.repeats, device.gap, device.pause)
    return Ook(
        device.title,
        keying,
        1 / log_uniform(rng, *device.chip_s),
        rise=0.0 if rng.random() < 0.35 else log_uniform(rng, *device.rise),
        gentle=rng.random() < 0.5,
        bend=rng.uniform(0.6, 2) if rng.random() < 0.3 else 1.0,
        leak=10 ** rng.uniform(-2.5, -1) if rng.random() < 0.2 else 0.0,
        pull=rng.uniform(-1, 1) if rng.random() < 0.25 else 0.0,
    )
