"""Everything that runs in one service: streams, model, history, labels, and how they change."""

import hashlib
import logging
from pathlib import Path

from hardware import source_address
from hardware.plan import Plan
from service.errors import Conflict, NotFound
from service.live.answers import Answers
from service.live.emissions import EmissionRow
from service.live.events import Detector
from service.live.hub import Hub
from service.live.retry import Retry
from service.live.streams import Limits, Stream
from service.live.wanted import Wanted, WantedStreams
from service.models.live import LiveModel
from service.models.owner import ModelOwner
from service.models.store import ModelStore
from service.outlet import Outlet
from service.schemas.labels import Label
from service.settings import Settings, listed
from service.sinks import open_sinks
from service.storage.database import open_database
from service.storage.history import History
from service.storage.ignored import Ignored
from service.storage.labels import Labelled, LabelStore
from service.storage.likeness import Likeness
from service.storage.queries import find_emission
from service.storage.recordings import RecordingStore, heard_in
from service.storage.retention import Retention
from service.storage.saver import Saver
from service.storage.work import clear_work
from service.supervised import Supervised
from service.watch.clips import ClipStore
from service.watch.rules import Rules
from service.watch.watcher import Around, Watcher
from streaming.band.box import Box
from streaming.band.clip import clip
from streaming.block import Block
from streaming.embedding import Embedder
from streaming.errors import ConfigError
from streaming.head import Head

log = logging.getLogger(__name__)
SINK_S = 0.5  # that a sink may take to deliver its last events


