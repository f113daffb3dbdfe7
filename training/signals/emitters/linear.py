"""PSK, QAM, APSK and PAM links: points on a clock, each with a pulse.

    y(t) = sum_k a[k] g(t / T - k)          OQPSK: Q half a symbol later

Half of the emissions follow a standard (`LINKS`); the others have any symbol rate, pulse and packet length.
"""

from dataclasses import dataclass

import numpy as np

from training.signals.classes import log_uniform
from training.signals.constellation import constellation
from training.signals.emitters.bits import differential, draw_bits, random_bits
from training.signals.emitters.bursts import Bursts, Range, generic
from training.signals.emitters.emitter import Spans, Wave
from training.signals.emitters.shapes import Pulse
from training.signals.emitters.waves import gate, pulses
from training.signals.symbols import Points

CONTINUOUS = Bursts()


@dataclass(frozen=True)
class Link:
    """A standard: symbol rates in Bd, its pulse, when it is on, and what its symbols carry."""

    title: str
    rates_hz: tuple[float, ...]
    pulse: Pulse
    bursts: Bursts = CONTINUOUS
    data: str = "bits"  # "chips": DSSS, "split": split-phase (Manchester), "carrier": a residual carrier


def rrc(rolloff: float) -> Pulse:
    """Root raised cosine."""
    return Pulse("rrc", rolloff)


