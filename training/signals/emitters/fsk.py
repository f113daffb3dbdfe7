"""Frequency-shift keying: pagers, sensors, meters, hand-held radios, satellites, teletype.

    y(t) = gate(t) (1 + tilt m(t)) exp(2 pi j int deviation m(t))

m is steps of +-1 (4FSK: and +-1/3; MFSK: 8 to 32 levels) behind the shaping filter. The index h is the
spacing of neighbouring tones over the symbol rate: 2 deviation / rate for two tones. A tilt is the unequal
strength of the tones.
"""

from dataclasses import dataclass

import numpy as np

from training.signals.classes import log_uniform
from training.signals.emitters.bits import Data, draw_data
from training.signals.emitters.bursts import Bursts, Range, generic
from training.signals.emitters.emitter import USUAL, Floats, Reals, Spans, Wave
from training.signals.emitters.fsk_systems import HARD, SYSTEMS, Shaping, System, gauss
from training.signals.emitters.keying import ENDLESS, Frame, Keying, draw_keying
from training.signals.emitters.waves import filtered, gate, steps
from training.signals.phasor import phasor

# name -> modulation index and BT of emissions that follow no standard
ANY: dict[str, tuple[Range, Range]] = {
    "2FSK": ((0.6, 100.0), (0, 0)),
    "4FSK": ((0.3, 20.0), (0, 0)),
    "MFSK": ((0.3, 4.0), (0, 0)),
    "GFSK": ((0.3, 4.0), (0.3, 1.0)),
    "MSK": ((0.5, 0.5), (0, 0)),
    "GMSK": ((0.5, 0.5), (0.2, 0.7)),
}
ANY_RATE: Range = (30.0, 3e6)
ANY_CODES = ("nrz", "nrz", "nrz manchester", "manchester differential", "width gap position")


