"""Chirp spread spectrum as LoRa sends it: sweeps over a bandwidth B, each begun at its symbol's frequency,

    f(u) = B ((s / 2^SF + u) mod 1 - 1/2),    u = 0..1 over a symbol of 2^SF / B samples

A frame is a preamble of plain up-chirps, two down-chirps and a payload.
"""

import numpy as np

from streaming.block import Samples
from training.signals.phasor import phasor

PREAMBLE, DOWN, PAYLOAD = 8, 2, 40  # symbols of a frame


class Chirp:
    """Frames one after the other; the phase never jumps."""

    centre = 0.0

    def __init__(self, spreading: int, bandwidth: float, timing: float, rng: np.random.Generator) -> None:
        self.chips, self.bandwidth, self.rng = 2**spreading, bandwidth, rng
        self.symbol_rate = bandwidth / self.chips
        self.n, self.timing, self.turns = 0, timing, 0.0
        self.first, self.values = (
            0,
            self.frame(),
        )  # values[i] belongs to symbol first + i; below 0: a down-chirp

    def frame(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The symbols of a frame, as parts of the bandwidth."""
        payload = self.rng.integers(0, self.chips, PAYLOAD) / self.chips
        return np.concatenate([np.zeros(PREAMBLE), np.full(DOWN, -1.0), payload])

    def make(self, count: int) -> Samples:
        """The next samples."""
        times = (self.n + np.arange(count)) * self.symbol_rate + self.timing
        self.n += count
        symbol = np.floor(times).astype(np.int64)
        while symbol[-1] >= self.first + len(self.values):
            self.values = np.concatenate([self.values, self.frame()])
        value = self.values[symbol - self.first]
        self.values, self.first = self.values[symbol[-1] - self.first :], int(symbol[-1])
        sweep = (value + times - symbol) % 1.0  # -1 mod 1 is 0: a down-chirp begins where an up-chirp does
        frequency = self.bandwidth * np.where(value < 0, 0.5 - sweep, sweep - 0.5)
        turns = self.turns + np.cumsum(frequency)
        self.turns = float(turns[-1] % 1.0)
        return phasor(turns)
