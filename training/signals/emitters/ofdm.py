"""OFDM as LTE, NR, Wi-Fi, DVB-T and DAB send it: carriers at a spacing, a prefix, pilots, empty parts.

    y = IFFT(carriers),    out = y[-prefix:] y

Only carriers that the receiver can see are made; the result is interpolated to its rate by its spectrum.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from streaming.block import Samples
from training.signals.classes import log_uniform
from training.signals.constellation import constellation
from training.signals.emitters.bursts import Range
from training.signals.emitters.cellular import SLOT, cellular_grid
from training.signals.emitters.emitter import Spans, Wave
from training.signals.emitters.ofdm_systems import CELLULAR, SYSTEMS, System
from training.signals.emitters.waves import antialias, gate
from training.signals.symbols import Points


@dataclass(frozen=True)
class Ofdm:
    """One transmitter."""

    system: System
    spacing_hz: float
    carriers: int
    prefix: float
    points: str
    load: float  # share of the resource blocks in use
    oversampling: Range  # below 1 the receiver sees a part of it

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
        """Symbols at a rate of their own, then interpolated; bursts are whole symbols."""
        carriers, places = self.places(rng, rate_hz)
        size = fft.next_fast_len(int(2.3 * np.abs(places).max()) + 8)
        prefix = round(self.prefix * size)
        step = (size + prefix) * rate_hz / (self.spacing_hz * size)  # samples of a symbol
        number = int(np.ceil(samples / step)) + 1
        grid = self.grid(rng, number, carriers)
        bursts = self.system.bursts.draw(rng, rate_hz, samples)
        if whole := bursts == [(0, samples)]:
            begin = rng.uniform(0, number - samples / step)
        else:
            begin, bursts = 0.0, self.trained(grid, places % 4 == 0, bursts, step, samples)
        spectrum = np.zeros((number, size), np.complex64)
        spectrum[:, places] = grid
        useful = fft.ifft(spectrum, axis=1, overwrite_x=True)
        x = np.concatenate([useful[:, size - prefix :], useful], axis=1).ravel()
        x = interpolated(x[int(begin * (size + prefix)) :], self.spacing_hz * size / rate_hz, samples)
        return Wave(x if whole else x * gate(bursts, samples, 0.02 * step), bursts)

    def places(self, rng: np.random.Generator, rate_hz: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Carriers that the receiver sees, counted from the channel's centre and from the receiver's."""
        half = self.carriers // 2
        all_of_them = np.r_[-half:0, 1 : half + 1] if self.system.hole else np.arange(-half, half)
        view = int(0.55 * rate_hz / self.spacing_hz)
        tuned = int(rng.integers(-(half - view), half - view)) if half > view and rng.random() < 0.4 else 0
        seen = all_of_them - tuned
        near = np.abs(seen) <= max(view, 2)
        return all_of_them[near], seen[near]

    def trained(
        self, grid: Points, short: NDArray[np.bool_], bursts: Spans, step: float, samples: int
    ) -> Spans:
        """Bursts of whole symbols; where there is training, a burst begins with it: short, then long."""
        out = Spans()
        for begin, end in bursts:
            first = int(begin / step)
            last = max(first + 1, int(end / step))
            if self.system.training and begin > 0:
                grid[first : first + 2] = 2 * short * grid[first]
                grid[first + 2 : first + 4] = np.sign(grid[first + 2 : first + 3].real)
            out.append((int(first * step), min(samples, int(last * step))))
        return out

    def grid(self, rng: np.random.Generator, number: int, carriers: NDArray[np.int64]) -> Points:
        """What each carrier sends in each symbol, (number, carriers)."""
        points = constellation(self.points)
        if self.system.cellular:
            return cellular_grid(
                rng, points, self.load, number, carriers, new=self.system.title.startswith("NR")
            )
        seen = len(carriers)
        out = points[rng.integers(0, len(points), (number, seen))]
        block = self.system.blocks
        if block and self.load < 1:
            slots, blocks = -(-number // SLOT), -(-seen // block)
            used = rng.random((slots, blocks)) < self.load
            out *= np.repeat(np.repeat(used, SLOT, 0)[:number], block, 1)[:, :seen]
        every, level = self.system.pilots
        if every:
            at = np.arange(int(rng.integers(every)), seen, every)
            out[:, at] = np.float32(level) * (1 - 2 * rng.integers(0, 2, (number, len(at))))
        return np.asarray(out)


def interpolated(x: Samples, ratio: float, samples: int) -> Samples:
    """So many samples at another rate; `ratio` is the old one over the new one."""
    count = round(samples * ratio)
    spectrum = fft.fft(np.resize(x, count))
    half = min(count, samples) // 2
    kept = np.zeros(samples, np.complex64)
    kept[:half], kept[-half:] = spectrum[:half], spectrum[-half:]
    kept *= antialias(samples)
    return np.asarray(fft.ifft(kept, overwrite_x=True), np.complex64)


def draw_ofdm(rng: np.random.Generator) -> Ofdm:
    """A standard, or any spacing and number of carriers."""
    chosen = CELLULAR if rng.random() < 0.35 else SYSTEMS  # what most receivers hear a part of
    system = chosen[int(rng.integers(len(chosen)))]
    spacing_hz, carriers = system.spacing_hz, int(rng.choice(system.carriers))
    if rng.random() < 0.35:
        carriers = 2 * int(log_uniform(rng, 8, 1500))
        prefix = log_uniform(rng, 1 / 64, 1 / 2) if rng.random() < 0.6 else 0.0  # or filters instead of one
        spacing_hz = log_uniform(rng, 50, 3e5)
        spacing_hz = min(spacing_hz, 18e6 / carriers)
        system = System("any OFDM", spacing_hz, (carriers,), (prefix,), hole=bool(rng.integers(2)))
    load = log_uniform(rng, 0.01, 1.0) if system.blocks and rng.random() < 0.7 else 1.0
    part = carriers * spacing_hz > 1e6 and rng.random() < (0.7 if system in CELLULAR else 0.4)
    return Ofdm(
        system,
        spacing_hz,
        carriers,
        float(rng.choice(system.prefixes)),
        str(rng.choice(system.points)),
        load,
        (0.08, 1.0) if part else (1.05, 6.0),
    )
