"""OFDM as LTE, NR, Wi-Fi, DVB-T and DAB send it: carriers at a spacing, a prefix, pilots, empty parts.

    y = IFFT(carriers),    out = y[-prefix:] y

Only carriers that the receiver can see are made; the result is interpolated to its rate by its spectrum.
"""

from dataclasses import dataclass

import numpy as np
from scipy import fft

from streaming.block import Samples
from training.signals.classes import log_uniform
from training.signals.constellation import constellation
from training.signals.emitters.bursts import Bursts
from training.signals.emitters.emitter import Wave
from training.signals.emitters.waves import gate
from training.signals.symbols import Points

CONTINUOUS = Bursts()
WIFI = Bursts((5e-5, 3e-3), (3e-5, 1e-2))


@dataclass(frozen=True)
class System:
    """A standard's numbers: spacing in Hz, carriers, prefix as a part of the useful symbol, what is empty."""

    title: str
    spacing_hz: float
    carriers: tuple[int, ...]
    prefixes: tuple[float, ...]
    points: tuple[str, ...] = ("QPSK", "16QAM", "64QAM")
    bursts: Bursts = CONTINUOUS
    blocks: int = 0  # carriers of a resource block: whole blocks are empty for some symbols; 0 for none
    hole: bool = True  # nothing at the centre
    pilots: tuple[int, float] = (0, 1.0)  # each so many carriers, at this level


SYSTEMS = (
    System("LTE", 15e3, (72, 180, 300, 600, 900, 1200), (0.0703, 0.25), blocks=12, pilots=(6, 1.0)),
    System(
        "LTE uplink (DFT-spread)",
        15e3,
        (12, 36, 72, 180, 300),
        (0.0703,),
        ("DFT",),
        Bursts((1e-3, 4e-3), (1e-3, 2e-2)),
        hole=False,
    ),
    System("NB-IoT", 15e3, (12,), (0.0703,), ("QPSK",), hole=False, pilots=(6, 1.0)),
    System("NR", 30e3, (132, 288, 612), (0.0703,), blocks=12, hole=False, pilots=(4, 1.0)),
    System(
        "NR synchronisation block",
        30e3,
        (240,),
        (0.0703,),
        ("QPSK",),
        Bursts((1.4e-4, 1.5e-4), (1e-4, 1e-2)),
        hole=False,
    ),
    System(
        "Wi-Fi 802.11a/g", 312.5e3, (52,), (0.25,), ("BPSK", "QPSK", "16QAM", "64QAM"), WIFI, pilots=(14, 1.0)
    ),
    System(
        "Wi-Fi 802.11n/ac",
        312.5e3,
        (56,),
        (0.25, 0.125),
        ("BPSK", "QPSK", "64QAM", "256QAM"),
        WIFI,
        pilots=(14, 1.0),
    ),
    System(
        "Wi-Fi 802.11ah, half and quarter clock",
        31.25e3,
        (26, 52),
        (0.25, 0.125),
        ("BPSK", "QPSK", "16QAM"),
        WIFI,
    ),
    System(
        "802.11p", 156.25e3, (52,), (0.25,), ("BPSK", "QPSK", "16QAM"), Bursts((1e-4, 2e-3), (5e-4, 5e-2))
    ),
    System("DVB-T 2K", 4464.29, (1704,), (0.25, 0.125, 0.0625, 0.03125), hole=False, pilots=(12, 1.33)),
    System("DVB-T 8K", 1116.07, (6816,), (0.25, 0.125, 0.0625), hole=False, pilots=(12, 1.33)),
    System("DAB", 1000.0, (1536,), (0.246,), ("QPSK",), Bursts((94.7e-3, 94.7e-3), (1.3e-3, 1.3e-3))),
    System("DRM", 41.67, (88, 103, 206), (0.111, 0.25), ("16QAM", "64QAM"), pilots=(20, 1.41)),
    System("ISDB-T, one segment", 992.06, (432,), (0.125, 0.25), ("QPSK",), hole=False, pilots=(12, 1.33)),
    System(
        "DVB-T2, ATSC 3", 558.0, (6800,), (0.0625, 0.03), ("64QAM", "256QAM"), hole=False, pilots=(12, 1.33)
    ),
    System(
        "IEEE 802.15.4g OFDM",
        10.4167e3,
        (14, 26, 52, 104),
        (0.25,),
        ("BPSK", "QPSK", "16QAM"),
        Bursts((1e-3, 2e-2), (1e-3, 0.1)),
    ),
    System(
        "802.16 WiMAX",
        10.94e3,
        (420, 840),
        (0.125,),
        bursts=Bursts((2e-3, 3.5e-3), (1.5e-3, 3e-3)),
        blocks=14,
    ),
    System(
        "drone link",
        15e3,
        (600, 1200),
        (0.0703,),
        ("QPSK", "16QAM"),
        Bursts((5e-4, 4e-3), (2e-4, 5e-3)),
        blocks=12,
    ),
)