LINKS: dict[str, tuple[Link, ...]] = {
    "BPSK": (
        Link("PSK31, PSK63, PSK125", (31.25, 62.5, 125.0), Pulse("cosine")),
        Link("amateur satellites", (1200.0, 2400.0, 4800.0, 9600.0), rrc(0.5)),
        Link("amateur satellites, unfiltered", (400.0, 1200.0, 9600.0, 19200.0), Pulse("rectangle", 0.05)),
        Link("CCSDS telemetry", (1e3, 4e3, 16e3, 64e3, 256e3, 1e6), rrc(0.5)),
        Link("CCSDS telemetry, split-phase", (1e3, 8e3, 32e3, 128e3), Pulse("rectangle", 0.05), data="split"),
        Link("NOAA HRPT", (665_400.0,), Pulse("rectangle", 0.05), data="split"),
        Link(
            "Argos, COSPAS-SARSAT", (400.0,), Pulse("rectangle", 0.1), Bursts((0.36, 0.92), (1, 50)), "split"
        ),
        Link("Sigfox uplink", (100.0, 600.0), Pulse("gauss", 1.0), Bursts((1.0, 2.1), (0.05, 1))),
        Link(
            "IEEE 802.15.4 868 MHz",
            (300e3, 600e3),
            Pulse("rc", 1.0),
            Bursts((1e-3, 30e-3), (1e-3, 0.1)),
            "chips",
        ),
        Link("Inmarsat-C, Aero", (600.0, 1200.0), rrc(0.6)),
        Link("GOES LRIT and HRIT", (293_883.0, 927_000.0), rrc(0.3)),
        Link("GPS L1 C/A", (1.023e6,), Pulse("rectangle"), data="chips"),
        Link("IEEE 802.11b, 1 Mbit/s", (11e6,), rrc(0.5), Bursts((2e-4, 4e-3), (1e-4, 5e-2)), "chips"),
    ),
    "QPSK": (
        Link("Meteor LRPT", (72e3, 80e3), rrc(0.6)),
        Link("Metop AHRPT", (2.3333e6,), rrc(0.5)),
        Link("DVB-S and DVB-S2", (250e3, 1e6, 2e6, 4e6, 6.111e6, 10e6), rrc(0.35)),
        Link("DVB-S2X, narrow", (66e3, 125e3, 333e3, 1.5e6), rrc(0.2)),
        Link("Iridium", (25e3,), rrc(0.4), Bursts((6e-3, 20e-3), (5e-3, 0.1))),
        Link("WCDMA", (3.84e6,), rrc(0.22), data="chips"),
        Link("CubeSat S-band", (50e3, 500e3, 1e6, 3e6), rrc(0.35)),
        Link("satellite radio", (1.64e6, 1.84e6), rrc(0.2)),
        Link("CCSDS telemetry, unfiltered", (2e3, 32e3, 512e3), Pulse("rectangle", 0.05)),
    ),
    "OQPSK": (
        Link("IEEE 802.15.4 2.4 GHz", (1e6,), Pulse("half"), Bursts((3e-4, 4.3e-3), (2e-4, 5e-2)), "chips"),
        Link(
            "IEEE 802.15.4 868/915 MHz",
            (2e5, 5e5),
            Pulse("half"),
            Bursts((1e-3, 20e-3), (1e-3, 0.1)),
            "chips",
        ),
        Link("Inmarsat Aero", (4200.0, 5250.0), rrc(1.0)),
        Link("CDMA reverse link", (1.2288e6,), rrc(0.2)),
        Link("CCSDS OQPSK", (50e3, 500e3, 2e6), rrc(0.5)),
    ),
    "pi/4-DQPSK": (
        Link("TETRA, continuous", (18e3,), rrc(0.35)),
        Link("TETRA, one slot", (18e3,), rrc(0.35), Bursts((13.5e-3, 14.2e-3), (42.5e-3, 42.6e-3))),
        Link("P25 CQPSK (LSM)", (4800.0,), Pulse("rc", 0.2)),
        Link("P25 phase 2", (6000.0,), rrc(1.0), Bursts((27e-3, 30e-3), (30e-3, 31e-3))),
        Link("IS-136", (24.3e3,), rrc(0.35)),
        Link("PDC", (21e3,), rrc(0.5)),
        Link("PHS", (192e3,), rrc(0.5), Bursts((5.8e-4, 6.3e-4), (4.3e-3, 4.5e-3))),
        Link("Bluetooth EDR", (1e6,), rrc(0.4), Bursts((3e-4, 2.8e-3), (3e-4, 1e-2))),
        Link("VDES", (19.2e3, 38.4e3, 76.8e3), rrc(0.3), Bursts((26e-3, 80e-3), (26e-3, 0.3))),
    ),
    "8PSK": (
        Link("DVB-S2", (1e6, 4e6, 10e6), rrc(0.25)),
        Link("VDL mode 2", (10.5e3,), Pulse("rc", 0.6), Bursts((20e-3, 0.2), (0.05, 1))),
        Link("MIL-STD-188-110", (2400.0,), rrc(0.35)),
        Link("EDGE", (270.833e3,), Pulse("gauss", 0.3), Bursts((5.4e-4, 5.6e-4), (2e-5, 4e-3))),
        Link("Bluetooth EDR 3", (1e6,), rrc(0.4), Bursts((3e-4, 2.8e-3), (3e-4, 1e-2))),
        Link("GOES DCS", (150.0, 600.0), rrc(1.0), Bursts((1.0, 10.0), (1.0, 10.0))),
    ),
    "16QAM": (
        Link("microwave links", (3.5e6, 7e6, 12e6), rrc(0.25)),
        Link("TETRA TEDS", (2400.0, 19.2e3), rrc(0.2)),
        Link("HF data (STANAG 4539)", (2400.0,), rrc(0.35)),
    ),
    "64QAM": (
        Link("DVB-C, J.83B", (5.057e6, 6.875e6, 6.9e6), rrc(0.15)),
        Link("microwave", (7e6, 12e6), rrc(0.2)),
    ),
    "256QAM": (
        Link("DVB-C, J.83B", (5.361e6, 6.9e6), rrc(0.13)),
        Link("microwave", (3.5e6, 12e6), rrc(0.15)),
    ),
    "16APSK": (Link("DVB-S2, DVB-S2X", (1e6, 4e6, 10e6), rrc(0.2)), Link("DVB-S2X", (2e6, 8e6), rrc(0.1))),
    "32APSK": (Link("DVB-S2, DVB-S2X", (1e6, 4e6, 10e6), rrc(0.2)), Link("DVB-S2X", (2e6, 8e6), rrc(0.05))),
    "4PAM": (),
    "4ASK": (),
}
ANY_RATE: Range = (20.0, 8e6)


