"""PSK, QAM, APSK and PAM links: points on a clock, each with a pulse.

    y(t) = sum_k a[k] g(t / T - k)          OQPSK: Q half a symbol later

Two of five emissions, of OQPSK three, follow a standard (`LINKS`); the others have any symbol rate, pulse and
packet length.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from training.signals.classes import log_uniform
from training.signals.constellation import constellation
from training.signals.emitters.bits import Data, differential, draw_data
from training.signals.emitters.bursts import Range, generic
from training.signals.emitters.emitter import USUAL, Spans, Wave
from training.signals.emitters.linear_links import LINKS, Link
from training.signals.emitters.shapes import Pulse
from training.signals.emitters.waves import gate, pulses
from training.signals.symbols import Points

ANY_RATE: Range = (20.0, 8e6)


@dataclass(frozen=True)
class Linear:
    """A transmitter of pulse-shaped points."""

    name: str
    link: Link
    symbol_rate_hz: float
    data: Data
    coded: bool  # differentially
    codes: NDArray[np.int64]  # (sequences, chips) of DSSS
    swing: float  # phase of BPSK, both ways; less than a quarter turn leaves a carrier
    drive: float  # of the power amplifier over its saturation; 0 for a linear one

    @property
    def width_hz(self) -> float:
        """The pulse's width, in symbol rates."""
        return self.link.pulse.width * self.symbol_rate_hz

    @property
    def oversampling(self) -> Range:
        """More where hard edges make the skirts wide."""
        return (1.2, 60.0) if self.link.pulse.kind in ("rectangle", "pole") else USUAL

    @property
    def settings(self) -> str:
        """Title, symbol rate and pulse."""
        pulse = self.link.pulse
        return f"{self.link.title}, {self.symbol_rate_hz:.6g} Bd, {pulse.kind} {pulse.value:.2g}"

    def make(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Wave:
        """Symbols over all samples; those between bursts are 0."""
        count = max(2, round(samples * self.symbol_rate_hz / rate_hz))
        symbols, bursts, scale = np.zeros(count, np.complex64), Spans(), samples / count
        for begin, end in self.link.bursts.draw(rng, rate_hz, samples):
            first = min(int(np.ceil(begin / scale)), count - 1)
            last = min(count, max(first + 1, int(end / scale)))
            symbols[first:last] = self.symbols(rng, last - first, begins=begin > 0)
            bursts.append((max(0, int((first - 1) * scale)), min(samples, int(np.ceil((last + 1) * scale)))))
        x = self.amplified(self.pulsed(symbols, samples))
        if bursts != [(0, samples)]:  # the transmitter's own ramp, over two symbols
            x *= gate(bursts, samples, 2 * scale)
        return Wave(x, bursts)

    def pulsed(self, symbols: Points, samples: int) -> Samples:
        """Symbols with their pulses; half a symbol later on Q of OQPSK."""
        pulse = self.link.pulse
        if self.name != "OQPSK":
            return pulses(symbols, samples, pulse.response, pulse.reach)
        halves = np.zeros(2 * len(symbols), np.complex64)
        halves[::2], halves[1::2] = symbols.real, 1j * symbols.imag
        return pulses(halves, samples, lambda f: pulse.response(2 * f), pulse.reach / 2)

    def amplified(self, x: Samples) -> Samples:
        """Behind a solid-state amplifier (Rapp's model, p = 2)."""
        if not self.drive:
            return x
        level = np.mean(x.real**2 + x.imag**2) / np.float32(self.drive**2)
        return np.asarray(x / (1 + ((x.real**2 + x.imag**2) / level) ** 2) ** np.float32(0.25), np.complex64)

    def symbols(self, rng: np.random.Generator, count: int, begins: bool) -> Points:
        """The points of one burst."""
        points = constellation("QPSK" if self.name == "pi/4-DQPSK" else self.name)
        if self.codes.size:
            return np.asarray(points[self.spread(rng, count, len(points))])
        width = len(points).bit_length() - 1
        if self.link.split:
            bits = self.data.take(rng, count // 2 + 1, begins)
            bits = np.stack([bits, 1 - bits], 1).ravel()[:count]
        else:
            bits = self.data.take(rng, count * width, begins)
        if self.coded:
            bits = differential(bits)
        values = bits.reshape(count, width) @ (1 << np.arange(width))
        if self.name == "pi/4-DQPSK":
            return np.asarray(np.exp(0.25j * np.pi * (np.cumsum(2 * values + 1) % 8)), np.complex64)
        if self.swing:
            return np.asarray(np.exp(1j * self.swing * (2.0 * values - 1)), np.complex64)
        return np.asarray(points[values])

    def spread(self, rng: np.random.Generator, count: int, alphabet: int) -> NDArray[np.int64]:
        """Sequences one after the other, a single one with its sign."""
        number = -(-count // self.codes.shape[1])
        chips = self.codes[rng.integers(0, len(self.codes), number)]
        if len(self.codes) == 1:
            chips = (chips + rng.integers(0, 2, (number, 1)) * (alphabet // 2)) % alphabet
        return np.asarray(chips.ravel()[:count])


def draw_linear(name: str, rng: np.random.Generator) -> Linear:
    """A link of a standard, or with any settings."""
    known = LINKS[name]
    share = 0.6 if name == "OQPSK" else 0.4
    link = known[int(rng.integers(len(known)))] if known and rng.random() < share else any_link(name, rng)
    return Linear(
        name,
        link,
        float(rng.choice(link.rates_hz)),
        draw_data(rng, random=0.5 if name in ("BPSK", "QPSK", "OQPSK", "pi/4-DQPSK") else 0.95),
        coded=name == "BPSK" and not link.split and rng.random() < 0.3,
        codes=shifted_codes(link.chips) if link.chips else rng.integers(0, 2, link.code),
        swing=float(rng.choice([0.8, 1.1, 1.2])) if link.split and rng.random() < 0.5 else 0.0,
        drive=log_uniform(rng, 0.4, 1.5) if rng.random() < 0.2 else 0.0,
    )


def shifted_codes(chips: str) -> NDArray[np.int64]:
    """The sixteen sequences of IEEE 802.15.4 as points of OQPSK: the first one turned, then all mirrored."""
    first = np.array([int(chip) for chip in chips])
    turned = np.stack([np.roll(first, i * len(first) // 8) for i in range(8)])
    mirrored = turned ^ (np.arange(len(first)) % 2)  # Q the other way round
    pairs = 2 * np.concatenate([turned, mirrored]).reshape(16, -1, 2) - 1
    wanted = (pairs[..., 0] + 1j * pairs[..., 1])[..., None]
    return np.asarray(np.abs(constellation("OQPSK") * np.sqrt(2) - wanted).argmin(-1))


def any_link(name: str, rng: np.random.Generator) -> Link:
    """Any symbol rate and pulse: root raised cosine mostly, and what simpler transmitters send."""
    rate_hz = log_uniform(rng, *ANY_RATE)
    if rng.random() < (0.2 if name == "4ASK" else 0.5):
        pulse = Pulse("rrc" if rng.random() < 0.85 else "rc", rng.uniform(0.1, 1.0))
    else:
        kinds = ["rectangle"] * 3 + ["gauss", "half", "cosine", "pole"]
        if name == "OQPSK":
            kinds.remove("half")  # with any data this is MSK; with a spreading code it is 802.15.4, above
        kind = str(rng.choice(kinds))
        value = {
            "rectangle": rng.uniform(0, 1),
            "gauss": rng.uniform(0.3, 1),
            "pole": log_uniform(rng, 0.5, 3),
        }
        pulse = Pulse(kind, value.get(kind, 0.0))
    return Link("any link", (rate_hz,), pulse, generic(rng, 1 / rate_hz))
