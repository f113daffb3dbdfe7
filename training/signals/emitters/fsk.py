"""Frequency-shift keying: pagers, sensors, meters, hand-held radios, satellites, teletype.

    y(t) = gate(t) exp(2 pi j int deviation m(t)),   m = steps of +-1 (or +-1/3, +-1) behind a filter

The index h is the spacing of neighbouring tones over the symbol rate: 2 deviation / rate for two tones.
"""

from dataclasses import dataclass

import numpy as np

from training.signals.classes import log_uniform
from training.signals.emitters.bits import draw_bits
from training.signals.emitters.bursts import Bursts, generic
from training.signals.emitters.emitter import Floats, Reals, Spans, Wave
from training.signals.emitters.keying import ENDLESS, Keying, draw_keying
from training.signals.emitters.systems import HARD, SYSTEMS
from training.signals.emitters.waves import filtered, gate, steps
from training.signals.phasor import phasor

# name -> modulation index and BT of emissions that follow no standard
ANY: dict[str, tuple[tuple[float, float], tuple[float, float] | None]] = {
    "2FSK": ((0.6, 100.0), None),
    "4FSK": ((0.3, 20.0), None),
    "GFSK": ((0.3, 4.0), (0.3, 1.0)),
    "MSK": ((0.5, 0.5), None),
    "GMSK": ((0.5, 0.5), (0.2, 0.7)),
}
ANY_RATE = (30.0, 3e6)


