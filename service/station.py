"""Everything that runs in one service: streams, model, history, labels, and how they change."""

import hashlib
import json
import logging
import secrets
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from hardware import source_address
from service.errors import Conflict, NotFound
from service.live.answers import Answers
from service.live.events import Detector, Event
from service.live.hub import Hub
from service.live.retry import Retry
from service.live.runtime import Runtime
from service.live.streams import Limits, Stream
from service.models.fitting import Fitter
from service.models.predictor import Predictor
from service.models.store import ModelStore
from service.settings import Settings
from service.sinks import open_sinks
from service.storage.database import open_database
from service.storage.history import History
from service.storage.labels import Label, LabelStore
from service.storage.names import checked_name
from service.storage.recordings import RecordingStore
from streaming.bundle import Bundle
from streaming.embedding import Embedder
from streaming.engine import Engine, open_engine
from streaming.errors import ConfigError, InputError, WavetellError
from streaming.files import write_whole
from streaming.head import Head
from streaming.pipeline import choose_head

log = logging.getLogger(__name__)

SINK_S = 0.5  # that a sink may take to deliver its last events


class Station:
    """The service behind its routes; `values` are the settings."""

    def __init__(self, values: Settings) -> None:
        self.values = values
        self.data = Path(values.data).expanduser()
        self.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.models = ModelStore(self.data / "models", values.model)
        self.labels = LabelStore(self.data / "labels", values.labels_mb << 20)
        self.fitter = Fitter()
        self.hub = Hub()
        self.sinks = open_sinks(values.sinks)
        self.changing = threading.Lock()  # held while it changes which streams, heads and model there are
        bundle = self.models.load(self.models.activations()[-1])
        engine = self._engine(bundle)
        self.predictor = Predictor(bundle, self._engine(bundle))
        self.history = History(
            open_database(values.history, self.data), self._tell, values.keep_days, values.keep_mb
        )
        self.recordings = RecordingStore(self.data / "recordings", self.history, values.recordings_mb << 20)
        self.reading = open_database(values.history, self.data)
        self.runtime = Runtime(bundle, engine)
        self.runtime.start()
        self._file = self.data / "streams.json"
        self._lasting: dict[str, dict[str, Any]] = {}  # streams that are opened again after a restart
        self._restore()
        self.retry = Retry(lambda: list(self.runtime.streams.values()))
        self.retry.start()

    def _engine(self, bundle: Bundle) -> Engine:
        hop = choose_head(bundle, self.values.head, "live").hop
        return open_engine(bundle.encoder, hop=hop, backend=self.values.backend, threads=self.values.threads)

    def close(self) -> None:
        """Close the sources, work off what waits, write everything."""
        self.hub.close()
        self.retry.close()
        self.fitter.close()
        self.runtime.close()
        self.recordings.close()
        self.history.close()
        self.reading.close()
        for sink in self.sinks:
            sink.close(SINK_S)

    # Streams

    def listen(self, source: str) -> Stream:
        """Open a stream that the command line named; its history goes on under the same id."""
        address = source_address(source)
        return self.create(address, address, stream_id=hashlib.sha256(address.encode()).hexdigest()[:24])

    def create(
        self, address: str, name: str, head: str = "", stream_id: str = "", lasting: bool = False
    ) -> Stream:
        """Open a source and listen to it."""
        if len(self.runtime.streams) >= self.values.max_streams:
            raise Conflict(f"there are {self.values.max_streams} streams already; delete one first")
        self._head(head)
        stream = self._stream(address, name, stream_id)
        stream.start()
        with self.changing:
            self._serve(stream, self._head(head))
            if lasting:
                self._lasting[stream.id] = {"source": address, "name": name, "head": head}
                self._remember()
        return stream

    def _stream(self, address: str, name: str, stream_id: str) -> Stream:
        limits = Limits(self.values.queue_ms, self.values.ring_s, self.values.ring_mb << 20)
        return Stream(address, name, limits, self.runtime.work, stream_id)

    def _serve(self, stream: Stream, head: Head) -> None:
        detector = Detector(stream.name, self.values.event_hits, self.values.event_ms)
        answers = Answers(
            stream,
            head,
            self.predictor.sha256,
            hub=self.hub,
            journal=self.history,
            detector=detector,
            report_ms=self.values.report_ms,
        )
        self.runtime.add(stream, answers)

    def _head(self, name: str) -> Head:
        head = choose_head(self.runtime.bundle, name or self.values.head, "live")
        if head.hop != self.runtime.engine.hop:
            raise ConfigError(
                f"head {head.name} has hop {head.hop}; the streams run with {self.runtime.engine.hop}"
            )
        return head

    def stream(self, stream_id: str) -> Stream:
        """The stream of this id."""
        if stream_id not in self.runtime.streams:
            raise NotFound(f"there is no stream {stream_id}")
        return self.runtime.streams[stream_id]

    def remove(self, stream: Stream) -> None:
        """Close a stream for good; its history stays."""
        stream.close()
        with self.changing:
            self.runtime.remove(stream)
            if self._lasting.pop(stream.id, None):
                self._remember()

    def use_head(self, stream: Stream, name: str) -> None:
        """Answer one stream with another head of the model, from the next hop on."""
        with self.changing:
            runtime, heads = self.runtime, {stream.id: self._head(name)}
            runtime.swap(runtime.bundle, runtime.engine, heads, self.predictor.sha256)
            if stream.id in self._lasting:
                self._lasting[stream.id]["head"] = name
                self._remember()

    def _remember(self) -> None:
        write_whole(self._file, json.dumps(self._lasting, indent=1).encode())

    def _restore(self) -> None:
        """Open the streams of the last time again; one that cannot be opened says so, and is tried again."""
        if not self._file.exists():
            return
        self._lasting = json.loads(self._file.read_bytes())
        for stream_id, wanted in self._lasting.items():
            stream = self._stream(wanted["source"], wanted["name"], stream_id)
            try:
                head = self._head(wanted["head"])
            except ConfigError:  # the model is another one now
                head = self._head("")
            self._serve(stream, head)
            try:
                stream.start()
            except WavetellError as error:
                stream.fail(str(error))

    # Model

    def activate(self, name: str) -> str:
        """Put a model to use: every stream switches at one hop.

        Heads in use that were fitted here are fitted again for it, so the model may get another name.
        """
        bundle = self.models.load(name)
        for head in self._heads_to_carry(bundle):
            name, bundle, _ = self._fit(name, bundle, head)
        self._change(bundle, [*self.models.activations(), name])
        return name

    def _heads_to_carry(self, bundle: Bundle) -> list[str]:
        """Heads in use that were fitted to labels of this station and that another model lacks."""
        ours = self.runtime.bundle.meta.fitted
        used = {answers.head.name for answers in self.runtime.answers.values()}
        return sorted(used & set(ours) - set(bundle.heads))

    def fit(self, head: str, streams: list[str] | None) -> dict[str, Any]:
        """Fit a head to the labels and answer these streams (else all) with it, from one hop on."""
        for stream_id in streams or []:
            self.stream(stream_id)
        if not self.labels.list():
            raise InputError("there are no labels yet; give some with POST /v1/labels")
        base = self.models.activations()[-1]
        name, bundle, made = self._fit(base, self.runtime.bundle, checked_name(head, "head"))
        self._change(bundle, [*self.models.activations(), name], head, streams)
        return made

    def _fit(self, model: str, bundle: Bundle, head: str) -> tuple[str, Bundle, dict[str, Any]]:
        """A new model, the old one with a head fitted to the labels: its name, it, and what is told of it."""
        like = bundle.heads.get(head) or choose_head(bundle, "", "live")
        with tempfile.TemporaryDirectory(dir=self.data) as folder:
            result = Path(folder) / "result.safetensors"
            answer = self.fitter.fit(self.models.where(model), self.labels.folder, like.name, head, result)
            name = f"{head[:24]}-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"
            made = self.models.add(name, result.read_bytes())
        return name, made, answer | {"model": name}

    def roll_back(self) -> str:
        """Put the model before this one to use again."""
        names = self.models.activations()
        if len(names) < 2:
            raise Conflict("there is no model before this one")
        self._change(self.models.load(names[-2]), names[:-1])
        return names[-2]

    def _change(
        self, bundle: Bundle, activations: list[str], head: str = "", streams: list[str] | None = None
    ) -> None:
        with self.changing:
            self._use(bundle, head, streams)
            self.models.record(activations)

    def _use(self, bundle: Bundle, head: str, streams: list[str] | None) -> None:
        """Switch everything to this bundle, and these streams (else all) to this head if one is named."""
        default = choose_head(bundle, self.values.head if self.values.head in bundle.heads else "", "live")
        heads = {}
        for stream_id, answers in list(self.runtime.answers.items()):
            chosen = head and (streams is None or stream_id in streams)
            named = bundle.heads.get(head if chosen else answers.head.name)
            heads[stream_id] = (
                named if named and (named.mode, named.hop) == ("live", default.hop) else default
            )
        engine = open_engine(bundle.encoder, default.hop, self.values.backend, self.values.threads)
        predictor = Predictor(
            bundle, open_engine(bundle.encoder, default.hop, self.values.backend, self.values.threads)
        )
        self.runtime.swap(bundle, engine, heads, predictor.sha256)
        self.predictor = predictor

    # Labels and events

    def label(self, stream: Stream, span: tuple[int, int], label: str) -> Label:
        """Keep a stretch of a stream under a label."""
        self.fitter.warm()
        predictor, head = self.predictor, self.runtime.answers[stream.id].head
        embedder = Embedder(predictor.bundle, predictor.engine, head)
        return self.labels.add(stream.id, stream.ring, span, label, embedder)

    def _tell(self, event: Event) -> None:
        """An event is on disk: tell everybody."""
        self.hub.publish("events", json.dumps(event.describe()))
        self.hub.publish(f"{event.stream}/reports", json.dumps(event.describe()))
        for sink in self.sinks:
            sink.put(event.describe())

    @property
    def federation_round(self) -> int:
        """The round that made the model in use; 0 where it was not made by a federation."""
        federation = self.predictor.bundle.meta.provenance.federation
        return federation.rounds if federation else 0