@dataclass(frozen=True)
class Fsk:
    """One transmitter."""

    name: str
    title: str
    symbol_rate_hz: float
    deviation_hz: float  # of the outer tones
    shaping: Shaping
    bursts: Bursts
    keying: Keying | None  # frames in a line code; otherwise symbols one after the other
    data: Data
    ramp: float  # symbols
    tilt: float
    tones: int = 2
    oversampling: Range = USUAL

    @property
    def width_hz(self) -> float:
        """Carson's rule, with wider skirts where nothing is filtered."""
        skirts = 1.5 if self.shaping.kind in ("none", "pole", "loop") else 1.0
        return 2 * self.deviation_hz + skirts * self.symbol_rate_hz

    @property
    def settings(self) -> str:
        """Title, rate, deviation and shaping."""
        shaping = "" if self.shaping == HARD else f", {self.shaping.kind} {self.shaping.value:.2g}"
        code = f", {self.keying.code}" if self.keying else ""
        return f"{self.title}, {self.symbol_rate_hz:.6g} Bd, +-{self.deviation_hz:.5g} Hz{shaping}{code}"

    def make(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Wave:
        """Keyed tones, their phase without a jump."""
        symbol = rate_hz / self.symbol_rate_hz
        if self.keying:
            made, bursts = framed(self.keying.frames(rng, samples / symbol), symbol, samples)
        else:
            bursts = self.bursts.draw(rng, rate_hz, samples)
            made = self.steady(rng, bursts, symbol, samples)
        level = shaped(made.astype(np.float32), self.shaping, symbol)
        out = phasor(np.cumsum(level, dtype=np.float64) * (self.deviation_hz / rate_hz))
        if self.tilt:
            out *= 1 + np.float32(self.tilt) * level
        if bursts != [(0, samples)]:
            out *= gate(bursts, samples, self.ramp * symbol)
        return Wave(out, bursts)

    def steady(self, rng: np.random.Generator, bursts: Spans, symbol: float, samples: int) -> Floats:
        """Symbols of each burst, from its begin on."""
        times, levels = list[Floats](), list[Floats]()
        for begin, end in bursts:
            count = int((end - begin) / symbol) + 2
            early = rng.random() if begin == 0 else 0.0
            times.append(begin + symbol * (np.arange(float(count)) - early))
            levels.append(self.symbols(rng, count, begins=begin > 0))
        return steps(np.concatenate(times), np.concatenate(levels), samples)

    def symbols(self, rng: np.random.Generator, count: int, begins: bool) -> Floats:
        """Levels from -1 to 1."""
        if self.name == "MFSK":
            return np.asarray(2 * rng.integers(self.tones, size=count) / (self.tones - 1) - 1, np.float64)
        if self.name != "4FSK":
            return np.asarray(2.0 * self.data.take(rng, count, begins) - 1, np.float64)
        bits = self.data.take(rng, 2 * count, begins).reshape(count, 2)
        return np.asarray((2.0 * bits[:, 0] - 1) * (1 - 2 / 3 * bits[:, 1]), np.float64)  # Gray


def framed(frames: list[Frame], symbol: float, samples: int) -> tuple[Floats, Spans]:
    """Levels of frames in a line code; each frame is a burst."""
    times, levels, bursts = [np.zeros(1)], [np.zeros(1)], Spans()
    for frame in frames:
        edges = symbol * frame.edges
        times.append(edges[:-1])
        levels.append(2 * frame.levels - 1)
        if edges[-1] >= 2 and edges[0] < samples - 2:
            bursts.append((max(0, int(edges[0])), min(samples, int(np.ceil(edges[-1])))))
    return steps(np.concatenate(times), np.concatenate(levels), samples), bursts


def shaped(level: Reals, shaping: Shaping, symbol: float) -> Reals:
    """Behind the shaping filter; frequencies f are in cycles per sample."""
    kind, value, size = shaping.kind, shaping.value, np.float32(symbol)
    if kind == "none":
        return level
    if kind == "gauss":
        return filtered(level, lambda f: np.exp(-(np.log(2) / 2) * (f * size / value) ** 2))
    if kind == "pole":
        return filtered(level, lambda f: 1 / (1 + 1j * f * size / value) ** 2)
    if kind == "loop":  # damping 1/2: an overshoot of 16 %
        return filtered(level, lambda f: 1 / (1 + 1j * f * size / value - (f * size / value) ** 2))

    def nyquist(f: Reals) -> Reals:  # the steps are rectangles already: their spectrum is divided out
        x = f * size
        edge = np.cos(np.pi / 2 * np.clip((x - (1 - value) / 2) / value, 0, 1))
        flat = np.sinc(np.minimum(x, 0.9))
        return np.asarray(edge / flat if kind == "rrc" else (edge / flat) ** 2, np.float32)

    return filtered(level, nyquist)


def draw_fsk(name: str, rng: np.random.Generator) -> Fsk:
    """A transmitter of a standard, or with any index, rate and shaping."""
    known = SYSTEMS[name]
    system = known[int(rng.integers(len(known)))] if rng.random() < 0.6 else any_system(name, rng)
    rate_hz = float(rng.choice(system.rates_hz))
    tones = int(rng.choice(system.tones)) if name == "MFSK" else 4 if name == "4FSK" else 2
    deviation_hz = log_uniform(rng, *system.deviation_hz) if system.deviation_hz[0] else 0.0
    if not deviation_hz:
        deviation_hz = (tones - 1) * log_uniform(rng, *system.index) * rate_hz / 2
    keying = None
    if system.codes != "nrz":
        bits = ENDLESS if np.isinf(system.bursts.packet_s[0]) else (24.0, 400.0)
        keying = draw_keying(rng, system.codes, bits, (1, 4))
    return Fsk(
        name,
        system.title,
        rate_hz,
        deviation_hz,
        system.shaping,
        system.bursts,
        keying,
        draw_data(rng, random=0.8 if name == "4FSK" else 0.5),
        ramp=log_uniform(rng, 0.1, 4),
        tilt=rng.uniform(-0.2, 0.2) if name == "2FSK" and rng.random() < 0.3 else 0.0,
        tones=tones,
    )


def any_system(name: str, rng: np.random.Generator) -> System:
    """What could be, within the class."""
    index, bt = ANY[name]
    rate_hz = log_uniform(rng, *ANY_RATE)
    shaping, codes = gauss(rng.uniform(*bt)) if bt[0] else HARD, "nrz"
    if name in ("4FSK", "MFSK") and rng.random() < 0.5:
        shaping = Shaping(str(rng.choice(["rrc", "gauss"])), rng.uniform(0.2, 1))
    if name == "2FSK":
        codes = str(rng.choice(ANY_CODES))
        if rng.random() < 0.5:
            shaping = Shaping(str(rng.choice(["pole", "loop"])), log_uniform(rng, 0.7, 5))
    return System("any transmitter", (rate_hz,), (0, 0), shaping, generic(rng, 1 / rate_hz), codes, index)
