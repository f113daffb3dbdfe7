"""The last seconds of a source, kept for whoever asks later: a trigger, a label, a model to warm up."""

from collections import deque
from dataclasses import replace

from streaming.block import Block


class RingBuffer:
    """Holds the newest block and `seconds` before it, in whole blocks."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._blocks: deque[Block] = deque()

    def push(self, block: Block) -> None:
        """Add a block and forget what is too old."""
        self._blocks.append(block)
        oldest = block.index - self.seconds * block.rate_hz
        while self._blocks[0].end <= oldest:
            self._blocks.popleft()

    def since(self, index: int) -> list[Block]:
        """The blocks from sample `index` on, or from the oldest that is left."""
        return [cut(block, index) for block in self._blocks if block.end > index]

    def reset(self) -> None:
        """Forget everything."""
        self._blocks.clear()


def cut(block: Block, index: int) -> Block:
    """The part of a block from `index` on."""
    over = index - block.index
    if over <= 0:
        return block
    utc_ns = None if block.utc_ns is None else block.utc_ns + round(over * 1e9 / block.rate_hz)
    return replace(block, samples=block.samples[over:], index=index, utc_ns=utc_ns, gap=None)
