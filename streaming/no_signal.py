"""Silences as predictions: one as soon as a silence is sure, then one each tenth of a second, then the rest.

They lie side by side and cover the whole silence. Where they are cut is counted from its first sample, so how
the stream is cut never shows.
"""

import numpy as np

from streaming.block import Block
from streaming.frontend import Silence
from streaming.prediction import NO_SIGNAL, Prediction, utc_ns

FIRST, EVERY = (0.02, 512), (0.1, 4096)  # seconds, and samples at least: a rate may be low, or unknown and 1


class Silences:
    """Silences of one stream in, predictions without a signal out."""

    def __init__(self, classes: int) -> None:
        self.nothing = np.zeros(classes)
        self._begin = self._told = self._until = 0.0  # [begin, until), told up to `told`

    def push(self, block: Block, silence: Silence) -> list[Prediction]:
        """What is to be told of a silence that goes on, or begins."""
        found: list[Prediction] = []
        if silence.start != self._until or self._begin == self._until:
            found = self.end(block)
            self._begin = self._told = silence.start
        self._until = silence.end
        while (end := self._next(block.rate_hz)) <= self._until:
            found.append(self._tell(block, end))
        return found

    def end(self, block: Block) -> list[Prediction]:
        """The rest of a silence, as it ends."""
        found = [self._tell(block, self._until)] if self._told < self._until else []
        self._begin = self._until
        return found

    def _next(self, rate_hz: float) -> float:
        """Where the next prediction ends."""
        seconds, samples = FIRST if self._told == self._begin else EVERY
        return self._told + max(round(seconds * rate_hz), samples)

    def _tell(self, block: Block, end: float) -> Prediction:
        start, self._told = round(self._told), end
        return Prediction(
            start,
            round(end),
            NO_SIGNAL,
            0.0,
            self.nothing.copy(),
            "warm",
            utc_ns(block, start),
            block.clock,
            round(self._begin),
        )
