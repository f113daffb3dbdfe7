"""Pipelines that go on for others: warmed from what the ring keeps, brought as far as the present one."""

from typing import NamedTuple

from service.models.live import LiveModel
from streaming.band.emissions import Emission
from streaming.band.pipeline import BandPipeline
from streaming.embedding import past_samples
from streaming.head import Head
from streaming.pipeline import LevelPipeline, LivePipeline, open_pipeline
from streaming.prediction import Past
from streaming.ring import Ring


class Position(NamedTuple):
    """How far a pipeline is, read in the engine thread, and the ring that holds what it has seen."""

    ring: Ring
    next: int | None  # index of the sample that should come next
    hop: int
    window: int
    begin: tuple[int, Past] | None  # of a stream that is one signal: where its hops are counted from, and why


def warm(model: LiveModel, head: Head, position: Position) -> LivePipeline:
    """A pipeline that has seen what the present one had, as far as its ring goes back."""
    new = open_pipeline(model.bundle, head, model.engine)
    if position.next is None:
        return new
    start = position.ring.before(position.next, past_samples(model.bundle) + head.window)
    if position.begin and isinstance(new, LevelPipeline):
        begin, _ = position.begin
        start = max(begin, start)
        start += (begin - start) % position.hop  # so that no hop is answered twice or left out
    for block in position.ring.blocks(start, position.next):
        new.push(block)
    if position.begin and isinstance(new, LevelPipeline):
        new.beginning = position.begin[1]
    return new


def go_on(new: LivePipeline, old: LivePipeline) -> list[Emission]:
    """Let a pipeline go on with the emissions of the one before; those that it cannot follow have ended."""
    if isinstance(new, BandPipeline) and isinstance(old, BandPipeline):
        new.take_over(old)
        return []
    new.emission = old.emission
    old.flush()
    return old.changes(0.0)


def catch_up(new: LivePipeline, position: Position) -> None:
    """Push what the present pipeline has seen since."""
    if new.next is not None and position.next is not None:
        for block in position.ring.blocks(new.next, position.next):
            new.push(block)
