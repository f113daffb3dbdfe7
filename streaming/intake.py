"""The intake: from a source's blocks to what there is to encode, and where there is nothing.

There are two: `Level` for models that take the source's samples as they are, and `Tuned`, the whole front
end, for models of signals on the air. Both give stretches that are encoded in one push.
"""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from streaming.agc import Agc
from streaming.block import Block, Samples, check_samples
from streaming.checked import Checked
from streaming.estimate import Estimate
from streaming.follower import Begins, Piece
from streaming.frontend import AgcSamples, FrontEnd, FrontEndSettings, Output, Silence


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive samples of one signal; sample i lies at `start + i * step` in the source's count."""

    samples: Samples  # (T,), at the model's rate and level
    start: float
    step: float
    begins: Begins | None  # None: it continues the stretch before
    ends: tuple[int, ...] = ()  # samples up to which each estimate holds
    estimates: tuple[Estimate, ...] = ()

    def estimate(self, samples: int) -> Estimate | None:
        """What was known when this many samples had come."""
        return self.estimates[bisect_left(self.ends, samples)] if self.estimates else None


Item = Stretch | Silence


class Intake(Protocol):
    """Blocks of one stream in, in order; the result does not depend on how they are cut."""

    @property
    def next(self) -> int | None:
        """Index of the sample that should come next."""

    @property
    def skipped(self) -> int:
        """Samples before gaps and ends that were too few to judge."""

    def push(self, block: Block) -> list[Item]:
        """What this block completes."""

    def flush(self) -> list[Item]:
        """What is left, as the stream ends."""


@dataclass(frozen=True)
class LevelSettings(Checked):
    """Of a model that takes the source's samples as they are."""

    section = "frontend"
    kind: Literal["level"] = "level"
    agc_samples: AgcSamples = 4096.0


FrontEndConfig = LevelSettings | FrontEndSettings  # `kind` tells them apart in a file


class Level:
    """A causal AGC alone."""

    def __init__(self, settings: LevelSettings) -> None:
        self.agc = Agc(settings.agc_samples)
        self.next: int | None = None
        self.freq_hz: float | None = None
        self.skipped = 0

    def push(self, block: Block) -> list[Item]:
        """The block at unit power; after a gap or a retune the level restarts."""
        check_samples(block.samples)
        begins: Begins | None = None
        if block.index != self.next or block.freq_hz != self.freq_hz:
            begins = "cold" if self.next is None else "gap"
            self.agc.reset()
        samples = self.agc.push(block.samples)
        self.next, self.freq_hz = block.end, block.freq_hz
        return [Stretch(samples, block.index, 1.0, begins)]

    def flush(self) -> list[Item]:
        """Nothing is held back."""
        return []


class Tuned:
    """The front end, with the pieces of one signal side by side made into one stretch."""

    def __init__(self, settings: FrontEndSettings) -> None:
        self.front = FrontEnd(settings)

    @property
    def next(self) -> int | None:
        """Index of the sample that should come next."""
        return self.front.next

    @property
    def skipped(self) -> int:
        """Samples that were too few to judge."""
        return self.front.skipped

    def push(self, block: Block) -> list[Item]:
        """The signals and silences that this block completes."""
        return stretches(self.front.push(block))

    def flush(self) -> list[Item]:
        """The rest of a signal."""
        return stretches(self.front.flush())


def stretches(output: Output) -> list[Item]:
    """Pieces that go on from each other as one."""
    items: list[Item] = []
    pieces: list[Piece] = []
    for item in output:
        if pieces and (isinstance(item, Silence) or item.begins):
            items.append(stretch(pieces))
            pieces = []
        if isinstance(item, Silence):
            items.append(item)
        else:
            pieces.append(item)
    return [*items, stretch(pieces)] if pieces else items


def stretch(pieces: list[Piece]) -> Stretch:
    """Pieces of one signal."""
    first = pieces[0]
    ends = np.cumsum([len(piece.samples) for piece in pieces]).tolist()
    samples = np.concatenate([piece.samples for piece in pieces])
    known = tuple(piece.estimate for piece in pieces)
    return Stretch(samples, first.start, first.step, first.begins, tuple(ends), known)


def open_intake(settings: FrontEndConfig) -> Intake:
    """The intake that a bundle's settings describe."""
    return Level(settings) if isinstance(settings, LevelSettings) else Tuned(settings)