@dataclass(frozen=True)
class Fsk:
    """One transmitter."""

    name: str
    title: str
    symbol_rate_hz: float
    deviation_hz: float  # of the outer tones
    shaping: tuple[str, float]
    bursts: Bursts
    keying: Keying | None  # frames in a line code; otherwise symbols one after the other
    ramp: float  # symbols

    @property
    def width_hz(self) -> float:
        """Carson's rule."""
        return (
            2 * self.deviation_hz
            + (1.0 if self.shaping[0] in ("gauss", "rrc", "c4fm") else 1.5) * self.symbol_rate_hz
        )

    @property
    def settings(self) -> str:
        """Title, rate, deviation and shaping."""
        kind, value = self.shaping
        shaping = f", {kind} {value:.2g}" if value else ""
        code = f", {self.keying.code}" if self.keying else ""
        return f"{self.title}, {self.symbol_rate_hz:.6g} Bd, +-{self.deviation_hz:.5g} Hz{shaping}{code}"

    def make(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Wave:
        """Keyed tones, their phase without a jump."""
        symbol = rate_hz / self.symbol_rate_hz
        made = self.framed(rng, symbol, samples) if self.keying else self.steady(rng, rate_hz, samples)
        level, bursts = self.shaped(made[0].astype(np.float32), symbol), made[1]
        turns = np.cumsum(level, dtype=np.float64) * (self.deviation_hz / rate_hz)
        out = phasor(turns)
        if bursts != [(0, samples)]:
            out *= gate(bursts, samples, self.ramp * symbol)
        return Wave(out, bursts)

    def steady(self, rng: np.random.Generator, rate_hz: float, samples: int) -> tuple[Floats, Spans]:
        """Symbols of each burst, from its begin on."""
        symbol = rate_hz / self.symbol_rate_hz
        bursts = self.bursts.draw(rng, rate_hz, samples)
        times, levels = (
            list[Floats](),
            list[Floats](),
        )
        for begin, end in bursts:
            count = int((end - begin) / symbol) + 2
            times.append(begin + symbol * (np.arange(float(count)) - (rng.random() if begin == 0 else 0.0)))
            levels.append(self.symbols(rng, count))
        return steps(np.concatenate(times), np.concatenate(levels), samples), bursts

    def symbols(self, rng: np.random.Generator, count: int) -> Floats:
        """Levels from -1 to 1."""
        if self.name != "4FSK":
            return np.asarray(2.0 * draw_bits(rng, count) - 1, np.float64)
        bits = draw_bits(rng, 2 * count).reshape(count, 2)
        return np.asarray(
            (2.0 * bits[:, 0] - 1) * (1 - 2 / 3 * bits[:, 1]), np.float64
        )  # Gray: 01 is +1, 00 +1/3

    def framed(self, rng: np.random.Generator, symbol: float, samples: int) -> tuple[Floats, Spans]:
        """Frames in a line code; each is a burst."""
        times, levels, bursts = [np.zeros(1)], [np.zeros(1)], Spans()
        for frame in self.keying.frames(rng, samples / symbol) if self.keying else ():
            edges = symbol * (frame.begin + np.cumsum(np.append(0.0, frame.durations)))
            times.append(edges[:-1])
            levels.append(2 * frame.levels - 1)
            if edges[-1] >= 2 and edges[0] < samples - 2:
                bursts.append((max(0, int(edges[0])), min(samples, int(np.ceil(edges[-1])))))
        return steps(np.concatenate(times), np.concatenate(levels), samples), bursts

    def shaped(self, level: Reals, symbol: float) -> Reals:
        """Behind the shaping filter; frequencies f are in cycles per sample."""
        kind, value = self.shaping
        if kind == "none":
            return level
        size = np.float32(symbol)
        if kind == "gauss":
            return filtered(level, lambda f: np.exp(-(np.log(2) / 2) * (f * size / value) ** 2))
        if kind == "pole":  # two poles, as the low-pass before a transmitter's oscillator
            return filtered(level, lambda f: 1 / (1 + 1j * f * size / value) ** 2)

        def nyquist(f: Reals) -> Reals:  # the steps are rectangles already: their spectrum is divided out
            x = f * size
            edge = np.cos(np.pi / 2 * np.clip((x - (1 - value) / 2) / value, 0, 1))
            flat = np.sinc(np.minimum(x, 0.9))
            return np.asarray(edge / flat if kind == "rrc" else edge**2 / flat**2, np.float32)

        return filtered(level, nyquist)


def draw_fsk(name: str, rng: np.random.Generator) -> Fsk:
    """A transmitter of a standard, or with any index, rate and shaping."""
    if rng.random() < 0.6:
        system = SYSTEMS[name][int(rng.integers(len(SYSTEMS[name])))]
        rate_hz = float(rng.choice(system.rates_hz))
        deviation_hz = log_uniform(rng, *system.deviation_hz)
        if name in ("MSK", "GMSK"):
            deviation_hz = rate_hz / 4
        shaping, bursts, title = system.shaping, system.bursts, system.title
        codes = system.code
    else:
        indices, products = ANY[name]
        rate_hz = log_uniform(rng, *ANY_RATE)
        outer = 3 if name == "4FSK" else 1
        deviation_hz = outer * log_uniform(rng, *indices) * rate_hz / 2
        shaping = ("gauss", round(rng.uniform(*products), 2)) if products else HARD
        if name == "4FSK" and rng.random() < 0.5:
            shaping = (str(rng.choice(["rrc", "gauss"])), round(rng.uniform(0.2, 1), 2))
        elif name == "2FSK" and rng.random() < 0.4:
            shaping = ("pole", log_uniform(rng, 0.7, 5))
        bursts, title, codes = generic(rng, 1 / rate_hz), "any transmitter", "nrz"
        if name == "2FSK":
            codes = str(
                rng.choice(["nrz", "nrz", "nrz manchester", "manchester differential", "width gap position"])
            )
    keying = None
    if codes != "nrz":
        endless = np.isinf(bursts.packet_s[0])
        bits = (ENDLESS, ENDLESS) if endless else (24.0, 400.0)
        keying = draw_keying(rng, codes, bits, (1, 4))
    return Fsk(name, title, rate_hz, deviation_hz, shaping, bursts, keying, ramp=log_uniform(rng, 0.1, 4))