class Station:
    """The service behind its routes; `values` are the settings."""

    def __init__(self, values: Settings) -> None:
        self.values = values
        self.data = Path(values.data).expanduser()
        make_folder(self.data)
        clear_work(self.data, self.data / "models")
        self.models = ModelStore(self.data / "models", values.model)
        self.labels = LabelStore(self.data / "labels", values.labels_mb << 20)
        self.owner = ModelOwner(values, self.models, self.labels)
        self.runtime = self.owner.runtime
        self.hub = Hub()
        self.sinks = open_sinks(values.sinks)
        self.ignored = Ignored(self.data / "ignored.json")
        self.outlet = Outlet(self.hub, self.sinks, self.ignored, listed(values.event_quiet))
        self.history = History(
            open_database(values.history, self.data),
            self.outlet.event,
            values.keep_days,
            values.keep_mb,
            self._tell,
        )
        self.recordings = RecordingStore(self.data / "recordings", self.history, values.recordings_mb << 20)
        self.saver = Saver(values.save, self.recordings, self.runtime.stream)
        self.reading = open_database(values.history, self.data)
        self.clips = ClipStore(self.data / "clips", self.recordings, values.clips_mb << 20)
        self.watches = Rules(self.data / "watches.json")
        self.watcher = self._watcher()
        self.watcher.start()
        database = open_database(values.history, self.data)
        self.retention = Retention(self.data, values, database, self.recordings, self.clips)
        self.retention.start(self.history)
        self.runtime.start()
        self.wanted = WantedStreams(self.data / "streams.json")
        self._restore()
        self.retry = Retry(lambda: list(self.runtime.streams.values()))
        self.retry.start()

    @property
    def wrong(self) -> list[str]:
        """What is wrong just now: failed streams, dead threads, a history that cannot be written."""
        streams = [
            f"stream {s.id}: {s.error}" for s in list(self.runtime.streams.values()) if s.state == "failed"
        ]
        away = ["history cannot be written"] if self.history.away else []
        full = [self.retention.problem] if self.retention.problem else []
        return [*streams, *away, *full, *(thread.wrong for thread in self.threads if thread.wrong)]

    @property
    def threads(self) -> list[Supervised]:
        """The threads without which it does not work; those of readers belong to their streams."""
        own = [self.runtime.thread, self.history.thread, self.retry.thread, self.watcher.thread]
        own += [self.retention.thread, self.saver.thread]
        return [*own, *(sink.thread for sink in self.sinks)]

    @property
    def model(self) -> LiveModel:
        """The model that answers."""
        return self.runtime.model

    def close(self) -> None:
        """Close the sources, process what is queued, write everything."""
        self.hub.close()
        self.retry.close()
        self.owner.close()
        self.runtime.close()
        self.watcher.close()
        self.retention.close()
        self.recordings.close()
        self.history.close()
        self.saver.close()
        self.reading.close()
        for sink in self.sinks:
            sink.close(SINK_S)

    def listen(self, source: str) -> Stream:
        """Open a stream that the command line named, under the same id as last time."""
        address = source_address(source)
        return self.create(address, address, stream_id=hashlib.sha256(address.encode()).hexdigest()[:24])

    def create(
        self,
        address: str,
        name: str,
        head: str = "",
        stream_id: str = "",
        lasting: bool = False,
        plan: Plan | None = None,
    ) -> Stream:
        """Open a source and listen to it, step by step where there is a plan of frequencies."""
        if len(self.runtime.streams) >= self.values.max_streams:
            raise Conflict(f"there are {self.values.max_streams} streams already; delete one first")
        self.model.head(head)
        stream = self._stream(address, name, stream_id, plan)
        stream.start()
        try:
            with self.owner.lock:
                chosen = self.model.head(head)  # the model may be another one by now
                if lasting:
                    self.wanted.add(stream.id, Wanted(address, name, head, plan))
                self._serve(stream, chosen)
        except Exception:
            stream.end()  # nothing else would close it
            raise
        return stream

    def _stream(self, address: str, name: str, stream_id: str, plan: Plan | None) -> Stream:
        limits = Limits(self.values.queue_ms, self.values.ring_s, self.values.ring_mb << 20)
        return Stream(address, name, limits, self.runtime.work, stream_id, plan)

    def _serve(self, stream: Stream, head: Head) -> None:
        detector = Detector(stream.name, self.values.event_hits, self.values.event_ms, self.outlet.quiet)
        answers = Answers(
            stream,
            head,
            self.model.sha256,
            hub=self.hub,
            journal=self.history,
            detector=detector,
            report_ms=self.values.report_ms,
            ignored=self.outlet.ignores,
            watch=self.watcher.hear,
        )
        self.runtime.add(stream, answers)

    def _tell(self, emission: EmissionRow) -> None:
        """An emission began or ended, and is on disk."""
        self.outlet.emission(emission)
        if not self.outlet.unwanted(emission):
            self.saver.hear(emission)

    def _watcher(self) -> Watcher:
        """What judges emissions by the watch rules."""
        streams = self.runtime.streams
        around = Around(
            alert=self.outlet.alert,
            state=self.outlet.watched,
            unwanted=self.outlet.unwanted,
            stream=self.runtime.stream,
            running=lambda: [each.id for each in list(streams.values()) if each.state == "running"],
        )
        database = open_database(self.values.history, self.data)
        return Watcher(self.watches, self.clips, database, around, self.outlet.quiet)

    def stream(self, stream_id: str) -> Stream:
        """The stream of this id."""
        return self.runtime.stream(stream_id)

    def remove(self, stream: Stream) -> None:
        """Close a stream for good and let its readers go; its history stays."""
        stream.end()
        with self.owner.lock:
            self.runtime.remove(stream)
            self.wanted.remove(stream.id)
        self.recordings.end(stream)
        self.hub.end(f"{stream.id}/reports")

    def use_head(self, stream: Stream, name: str) -> None:
        """Answer one stream with another head of the model, from the next hop on."""
        with self.owner.lock:
            self.stream(stream.id)
            self.runtime.swap(self.model, {stream.id: self.model.head(name)})
            self.wanted.use_head(stream.id, name)

    def _restore(self) -> None:
        """Open the streams of before the restart; one that cannot be opened has failed and is tried again."""
        for stream_id, wanted in self.wanted:
            try:
                stream = self._stream(wanted.source, wanted.name, stream_id, wanted.plan)
            except ConfigError as error:
                log.error("stream %s is not opened again: %s", stream_id, error)
                self.wanted.remove(stream_id)
                continue
            try:
                head = self.model.head(wanted.head)
            except ConfigError:  # the model is another one now
                head = self.model.default
            self._serve(stream, head)
            try:
                stream.start()
            except Exception as error:  # whatever it is, the others are opened
                stream.fail(str(error))

    def record(self, stream: Stream, seconds: float | None) -> str:
        """Record what comes from now on, for so many seconds or until it is finished."""
        recording = self.recordings.begin(stream, seconds)
        try:
            self.stream(stream.id)
        except NotFound:
            self.recordings.end(stream)
            raise
        return recording

    def emission(self, stream: Stream, emission: str) -> EmissionRow:
        """An emission of a stream, as it is now or was at its end."""
        answers = self.runtime.answers.get(stream.id)
        row = answers.on_air.get(emission) if answers else None
        return row or find_emission(self.reading, stream.id, emission)

    def likeness(self) -> Likeness:
        """What compares emissions, as the model's own head sees them."""
        return Likeness(self.reading, self.model.bundle.own_head(self.model.default))

    def record_emission(self, stream: Stream, emission: str, span: tuple[int, int] | None) -> str:
        """Record one emission on its own, of a stretch that is still kept or all that is kept of it."""
        row = self.emission(stream, emission)
        return self.recordings.save_emission(stream, row, span or heard_in(stream, row))

    def clip_emission(self, stream: Stream, emission: str, seconds: float) -> Block:
        """The newest seconds of an emission on its own, of what is kept."""
        row = self.emission(stream, emission)
        start, end = heard_in(stream, row)
        return clip(stream.ring.read(max(start, round(end - seconds * stream.rate_hz)), end), row.box)

    def label_emission(
        self, stream: Stream, emission: str, span: tuple[int, int] | None, label: str
    ) -> Label:
        """Keep one emission on its own under a label."""
        row = self.emission(stream, emission)
        centre_hz = None if row.freq_hz is None else row.freq_hz + row.box.centre
        labelled = Labelled(row.id, row.box, centre_hz, alone=True)
        return self._label(stream, span or heard_in(stream, row), label, labelled)

    def label(self, stream: Stream, span: tuple[int, int], label: str) -> Label:
        """Keep a stretch of a stream under a label."""
        answers = self.runtime.answers.get(stream.id)
        run = answers.runs.longest(*span) if answers else None
        box = None
        if run and run.bandwidth_hz is not None and run.offset_hz is not None:
            half = run.bandwidth_hz / 2
            box = Box(run.offset_hz - half, run.offset_hz + half, run.snr_db or 0.0, 0.0)
        labelled = Labelled(run.emission, box, run.centre_hz) if run and run.emission else None
        return self._label(stream, span, label, labelled)

    def _label(self, stream: Stream, span: tuple[int, int], label: str, emission: Labelled | None) -> Label:
        self.stream(stream.id)
        self.owner.fitter.warm()
        model, answers = self.model, self.runtime.answers.get(stream.id)
        head = model.heads.get(answers.head.name if answers else "", model.default)
        embedder = Embedder(model.bundle, model.predictor.engine, head)
        return self.labels.add(stream, span, label, embedder, emission)


def make_folder(data: Path) -> None:
    """Make the data folder; it is nobody else's."""
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ConfigError(f"data is {data}; this folder cannot be made: {error.strerror}") from None
