"""A stream: one source, the thread that reads it, and the bounded queue to the engine.

Answers get the time that a live source's other work leaves (`service.live.load`). If that work alone is too
much, everything that waits is dropped at once: one gap that is counted and reported, rather than a lag that
grows or many gaps that each empty the encoder's states. A recording read faster than real time waits instead.
"""

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from hardware import Counts as SourceCounts
from hardware import Source, open_source
from hardware.address import parse_address
from hardware.plan import Plan
from hardware.sweep import open_sweep
from service.errors import Conflict
from service.storage.ids import new_id
from streaming.block import Block, Gap, merge, usable
from streaming.errors import ConfigError, SourceError, WavetellError
from streaming.quantities import INDEX
from streaming.ring import Ring

log = logging.getLogger(__name__)

State = Literal["running", "paused", "ended", "failed"]
PUSH = 16_384  # samples of one stream that one engine push takes, so that no stream waits long for another


@dataclass
class Counts:
    """What became of a stream's samples since it was created."""

    processed: int = 0
    dropped: Counter[str] = field(default_factory=Counter)  # reason -> samples
    skipped: int = 0  # of those processed, too few before a gap or an end to be judged
    gaps: int = 0
    labels: Counter[str] = field(default_factory=Counter)  # label -> hops


@dataclass(frozen=True)
class Limits:
    """What one stream may hold back."""

    queue_ms: int = 500
    ring_s: int = 30
    ring_bytes: int = 128 << 20


