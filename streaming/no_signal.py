"""Silences as predictions: one once a silence is certain, then one per tenth of a second, then the rest.

They are contiguous and cover the whole silence. Their ends are counted from its first sample, so they do not
depend on how the stream is cut into blocks.
"""

import numpy as np

from streaming.band.frontend import Silence
from streaming.block import Block
from streaming.prediction import NO_SIGNAL, Prediction

FIRST, EVERY = (0.02, 512), (0.1, 4096)  # seconds, and samples at least: a rate may be low, or unknown and 1


class Silences:
    """Silences of one stream in, predictions without a signal out."""

    def __init__(self, classes: int) -> None:
        self.nothing = np.zeros(classes)
        self._begin = self._reported = self._until = 0.0  # [begin, until); reported up to `_reported`

    def push(self, block: Block, silence: Silence) -> list[Prediction]:
        """The predictions that a silence completes."""
        found: list[Prediction] = []
        if silence.start != self._until or self._begin == self._until:
            found = self.end(block)
            self._begin = self._reported = silence.start
        self._until = silence.end
        while (end := self._next(block.rate_hz)) <= self._until:
            found.append(self._report(block, end))
        return found

    def end(self, block: Block) -> list[Prediction]:
        """The rest of a silence, as it ends."""
        found = [self._report(block, self._until)] if self._reported < self._until else []
        self._begin = self._until
        return found

    def _next(self, rate_hz: float) -> float:
        """Where the next prediction ends."""
        seconds, samples = FIRST if self._reported == self._begin else EVERY
        return self._reported + max(round(seconds * rate_hz), samples)

    def _report(self, block: Block, end: float) -> Prediction:
        start, self._reported = round(self._reported), end
        return Prediction(
            start,
            round(end),
            NO_SIGNAL,
            0.0,
            self.nothing.copy(),
            "warm",
            block.utc_at(start),
            block.clock,
            round(self._begin),
        )
