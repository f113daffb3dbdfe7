"""Where symbols come from: drawn evenly, differentially, or as a line code's chips.

Remote controls and sensors do not send bits as they are: Manchester, pulse-width and pulse-position codes
change the spectrum and the share of time that an OOK carrier is on.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from training.signals.phasor import phasor

Points = NDArray[np.complex64]

# code -> chips of a 0 and of a 1; -1: not a chip
LINE_CODES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "nrz": ((0,), (1,)),
    "manchester": ((0, 1), (1, 0)),
    "width": ((1, 0, 0), (1, 1, 0)),
    "position": ((1, 0, -1, -1), (1, 0, 0, 0)),
}


class Symbols(Protocol):
    """An endless run of symbols."""

    def take(self, count: int) -> Points:
        """The next ones."""
        ...


class Even:
    """Independent symbols, each point as likely as any other."""

    def __init__(self, points: Points, rng: np.random.Generator) -> None:
        self.points, self.rng = points, rng

    def take(self, count: int) -> Points:
        """The next ones."""
        return np.take(self.points, self.rng.integers(0, len(self.points), count))


class QuarterShifted:
    """pi/4-DQPSK: each symbol advances the phase by an odd multiple of pi/4."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.eighth = rng, 0

    def take(self, count: int) -> Points:
        """The next ones."""
        eighths = self.eighth + np.cumsum(2 * self.rng.integers(0, 4, count) + 1)
        self.eighth = int(eighths[-1]) % 8 if count else self.eighth
        return phasor(eighths % 8 / 8)


class Coded:
    """Random bits in a line code; a chip 0 or 1 becomes the point of that index."""

    def __init__(self, points: Points, code: str, rng: np.random.Generator) -> None:
        self.points, self.rng = points, rng
        self.chips = np.array(LINE_CODES[code])  # (2, longest)
        self.rest = np.empty(0, np.int64)

    def take(self, count: int) -> Points:
        """The next ones."""
        drawn = self.chips[self.rng.integers(0, 2, count)].ravel()  # at least one chip per bit
        chips = np.concatenate([self.rest, drawn[drawn >= 0]])
        self.rest = chips[count:]
        return np.take(self.points, chips[:count])


class Buffer:
    """The symbols around a stretch of times, each drawn once."""

    def __init__(self, symbols: Symbols, reach: int) -> None:
        self.symbols, self.reach = symbols, reach
        self.first = -reach  # index of held[0]
        self.held = symbols.take(2 * reach + 1)

    def around(self, begin: int, end: int) -> Points:
        """Symbols begin - reach .. end + reach, both included; `begin` never falls."""
        missing = end + self.reach + 1 - (self.first + len(self.held))
        if missing > 0:
            self.held = np.concatenate([self.held, self.symbols.take(missing)])
        self.held = self.held[begin - self.reach - self.first :]
        self.first = begin - self.reach
        return self.held[: end - begin + 2 * self.reach + 1]
