"""A radio that visits the steps of a plan, again and again, as one source.

Each block carries the frequency that it was heard at. Samples that were under way while the radio was retuned
are discarded: those made before it was told, by the clock of their arrival, and those of the settling time
after. They are a gap, and are counted as lost with the reason `retune`.
"""

import logging
import math
import time
from collections.abc import Iterator
from dataclasses import replace

from hardware import open_source
from hardware.live import LiveSource
from hardware.plan import Plan
from hardware.source import Source
from streaming.block import Block, Gap
from streaming.errors import ConfigError, SourceError

OPENING_S = 0.25  # at first: samples that waited while the radio was opened say nothing of its clock
log = logging.getLogger("wavetell.hardware")


def open_sweep(address: str, plan: Plan) -> "Sweep":
    """Open a radio that follows a plan."""
    source = open_source(address)
    try:
        return Sweep(source, plan)
    except BaseException:
        source.close()
        raise


class Sweep(Source):
    """Blocks of a plan's steps; `visit` counts the steps, and belongs to the block that came last."""

    def __init__(self, source: Source, plan: Plan, passes: int | None = None) -> None:
        """Without `passes`, without end."""
        if not isinstance(source, LiveSource):
            raise ConfigError(
                f"source {source.address} cannot be retuned; a plan of frequencies needs a radio"
            )
        self.source, self.plan = source, plan
        self.address, self.rate_hz, self.counts = source.address, source.rate_hz, source.counts
        self.inferred, self.loss = source.inferred, source.loss
        self.centres = plan.centres(source.rate_hz)
        self.visits = None if passes is None else passes * len(self.centres)
        self.visit = 0
        self._end = 0  # index after the last sample that was given
        self._estimated = False  # the gap since then is not known exactly
        self._tuned: float | None = None  # when; None where the radio has yet to be told
        for freq_hz in (self.centres[-1], self.centres[0]):  # a radio that cannot go there says so now
            source.retune(freq_hz)
        self.freq_hz = source.freq_hz

    def blocks(self) -> Iterator[Block]:
        """The blocks of each visit; the last one of a visit is given when the radio is on its way on."""
        visit, until = 0, 0  # until: the index at which the visit ends, 0 while the radio settles
        dwell, opened = round(self.plan.dwell_s * self.rate_hz), time.monotonic() + OPENING_S
        for block in self.source.blocks():
            self.loss, self.freq_hz = self.source.loss, self.source.freq_hz
            if self._tuned is None and time.monotonic() >= opened:
                self._tune(visit)
            kept = block if until else self._settled(block)
            until = until or (kept.index + dwell if len(kept.samples) else 0)
            over = 0 < until <= block.end
            if over and len(self.centres) > 1:
                kept = kept.cut(kept.index, until)
                if visit + 1 != self.visits:
                    self._tune(visit + 1)
            self._count(block, kept)
            if len(kept.samples):
                self.visit, self._end = visit, kept.end
                yield kept
            if over:
                visit, until = visit + 1, 0 if len(self.centres) > 1 else block.end + dwell
                if visit == self.visits:
                    return

    def close(self) -> None:
        """Give the radio back."""
        self.source.close()

    def retune(self, freq_hz: float | None = None, gain: float | str | None = None) -> None:
        """Change the gain; the frequency is the plan's."""
        if freq_hz is not None:
            raise ConfigError(
                f"source {self.address} follows a plan of frequencies; only its gain can be set"
            )
        self.source.retune(gain=gain)

    def _tune(self, visit: int) -> None:
        """Go to the step of a visit; a radio that is away is told when it is back."""
        try:
            self.source.retune(self.centres[visit % len(self.centres)])
            self._tuned = time.monotonic()
        except SourceError as error:
            log.info("%s", error)
            self._tuned = None

    def _settled(self, block: Block) -> Block:
        """What of a block was made after the radio had settled, with the gap before it."""
        skip = len(block.samples)
        if self._tuned is not None:
            late_s = self._tuned + self.plan.settle_s - self.source.made_at(block.index)
            skip = min(skip, max(0, math.ceil(late_s * self.rate_hz)))
        kept = block.cut(block.index + skip, block.end)
        if not len(kept.samples) or kept.index == self._end:
            return kept
        exact = not (self._estimated or estimated(block))
        return replace(kept, gap=Gap(kept.index - self._end, "retune", exact))

    def _count(self, block: Block, kept: Block) -> None:
        """Samples of a block that are not given are lost."""
        self._estimated = not len(kept.samples) and (self._estimated or estimated(block))
        lost = len(block.samples) - len(kept.samples)
        if lost:
            self.counts.samples -= lost
            self.counts.gap(Gap(lost, "retune", exact=True))


def estimated(block: Block) -> bool:
    """Whether the number of samples lost before a block was estimated."""
    return block.gap is not None and not block.gap.exact
