"""A block: consecutive samples of one source, and where they lie in its stream."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from streaming.errors import InputError

Samples = NDArray[np.complex64]
LOUDEST = 1e8  # times full scale: no receiver gives more
Clock = Literal["hardware", "recording", "host"]


@dataclass(frozen=True, slots=True)
class Gap:
    """Samples that were lost just before a block."""

    samples: int
    reason: str  # "overflow", "zmq drop", "device lost", ...
    exact: bool  # False where the number was estimated from the clock


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive samples.

    ``index`` counts from when the source opened, lost samples included: an index beyond the end of the
    block before it means a gap, and ``gap`` says what it was.
    """

    samples: Samples  # (T,)
    index: int
    rate_hz: float
    freq_hz: float | None = None  # centre frequency, None where it is not known
    utc_ns: int | None = None  # of the first sample, nanoseconds since 1970
    clock: Clock = "host"
    gap: Gap | None = None

    @property
    def end(self) -> int:
        """Index of the sample after the last one."""
        return self.index + len(self.samples)

    def utc_at(self, index: int) -> int | None:
        """The time of any sample of the stream."""
        if self.utc_ns is None:
            return None
        return self.utc_ns + round((index - self.index) * 1e9 / self.rate_hz)

    def follows(self, before: "Block") -> bool:
        """Whether it continues another block, at the same rate and frequency."""
        same = (self.rate_hz, self.freq_hz) == (before.rate_hz, before.freq_hz)
        return same and self.index == before.end

    def cut(self, start: int, end: int) -> "Block":
        """Its part within [start, end)."""
        first = max(start, self.index)
        if first == self.index and end >= self.end:
            return self
        return replace(
            self,
            samples=self.samples[first - self.index : max(0, end - self.index)],
            index=first,
            utc_ns=self.utc_at(first),
            gap=self.gap if first == self.index else None,
        )


def merge(blocks: Sequence[Block]) -> Block:
    """Blocks that follow each other as one."""
    if len(blocks) == 1:
        return blocks[0]
    return replace(blocks[0], samples=np.concatenate([block.samples for block in blocks]))


def check_samples(samples: Samples) -> None:
    """Refuse what no stage can take. This is done once, where samples enter; stages rely on it."""
    if not isinstance(samples, np.ndarray) or samples.dtype != np.complex64 or samples.ndim != 1:
        raise InputError(f"samples are {describe(samples)}; expected complex64 of shape (samples,)")
    if not usable(samples).all():
        raise InputError(f"samples contain NaN or infinity, or more than {LOUDEST:g} times full scale")


def usable(samples: Samples) -> NDArray[np.bool_]:
    """Which samples are numbers that a receiver may give; powers of larger ones are no numbers any more."""
    return np.asarray(np.maximum(np.abs(samples.real), np.abs(samples.imag)) <= LOUDEST)


def describe(array: object) -> str:
    """The dtype and shape of what was given instead."""
    return f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
