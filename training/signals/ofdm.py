"""OFDM: many narrow carriers side by side, each symbol led by a copy of its end,

    y = IFFT(carriers),    out = y[-prefix:] y

The transform's size sets the occupied bandwidth, carriers / size, so no resampling is needed.
"""

import numpy as np

from streaming.block import Samples
from training.signals.symbols import Points


class Ofdm:
    """`carriers` around an empty centre, drawn evenly from `points`."""

    centre = 0.0

    def __init__(
        self, carriers: int, size: int, prefix: int, points: Points, rng: np.random.Generator
    ) -> None:
        self.size, self.prefix, self.points, self.rng = size, prefix, points, rng
        half = carriers // 2
        self.used = np.r_[1 : half + 1, size - half : size]
        self.symbol_rate = 1 / (size + prefix)
        self.rest = np.empty(0, np.complex64)

    def make(self, count: int) -> Samples:
        """The next samples."""
        number = -(-max(0, count - len(self.rest)) // (self.size + self.prefix))
        spectrum = np.zeros((number, self.size), np.complex64)
        spectrum[:, self.used] = self.points[self.rng.integers(0, len(self.points), (number, len(self.used)))]
        useful = np.fft.ifft(spectrum) * (self.size / np.sqrt(len(self.used)))  # (symbols, size), unit power
        whole = np.concatenate([useful[:, self.size - self.prefix :], useful], axis=1).astype(np.complex64)
        out = np.concatenate([self.rest, whole.ravel()])
        self.rest = out[count:]
        return out[:count]
