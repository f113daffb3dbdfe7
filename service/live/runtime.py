"""The engine thread: what waits of every stream goes through the encoder in one call.

Pipelines belong to this thread alone. Whoever wants to change something about them (a new stream, a head, a
model) gives it a function with `call`, which runs between two pushes: that is how a swap happens at one
hop, with no gap.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from service.live.answers import Answers
from service.live.latency import Latency
from service.live.streams import Stream
from streaming.block import Block
from streaming.bundle import Bundle, encoder_sha256
from streaming.embedding import past_samples
from streaming.engine import Engine
from streaming.errors import ConfigError, InputError
from streaming.head import Head
from streaming.intake import Item, Level
from streaming.pipeline import LivePipeline, push_all

log = logging.getLogger(__name__)
T = TypeVar("T")
RECENT_S = 10.0  # what the real-time factor is taken over


class Runtime:
    """One engine and the streams that share it."""

    def __init__(self, bundle: Bundle, engine: Engine) -> None:
        self.bundle, self.engine = bundle, engine
        self.work = threading.Condition()
        self.streams: dict[str, Stream] = {}
        self.answers: dict[str, Answers] = {}
        self.pipelines: dict[str, LivePipeline] = {}
        self.latency = Latency()
        self._recent: deque[tuple[float, float, float]] = deque()  # when, seconds of signal, seconds of work
        self._calls: list[Callable[[], None]] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def close(self) -> None:
        """Close every source, work off what waits, stop."""
        with ThreadPoolExecutor(max_workers=max(1, len(self.streams))) as pool:
            for stream in self.streams.values():
                pool.submit(stream.close)  # at once: one that hangs must not keep the others waiting
        with self.work:
            self._stopping = True
            self.work.notify_all()
        self._thread.join()
        for stream_id, pipeline in self.pipelines.items():
            self._end(self.streams[stream_id], pipeline, self.answers[stream_id])
            pipeline.close()

    def call(self, function: Callable[[], T]) -> T:
        """Run a function in the engine thread, between two pushes."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(function())
            except Exception as error:
                future.set_exception(error)

        with self.work:
            if self._stopping:
                raise ConfigError("the service is stopping")
            self._calls.append(run)
            self.work.notify_all()
        return future.result()

    def add(self, stream: Stream, answers: Answers) -> None:
        """Serve one more stream."""

        def begin() -> None:
            self.pipelines[stream.id] = LivePipeline(self.bundle, answers.head, self.engine)
            self.answers[stream.id] = answers
            with self.work:
                self.streams[stream.id] = stream

        self.call(begin)

    def remove(self, stream: Stream) -> None:
        """Serve a stream no longer."""

        def end() -> None:
            with self.work:
                del self.streams[stream.id]
            pipeline = self.pipelines.pop(stream.id)
            self._end(stream, pipeline, self.answers.pop(stream.id))
            pipeline.close()

        self.call(end)

    def swap(self, bundle: Bundle, engine: Engine, heads: dict[str, Head], sha256: str) -> None:
        """Answer with another model: its pipelines are warmed from the rings, and all switch at one hop.

        Where only the head is another, the states stay as they are and nothing needs warming.
        """
        if engine.hop == self.engine.hop and same_states(bundle, self.bundle):
            engine = self.engine
        warmed = {
            stream_id: self._warm(stream_id, bundle, engine, head)
            for stream_id, head in heads.items()
            if engine is not self.engine or head.window != self.pipelines[stream_id].head.window
        }

        def switch() -> None:
            for stream_id, head in heads.items():
                if stream_id in self.streams and stream_id not in warmed:
                    self.pipelines[stream_id].use(head)
                    self.answers[stream_id].use(head, sha256)
            for stream_id, new in warmed.items():
                if stream_id not in self.streams:  # deleted meanwhile
                    new.close()
                    continue
                old = self.pipelines[stream_id]
                self._catch_up(stream_id, new, old)
                self.pipelines[stream_id] = new
                self.answers[stream_id].use(new.head, sha256)
                old.close()
            self.bundle, self.engine = bundle, engine

        self.call(switch)

    def _warm(self, stream_id: str, bundle: Bundle, engine: Engine, head: Head) -> LivePipeline:
        """A pipeline that has seen what the present one has, as far as the ring goes back."""
        new, old = LivePipeline(bundle, head, engine), self.pipelines[stream_id]
        if old.next is not None:
            ring = self.streams[stream_id].ring
            start = ring.before(old.next, past_samples(bundle) + head.window)
            if isinstance(old.intake, Level) and isinstance(new.intake, Level):
                start = max(round(old.begin), start)
                start += (
                    round(old.begin) - start
                ) % old.head.hop  # so that no hop is answered twice or left out
            for block in ring.blocks(start, old.next):
                new.push(block)
            new.beginning = old.beginning
            self._catch_up(stream_id, new, old)
        return new

    def _catch_up(self, stream_id: str, new: LivePipeline, old: LivePipeline) -> None:
        if new.next is None or old.next is None:
            return
        for block in self.streams[stream_id].ring.blocks(new.next, old.next):
            new.push(block)

    @property
    def real_time_factor(self) -> float:
        """Seconds of signal that a second of work gets through, lately; below 1 samples must be dropped."""
        recent = list(self._recent)
        worked = sum(work for _, _, work in recent)
        return sum(signal for _, signal, _ in recent) / worked if worked else 0.0

    def _run(self) -> None:
        while True:
            with self.work:
                while not (
                    self._calls or self._stopping or any(s.queue or s.over for s in self.streams.values())
                ):
                    self.work.wait()
                calls, self._calls = self._calls, []
                batch = [(stream, *stream.pop()) for stream in self.streams.values() if stream.queue]
                ended = [s for s in self.streams.values() if s.over and not s.queue]
                for stream in ended:
                    stream.over = False
                if self._stopping and not batch and not calls and not ended:
                    return
                self.work.notify_all()  # readers of recordings may wait for room
            for call in calls:
                call()
            present = [entry for entry in batch if entry[0].id in self.streams]
            over = [stream for stream in ended if stream.id in self.streams]
            try:
                if present:
                    self._process(present)
                for stream in over:
                    self._end(stream, self.pipelines[stream.id], self.answers[stream.id])
            except Exception as error:  # a fault of ours: these streams end, and the service goes on
                log.exception("engine")
                for stream in [*(entry[0] for entry in present), *over]:
                    stream.fail(f"internal error: {error!r}")
                    stream.close()

    def _end(self, stream: Stream, pipeline: LivePipeline, answers: Answers) -> None:
        """Answer what is left of a stream."""
        answers.end(pipeline.flush())
        stream.counts.skipped = pipeline.skipped

    def _process(self, batch: list[tuple[Stream, Block, float]]) -> None:
        began = time.monotonic()
        ready: list[tuple[Stream, Block, float]] = []
        work: list[tuple[LivePipeline, Block, list[Item]]] = []
        for stream, block, arrived in batch:
            pipeline = self.pipelines[stream.id]
            try:
                items = pipeline.level(block)
            except InputError:
                stream.counts.dropped["not finite"] += len(block.samples)
                stream.counts.gaps += 1
                continue
            ready.append((stream, block, arrived))
            work.append((pipeline, block, items))
        for (stream, block, arrived), predictions in zip(ready, push_all(self.engine, work), strict=True):
            stream.counts.processed += len(block.samples)
            stream.counts.skipped = self.pipelines[stream.id].skipped
            self.answers[stream.id].push(block, predictions)
            stream.lag_s = time.monotonic() - arrived
            self.latency.add(stream.lag_s, len(predictions))
        now = time.monotonic()
        signal_s = sum(len(block.samples) / block.rate_hz for _, block, _ in batch) / len(self.streams)
        self._recent.append((now, signal_s, now - began))
        while self._recent[0][0] < now - RECENT_S:
            self._recent.popleft()


def same_states(one: Bundle, other: Bundle) -> bool:
    """Whether two models make the same of a stream before any head sees it."""
    same = (one.meta.front_end, one.meta.has_features) == (other.meta.front_end, other.meta.has_features)
    return same and encoder_sha256(one.encoder) == encoder_sha256(other.encoder)