class Stream:
    """One source and what waits of it. `work` guards the queue and wakes the engine."""

    def __init__(
        self,
        address: str,
        name: str,
        limits: Limits,
        work: threading.Condition,
        stream_id: str = "",
        plan: Plan | None = None,
    ) -> None:
        self.id, self.address, self.name, self.plan = stream_id or new_id(), address, name, plan
        self.created_ns = time.time_ns()
        self.limits, self.work = limits, work
        self.state: State = "paused"
        self.error = ""
        self._ended = False  # for good
        self.counts = Counts()
        self.ring = Ring(limits.ring_s, limits.ring_bytes)
        self.lag_s = 0.0
        self.taps: list[Callable[[Block], None]] = []  # recorders that take every block as it comes
        parsed = parse_address(address)
        pace = parsed.options.values.get("pace", "fast" if parsed.scheme == "file" else "realtime")
        self.patient = pace == "fast"
        self.queue: deque[tuple[Block, float]] = deque()  # with the monotonic time of arrival
        self.queued = 0  # samples
        self.over = False  # the source has ended, and what is left of it has not been answered yet
        self.source: Source | None = None
        self._base = self._end = 0  # index of the source's first sample, and after the last that came
        self._anchor: tuple[int, int] | None = None  # an index, and the host's time when it was heard
        self._gap: Gap | None = None  # to be marked on the next block
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def rate_hz(self) -> float:
        """The source's rate, 0 as long as it is not known."""
        return getattr(self.source, "rate_hz", 0.0)

    @property
    def received(self) -> SourceCounts:
        """What the source has delivered and lost since it was last opened."""
        return self.source.counts if self.source else SourceCounts()

    def start(self) -> None:
        """Open the source, for the first time or again; what went by meanwhile is a gap."""
        self._check_startable()
        source = open_source(self.address) if self.plan is None else open_sweep(self.address, self.plan)
        try:
            with self.work:
                self._check_startable()  # opening a radio takes a while
                self._begin(source)
        except WavetellError:
            source.close()
            raise

    def _check_startable(self) -> None:
        if self._ended:
            raise Conflict(f"stream {self.id} was deleted")
        if self.state == "running":
            raise ConfigError(f"stream {self.id} is running already")

    def _begin(self, source: Source) -> None:
        """Read from a source; called with `work` held."""
        if self._anchor is not None:
            passed = max(1, round((time.time_ns() - self._anchor[1]) * self.rate_hz / 1e9))
            self._base = self._end + passed
            self._gap = Gap(passed, self.state, exact=False)
        self.source, self.state, self.error, self._stop = source, "running", "", threading.Event()
        self.over = False
        self._thread = threading.Thread(
            target=self._run, args=(source, self._stop), name=f"read {self.id}", daemon=True
        )
        self._thread.start()

    def _run(self, source: Source, stop: threading.Event) -> None:
        try:
            with source:
                for block in source.blocks():
                    if stop.is_set():
                        break
                    bad = np.flatnonzero(~usable(block.samples))
                    if len(bad):
                        self._take_around(block, int(bad[0]), int(bad[-1]) + 1)
                    else:
                        self._take(block)
            if not stop.is_set():
                with self.work:
                    self.state, self.over = "ended", True
                    self.work.notify_all()
        except WavetellError as error:
            self.fail(str(error))
        except Exception as error:  # it fails this stream and no other
            log.exception("stream %s", self.id)
            self.fail(f"internal error: {error!r}")

    def fail(self, error: str) -> None:
        """The stream cannot go on; the others can."""
        self.state, self.error = "failed", error
        log.warning("stream %s (%s): %s", self.id, self.address, error)

    def _take_around(self, block: Block, first: int, last: int) -> None:
        """Keep what lies around the samples [first, last), which no stage can take; they are lost."""
        gap = None
        if first:
            self._take(block.cut(block.index, block.index + first))
        else:
            gap = self._gap or block.gap
        self.counts.dropped["not finite"] += last - first
        lost = last - first + (gap.samples if gap else 0)
        self._gap = Gap(lost, "not finite", exact=gap is None or gap.exact)
        self._end = self._base + block.index + last
        if last < len(block.samples):
            self._take(block.cut(block.index + last, block.end))

    def _take(self, block: Block) -> None:
        """Keep a block, and queue it or count it."""
        now_ns = time.time_ns()
        index = self._base + block.index
        gap = self._gap or block.gap
        self._gap = None
        end = index + len(block.samples)
        if end > INDEX.most:
            raise SourceError(
                f"{self.address} has counted {end:,} samples, lost ones included; that cannot be"
            )
        self._anchor = (end, now_ns)
        if block.utc_ns is None:
            block = replace(block, utc_ns=self.heard_ns(index), clock="host")
        block = replace(block, index=index, gap=gap)
        self.counts.gaps += gap is not None
        self._end = end
        self.ring.append(block)
        for tap in self.taps.copy():
            tap(block)
        bound = self._bound(block)
        with self.work:
            while self.patient and self.queued + len(block.samples) > bound and not self._stop.is_set():
                self.work.wait(0.1)
            if self.patient and self._stop.is_set():
                return
            if self.queued + len(block.samples) > bound:
                block = replace(block, gap=self._drop_queue())
            self.queue.append((block, time.monotonic()))
            self.queued += len(block.samples)
            self.work.notify_all()

    def _bound(self, block: Block) -> float:
        """Samples that may wait."""
        return max(self.limits.queue_ms * block.rate_hz / 1000, 2 * len(block.samples))

    def _drop_queue(self) -> Gap:
        """Give up what waits; called with `work` held."""
        gap = Gap(self.queued, "overload", exact=True)
        self.counts.dropped[gap.reason] += gap.samples
        self.counts.gaps += 1
        log.warning("stream %s: the engine is too slow, %d samples dropped", self.id, gap.samples)
        self.queue.clear()
        self.queued = 0
        return gap

    def pop(self) -> tuple[Block, float]:
        """The blocks that wait and follow each other, as one; called with `work` held."""
        block, arrived = self.queue.popleft()
        blocks, samples = [block], len(block.samples)
        while self.queue:
            following = self.queue[0][0]
            if not following.follows(blocks[-1]):
                break
            if samples + len(following.samples) > PUSH:
                break
            blocks.append(self.queue.popleft()[0])
            samples += len(following.samples)
        self.queued -= samples
        return merge(blocks), arrived

    def heard_ns(self, index: int) -> int:
        """The host's time when a sample was heard."""
        if self._anchor is None:
            return self.created_ns
        anchor, at_ns = self._anchor
        return at_ns - round((anchor - index) / self.rate_hz * 1e9)

    def index_at(self, heard_ns: int) -> int:
        """The sample that was heard at this time of the host."""
        if self._anchor is None:
            raise ConfigError(f"stream {self.id} has not heard anything yet")
        anchor, at_ns = self._anchor
        return anchor - round((at_ns - heard_ns) * self.rate_hz / 1e9)

    def pause(self) -> None:
        """Close the source until `start`."""
        if self.state != "running":
            raise ConfigError(f"stream {self.id} is {self.state}; only a running one can be paused")
        self.state = "paused"
        self.close()

    def retune(self, freq_hz: float | None, gain: float | str | None) -> None:
        """Change frequency or gain of a running source."""
        if self.source is None or self.state != "running":
            raise ConfigError(f"stream {self.id} is {self.state}; only a running one can be retuned")
        self.source.retune(freq_hz, gain)

    def close(self) -> None:
        """Close the source and wait for its thread."""
        self._stop.set()
        if self.source is None or self._thread is None:
            return
        self.source.close()
        with self.work:
            self.work.notify_all()
        self._thread.join(2)

    def end(self) -> None:
        """Close the source for good."""
        with self.work:
            self._ended = True
        self.close()
