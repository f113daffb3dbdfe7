"""The newest seconds of a stream's raw I/Q, for the spectrum, recordings and labels.

>>> ring = Ring(seconds=10, max_bytes=64 << 20)
"""

import threading
from collections import deque
from dataclasses import replace

import numpy as np

from streaming.block import Block, Samples
from streaming.errors import InputError

SAMPLE_BYTES = 8


class Ring:
    """Blocks as they came, the oldest let go; one thread appends, any may read."""

    def __init__(self, seconds: float, max_bytes: int) -> None:
        self.seconds, self.max_samples = seconds, max_bytes // SAMPLE_BYTES
        self._blocks: deque[Block] = deque()
        self._samples = 0
        self._lock = threading.Lock()

    def append(self, block: Block) -> None:
        """Keep a block."""
        with self._lock:
            self._blocks.append(block)
            self._samples += len(block.samples)
            limit = min(self.max_samples, self.seconds * block.rate_hz)
            while self._samples > limit and len(self._blocks) > 1:
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
        return [cut(block, start, end) for block in kept]

    def newest(self, samples: int) -> list[Block]:
        """The last blocks that hold this many samples, or all."""
        kept: list[Block] = []
        with self._lock:
            for block in reversed(self._blocks):
                kept.append(block)
                samples -= len(block.samples)
                if samples <= 0:
                    break
        return kept[::-1]

    def read(self, start: int, end: int) -> Block:
        """The samples [start, end) as one block; refused where some of them are gone or were lost."""
        blocks = self.blocks(start, end)
        if sum(len(block.samples) for block in blocks) != end - start or end <= start:
            first, last = self.span
            raise InputError(
                f"samples {start} to {end} are not all kept; kept are {first} to {last}, less gaps"
            )
        return merge(blocks)

    def before(self, index: int, samples: int) -> int:
        """The first of up to `samples` samples that lie before `index` with no gap between."""
        start = index
        for block in reversed(self.blocks(index - samples, index)):
            if block.end != start:
                break
            start = block.index
        return start


def cut(block: Block, start: int, end: int) -> Block:
    """The part of a block within [start, end)."""
    skip = max(0, start - block.index)
    if not skip and block.end <= end:
        return block
    utc_ns = None if block.utc_ns is None else block.utc_ns + round(skip / block.rate_hz * 1e9)
    return replace(
        block, samples=block.samples[skip : end - block.index], index=block.index + skip, utc_ns=utc_ns
    )


def merge(blocks: list[Block]) -> Block:
    """Blocks that follow each other as one."""
    if len(blocks) == 1:
        return blocks[0]
    samples: Samples = np.concatenate([block.samples for block in blocks])
    return replace(blocks[0], samples=samples)
