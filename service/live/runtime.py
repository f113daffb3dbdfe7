"""The engine thread: what is queued of every stream goes through the encoder in one call.

Pipelines are read and changed in this thread alone. Another thread that adds a stream or replaces a head or
the model passes a function to `call`, which runs between two pushes: so a swap happens at one hop, without a
gap.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from prometheus_client import Histogram

from service.errors import NotFound
from service.live.answers import Answers
from service.live.load import Load
from service.live.streams import Stream
from service.live.warm import Position, catch_up, go_on, warm
from service.models.live import LiveModel
from service.supervised import Supervised
from streaming.band.pipeline import BandPipeline
from streaming.block import Block, check_samples
from streaming.errors import ConfigError, InputError
from streaming.head import Head
from streaming.pipeline import LevelPipeline, LivePipeline, open_pipeline, push_all

log = logging.getLogger(__name__)
T = TypeVar("T")
LATENCY_S = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)  # upper bounds of the histogram
Entry = tuple[Stream, Block, float]  # with the time of arrival


class Runtime:
    """One engine and the streams that share it."""

    def __init__(self, model: LiveModel) -> None:
        self.model = model  # replaced in the engine thread alone
        self.work = threading.Condition()
        self.streams: dict[str, Stream] = {}
        self.answers: dict[str, Answers] = {}
        self.pipelines: dict[str, LivePipeline] = {}
        self.latency = Histogram(
            "wavetell_hop_latency_seconds",
            "From a block's arrival to the answers it completed.",
            buckets=LATENCY_S,
            registry=None,
        )
        self.load = Load()
        self._calls: list[Callable[[], None]] = []
        self._stopping = False
        self.thread = Supervised("engine", self._run)

    def start(self) -> None:
        """Start the engine thread."""
        self.thread.start()

    def close(self) -> None:
        """Close every source, process what is queued, stop."""
        with ThreadPoolExecutor(max_workers=max(1, len(self.streams))) as pool:
            for stream in self.streams.values():
                pool.submit(stream.close)  # at once: one that hangs must not keep the others waiting
        with self.work:
            self._stopping = True
            self.work.notify_all()
        self.thread.join()
        for stream_id, pipeline in self.pipelines.items():
            with self._failing([self.streams[stream_id]]):
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

    def stream(self, stream_id: str) -> Stream:
        """The stream of this id."""
        stream = self.streams.get(stream_id)
        if stream is None:
            raise NotFound(f"there is no stream {stream_id}")
        return stream

    def add(self, stream: Stream, answers: Answers) -> None:
        """Serve one more stream."""

        def serve() -> None:
            pipeline = open_pipeline(self.model.bundle, answers.head, self.model.engine)
            if isinstance(pipeline, BandPipeline) and not stream.patient:
                self.load.give(pipeline)
            self.pipelines[stream.id] = pipeline
            self.answers[stream.id] = answers
            with self.work:
                self.streams[stream.id] = stream

        self.call(serve)

    def remove(self, stream: Stream) -> None:
        """Stop serving a stream."""

        def end() -> None:
            with self.work:
                del self.streams[self.stream(stream.id).id]
            pipeline, answers = self.pipelines.pop(stream.id), self.answers.pop(stream.id)
            with self._failing([stream]):
                self._end(stream, pipeline, answers)
            pipeline.close()

        self.call(end)

    def swap(self, model: LiveModel, heads: Mapping[str, Head]) -> None:
        """Answer with this model, and these streams with these heads: all switch at one hop.

        Where the engine is another one, new pipelines are warmed from the rings before. Where only the head
        is another one, the states stay as they are.
        """
        warmed = self._warm_all(model, heads)

        def switch() -> None:
            for stream_id, head in heads.items():
                if stream_id not in self.pipelines:  # deleted meanwhile
                    continue
                old, new = self.pipelines[stream_id], warmed.pop(stream_id, None)
                if new:
                    catch_up(new, self._position(stream_id))
                    self.answers[stream_id].follow(go_on(new, old))
                    self.pipelines[stream_id] = new
                    old.close()
                else:
                    old.use(head)
                self.answers[stream_id].use(head, model.sha256)
            for new in warmed.values():
                new.close()
            self.model = model

        self.call(switch)

    def _warm_all(self, model: LiveModel, heads: Mapping[str, Head]) -> dict[str, LivePipeline]:
        """New pipelines where the present ones cannot go on, brought as far as those are."""
        positions = self.call(self._positions)
        warmed = {
            stream_id: warm(model, heads[stream_id], position)
            for stream_id, position in positions.items()
            if stream_id in heads
            and (model.engine is not self.model.engine or heads[stream_id].window != position.window)
        }
        if warmed:  # that took a while
            for stream_id, position in self.call(self._positions).items():
                if stream_id in warmed:
                    catch_up(warmed[stream_id], position)
        return warmed

    def _positions(self) -> dict[str, Position]:
        return {stream_id: self._position(stream_id) for stream_id in self.pipelines}

    def _position(self, stream_id: str) -> Position:
        pipeline = self.pipelines[stream_id]
        return Position(
            self.streams[stream_id].ring,
            pipeline.next,
            pipeline.head.hop,
            pipeline.head.window,
            (pipeline.begin, pipeline.beginning) if isinstance(pipeline, LevelPipeline) else None,
        )

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
            if present:
                self._process(present)
            for stream in over:
                with self._failing([stream]):
                    self._end(stream, self.pipelines[stream.id], self.answers[stream.id])

    @contextmanager
    def _failing(self, streams: list[Stream]) -> Iterator[None]:
        """A bug fails the streams that it is in, and the others continue."""
        try:
            yield
        except Exception as error:
            log.exception("engine: %s", ", ".join(stream.id for stream in streams))
            for stream in streams:
                stream.fail(f"internal error: {error!r}")
                stream.close()

    def _end(self, stream: Stream, pipeline: LivePipeline, answers: Answers) -> None:
        """Answer what is still held back of a stream."""
        before = pipeline.skipped
        answers.end(pipeline.flush())
        answers.follow(pipeline.changes(answers.report_ms / 1000))
        stream.counts.skipped += pipeline.skipped - before

    def _process(self, batch: list[Entry]) -> None:
        began = time.monotonic()
        groups: dict[str, list[Entry]] = {}  # streams that share an engine push, and each other on its own
        for stream, block, arrived in batch:
            try:
                check_samples(block.samples)
            except InputError:
                stream.counts.dropped["not finite"] += len(block.samples)
                stream.counts.gaps += 1
                continue
            level = isinstance(self.pipelines[stream.id], LevelPipeline)
            groups.setdefault("" if level else stream.id, []).append((stream, block, arrived))
        for group in groups.values():
            pushed, live = time.monotonic(), [stream for stream, _, _ in group if not stream.patient]
            with self._failing([stream for stream, _, _ in group]):
                self._push(group)
            if live:
                self.load.work(time.monotonic() - pushed, max(stream.lag_s for stream in live))
        now = time.monotonic()
        signal_s = sum(len(block.samples) / block.rate_hz for _, block, _ in batch) / len(self.streams)
        self.load.add(signal_s, now - began)
        self.load.adapt(self._live_bands(), now)

    def _live_bands(self) -> list[BandPipeline]:
        """The pipelines whose answers may have to be thinned."""
        live = [s.id for s in self.streams.values() if not s.patient and s.state == "running"]
        return [p for p in map(self.pipelines.get, live) if isinstance(p, BandPipeline)]

    def _push(self, batch: list[Entry]) -> None:
        work = [(self.pipelines[stream.id], block) for stream, block, _ in batch]
        before = [pipeline.skipped for pipeline, _ in work]
        for (stream, block, arrived), (pipeline, _), skipped, predictions in zip(
            batch, work, before, push_all(self.model.engine, work), strict=True
        ):
            stream.counts.processed += len(block.samples)
            stream.counts.skipped += pipeline.skipped - skipped
            began = time.thread_time()
            with self._failing([stream]):
                answers = self.answers[stream.id]
                answers.push(block, predictions)
                answers.follow(pipeline.changes(answers.report_ms / 1000))
            if isinstance(pipeline, BandPipeline):
                pipeline.stages["reports"] += time.thread_time() - began
            stream.lag_s = time.monotonic() - arrived
            for _ in predictions:
                self.latency.observe(stream.lag_s)