@dataclass(frozen=True)
class Ofdm:
    """One transmitter."""

    system: System
    spacing_hz: float
    carriers: int
    prefix: float
    points: str
    load: float  # share of the resource blocks in use

    @property
    def width_hz(self) -> float:
        """Carriers times spacing."""
        return self.carriers * self.spacing_hz

    @property
    def symbol_rate_hz(self) -> float:
        """OFDM symbols per second."""
        return self.spacing_hz / (1 + self.prefix)

    @property
    def settings(self) -> str:
        """Title, carriers, prefix, points, load."""
        return (
            f"{self.system.title}, {self.carriers} carriers of {self.spacing_hz:.6g} Hz, "
            f"prefix {self.prefix:.3g}, {self.points}, {100 * self.load:.0f} % in use"
        )

    def make(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Wave:
        """Symbols at a rate of their own, then interpolated."""
        seen = int(min(self.carriers, 1.1 * rate_hz / self.spacing_hz)) // 2 * 2
        size = fft.next_fast_len(max(8, int(1.15 * seen)))
        prefix = max(1, round(self.prefix * size))
        number = int(np.ceil(samples / rate_hz * self.spacing_hz * size / (size + prefix))) + 1
        spectrum = np.zeros((number, size), np.complex64)
        places = np.arange(-(seen // 2), seen - seen // 2) + (1 if self.system.hole else 0)
        places[: seen // 2] -= 1 if self.system.hole and seen == self.carriers else 0
        spectrum[:, places] = self.grid(rng, number, seen)
        useful = fft.ifft(spectrum, axis=1, overwrite_x=True)
        whole = np.concatenate([useful[:, size - prefix :], useful], axis=1).ravel()
        x = interpolated(whole, self.spacing_hz * size, rate_hz, samples, rng)
        bursts = self.system.bursts.draw(rng, rate_hz, samples)
        if bursts != [(0, samples)]:
            x = x * gate(bursts, samples, 0.02 * rate_hz / self.spacing_hz)
        return Wave(x, bursts)

    def grid(self, rng: np.random.Generator, number: int, seen: int) -> Points:
        """What each carrier sends in each symbol, (number, seen)."""
        if self.points == "DFT":  # single-carrier FDMA: QPSK symbols spread over all carriers
            drawn = constellation("QPSK")[rng.integers(0, 4, (number, seen))]
            return np.asarray(fft.fft(drawn, axis=1) / np.sqrt(seen), np.complex64)
        points = constellation(self.points)
        out = points[rng.integers(0, len(points), (number, seen))]
        block = self.system.blocks
        if block and self.load < 1:
            slots, blocks = -(-number // 7), -(-seen // block)
            used = rng.random((slots, blocks)) < self.load
            if rng.random() < 0.5:
                used[rng.random(slots) < 0.3] = False  # empty subframes
            out *= np.repeat(np.repeat(used, 7, 0)[:number], block, 1)[:, :seen]
        every, level = self.system.pilots
        if every:
            marks = np.float32(level) * (1 - 2 * rng.integers(0, 2, (number, seen))).astype(np.complex64)
            when = np.zeros(number, bool)
            when[:: 1 if self.system.blocks == 0 else int(rng.choice([3, 4, 7]))] = True
            at = np.arange(int(rng.integers(every)), seen, every)
            out[np.ix_(when, at)] = marks[np.ix_(when, at)]
        return out


def interpolated(x: Samples, from_hz: float, to_hz: float, samples: int, rng: np.random.Generator) -> Samples:
    """The first so many samples at another rate, from a random fraction of a sample on."""
    count = round(samples * from_hz / to_hz)
    begin = int(rng.integers(0, len(x) - count + 1)) if len(x) > count else 0
    spectrum = fft.fft(np.resize(x[begin : begin + count], count))
    half = min(count, samples) // 2
    kept = np.zeros(samples, np.complex64)
    kept[:half] = spectrum[:half]
    kept[-half:] = spectrum[-half:]
    return np.asarray(fft.ifft(kept, overwrite_x=True), np.complex64)


def draw_ofdm(rng: np.random.Generator) -> Ofdm:
    """A standard, or any spacing and number of carriers."""
    system = SYSTEMS[int(rng.integers(len(SYSTEMS)))]
    spacing_hz, carriers = system.spacing_hz, int(rng.choice(system.carriers))
    if rng.random() < 0.25:
        carriers, prefix = (
            2 * int(log_uniform(rng, 8, 1000)),
            float(rng.choice([1 / 4, 1 / 8, 1 / 16, 1 / 32])),
        )
        spacing_hz = log_uniform(rng, 50, 3e5)
        spacing_hz = min(spacing_hz, 18e6 / carriers)
        system = System("any OFDM", spacing_hz, (carriers,), (prefix,), hole=bool(rng.integers(2)))
    load = log_uniform(rng, 0.1, 1.0) if rng.random() < 0.6 else 1.0
    points = str(rng.choice(system.points))
    return Ofdm(
        system,
        spacing_hz,
        carriers,
        float(rng.choice(system.prefixes)),
        points,
        load if system.blocks else 1.0,
    )