@dataclass(frozen=True)
class Linear:
    """A transmitter of pulse-shaped points."""

    name: str
    link: Link
    symbol_rate_hz: float

    @property
    def width_hz(self) -> float:
        """The pulse's width, in symbol rates."""
        return self.link.pulse.width * self.symbol_rate_hz

    @property
    def settings(self) -> str:
        """Title, symbol rate and pulse."""
        pulse = self.link.pulse
        return f"{self.link.title}, {self.symbol_rate_hz:.6g} Bd, {pulse.kind} {pulse.value:.2g}"

    def make(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Wave:
        """Symbols over all samples; those between bursts are 0."""
        count = max(2, round(samples * self.symbol_rate_hz / rate_hz))
        spans = self.link.bursts.draw(rng, rate_hz, samples)
        symbols = np.zeros(count, np.complex64)
        bursts, scale = Spans(), samples / count
        for begin, end in spans:
            first = int(np.ceil(begin / scale))
            last = max(first + 1, min(count, int(end / scale)))
            if first < count:
                symbols[first:last] = self.points(rng, last - first)
                bursts.append((int(first * scale), min(samples, int(np.ceil(last * scale)))))
        if self.name == "OQPSK":  # Q on a clock of its own, half a symbol later
            staggered = np.zeros(2 * count, np.complex64)
            staggered[::2], staggered[1::2] = symbols.real, 1j * symbols.imag
            pulse = self.link.pulse
            x = pulses(staggered, samples, lambda f: pulse.response(2 * f), pulse.reach / 2)
        else:
            x = pulses(symbols, samples, self.link.pulse.response, self.link.pulse.reach)
        if bursts != [(0, samples)]:  # the transmitter's own ramp, over two symbols
            bursts = [(max(0, int(b - scale)), min(samples, int(e + scale))) for b, e in bursts]
            x = x * gate(bursts, samples, 2 * scale)
        return Wave(x, bursts)

    def points(self, rng: np.random.Generator, count: int) -> Points:
        """The symbols of one burst."""
        if self.name == "pi/4-DQPSK":
            eighths = np.cumsum(2 * values(rng, 4, count) + 1) % 8
            return np.asarray(np.exp(0.25j * np.pi * eighths), np.complex64)
        points = constellation(self.name)
        if self.link.data == "chips":
            codes = rng.integers(
                0, len(points), (int(rng.choice([1, 2, 16])), int(rng.choice([11, 15, 16, 32, 128])))
            )
            chosen = codes[rng.integers(0, len(codes), -(-count // codes.shape[1]))].ravel()[:count]
            flips = np.repeat(rng.integers(0, 2, -(-count // codes.shape[1])), codes.shape[1])[:count]
            return np.asarray(points[(chosen + flips * len(points) // 2) % len(points)])
        if self.link.data == "split":
            bits = draw_bits(rng, count // 2 + 1)
            return np.asarray(points[np.stack([bits, 1 - bits], 1).ravel()[:count]])
        return np.asarray(points[values(rng, len(points), count)])


def values(rng: np.random.Generator, levels: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Symbol values; larger alphabets are scrambled by all standards, small ones show their frames."""
    if levels > 8:
        return rng.integers(0, levels, count)
    width = levels.bit_length() - 1
    bits = draw_bits(rng, count * width) if rng.random() < 0.6 else random_bits(rng, count * width)
    if width == 1 and rng.random() < 0.3:
        bits = differential(bits)
    return np.asarray(bits.reshape(count, width) @ (1 << np.arange(width)), np.int64)


def draw_pulse(rng: np.random.Generator, name: str) -> Pulse:
    """Root raised cosine in two thirds of the cases; otherwise what simpler transmitters send."""
    if rng.random() < (0.2 if name == "4ASK" else 0.6):
        return Pulse("rrc" if rng.random() < 0.85 else "rc", round(rng.uniform(0.1, 1.0), 2))
    kind = str(rng.choice(["rectangle", "rectangle", "gauss", "half", "cosine", "pole"]))
    setting = {"rectangle": rng.uniform(0, 1), "gauss": rng.uniform(0.3, 1), "pole": log_uniform(rng, 0.5, 3)}
    return Pulse(kind, round(setting.get(kind, 0.0), 3))


def draw_linear(name: str, rng: np.random.Generator) -> Linear:
    """A link of a standard, or with any settings."""
    known = LINKS[name]
    if known and rng.random() < 0.5:
        link = known[int(rng.integers(len(known)))]
        return Linear(name, link, float(rng.choice(link.rates_hz)))
    rate_hz = log_uniform(rng, *ANY_RATE)
    link = Link("any link", (rate_hz,), draw_pulse(rng, name), generic(rng, 1 / rate_hz))
    return Linear(name, link, rate_hz)
