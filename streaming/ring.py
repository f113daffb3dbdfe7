"""The newest seconds of a stream's raw I/Q, kept for a trigger, a label or a new model.

>>> ring = Ring(seconds=10, max_bytes=64 << 20)
"""

import math
import threading
from collections import deque
from itertools import pairwise

from streaming.block import Block, merge
from streaming.errors import InputError

SAMPLE_BYTES = 8


class Ring:
    """Whole blocks that reach into the newest `seconds`; one thread appends, any may read."""

    def __init__(self, seconds: float, max_bytes: float = math.inf) -> None:
        self.seconds, self.max_samples = seconds, max_bytes / SAMPLE_BYTES
        self._blocks: deque[Block] = deque()
        self._samples = 0
        self._lock = threading.Lock()

    def append(self, block: Block) -> None:
        """Keep a block."""
        with self._lock:
            self._blocks.append(block)
            self._samples += len(block.samples)
            oldest = block.end - self.seconds * block.rate_hz
            while len(self._blocks) > 1 and (
                self._blocks[0].end <= oldest or self._samples > self.max_samples
            ):
                self._samples -= len(self._blocks.popleft().samples)

    @property
    def span(self) -> tuple[int, int]:
        """First sample that is kept, and the one after the last."""
        with self._lock:
            return (self._blocks[0].index, self._blocks[-1].end) if self._blocks else (0, 0)

    def blocks(self, start: int, end: int) -> list[Block]:
        """What is kept of [start, end), cut to it."""
        with self._lock:
            kept = [block for block in self._blocks if block.end > start and block.index < end]
        return [block.cut(start, end) for block in kept]

    def read(self, start: int, end: int) -> Block:
        """The samples [start, end) as one block; refused where some are gone, or of another frequency."""
        blocks = self.blocks(start, end)
        if sum(len(block.samples) for block in blocks) != end - start or end <= start:
            first, last = self.span
            raise InputError(
                f"samples {start} to {end} are not all kept; kept are {first} to {last}, less gaps"
            )
        if not all(block.follows(before) for before, block in pairwise(blocks)):
            raise InputError(f"the frequency or rate changed within samples {start} to {end}")
        return merge(blocks)

    def before(self, index: int, samples: int) -> int:
        """The first of up to `samples` samples before `index`, with no gap and no retune in between."""
        start, after = index, None
        for block in reversed(self.blocks(index - samples, index + 1)):
            if block.end < start or (after and not after.follows(block)):
                break
            start, after = min(start, block.index), block
        return start
