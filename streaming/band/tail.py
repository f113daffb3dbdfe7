"""A tail: the newest samples of a stream, which grows at its end and is cut at its front.

>>> tail = Tail()
>>> tail.append(np.arange(4, dtype=np.complex64))
>>> tail.drop(2)
>>> tail.samples.real.tolist()
[2.0, 3.0]
"""

import numpy as np

from streaming.block import Samples

SPARE = 4  # a part of the samples' memory that is kept free, so that few of them are ever copied


class Tail:
    """`append` samples and `drop` old ones; what was given out as `samples` keeps its values."""

    def __init__(self) -> None:
        self._room = np.empty(0, np.complex64)
        self._first = self._end = 0

    def __len__(self) -> int:
        return self._end - self._first

    @property
    def samples(self) -> Samples:
        """All of them, without a copy."""
        return self._room[self._first : self._end]

    def append(self, samples: Samples) -> None:
        """Add samples at the end; memory that is full is left to those who still read it."""
        if self._end + len(samples) > len(self._room):
            count = len(self) + len(samples)
            room = np.empty(count + count // SPARE, np.complex64)
            room[: len(self)] = self.samples
            self._room, self._first, self._end = room, 0, len(self)
        self._room[self._end : self._end + len(samples)] = samples
        self._end += len(samples)

    def drop(self, count: int) -> None:
        """Forget the oldest."""
        self._first += count

    def take_back(self, count: int) -> None:
        """Forget the newest, which nobody was given yet."""
        self._end -= count
