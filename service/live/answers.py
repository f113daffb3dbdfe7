"""What becomes of one stream's predictions: hops, reports, runs, emissions, and events for the sinks."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from service.live.emissions import EmissionRow, emission_row
from service.live.events import Detector, Event
from service.live.hub import Hub
from service.live.runs import Run, RunKeeper
from service.live.snr import best_snr_db
from service.live.streams import Stream
from service.schemas.answers import Answer, GapMessage, HopsMessage, Report
from service.storage.likeness import pack
from streaming.band.emissions import MOST, Emission
from streaming.block import Block, Gap, Samples
from streaming.head import Head
from streaming.prediction import Prediction, utc_text
from streaming.report import Report as HopsReport
from streaming.report import Reporters, open_reporter


class Journal(Protocol):
    """Where runs, emissions and events are kept; no call may wait."""

    def keep(self, run: Run) -> None:
        """Write this run, or write it over the one with its id."""

    def follow(self, emission: EmissionRow, embedding: bytes | None = None) -> None:
        """Write this emission and its embedding, or write them over those with its id."""

    def publish(self, event: Event) -> None:
        """Write this event, then give it to the sinks."""


class Answers:
    """Belongs to the engine thread, but for `latest` and `on_air`."""

    def __init__(
        self,
        stream: Stream,
        head: Head,
        sha256: str,
        *,
        hub: Hub,
        journal: Journal,
        detector: Detector,
        report_ms: int,
        ignored: Callable[[Run], bool] = lambda _: False,
        watch: Callable[[EmissionRow], None] = lambda _: None,
    ) -> None:
        self.stream, self.hub, self.journal, self.report_ms = stream, hub, journal, report_ms
        self.freq_hz: float | None = None
        self.latest: Report | None = None
        self.on_air: dict[str, EmissionRow] = {}  # emissions that are followed, replaced as a whole
        self.detector, self.ignored, self.watch = detector, ignored, watch
        self.runs = RunKeeper()
        self._reporter: Reporters | None = None
        self.head, self.sha256 = head, sha256
        # Emissions are counted from 1 whenever the stream is created: this makes the number an identity.
        self._prefix = f"{stream.id}-{stream.created_ns // 10**6:x}-"

    def use(self, head: Head, sha256: str) -> None:
        """Answer with another head from here on."""
        self.flush()
        self.head, self.sha256, self._reporter = head, sha256, None

    def push(self, block: Block, predictions: list[Prediction]) -> None:
        """Hand on what this block completed."""
        if block.gap:
            self._publish_gap(block.index, block.gap)
        if self._reporter is None:
            self._reporter = open_reporter(self.head, block.rate_hz, self.report_ms)
        if block.freq_hz != self.freq_hz:
            before = [prediction for prediction in predictions if prediction.start < block.index]
            predictions = predictions[len(before) :]
            self._publish(self._reporter, before, block.rate_hz)
            self.flush()
            self.freq_hz = block.freq_hz
        self._publish(self._reporter, predictions, block.rate_hz)

    def follow(self, changes: list[Emission]) -> None:
        """Hand on which emissions began, changed or ended."""
        if not changes:
            return
        on_air = dict(self.on_air)
        for change in changes:
            heard_ns = self.stream.heard_ns(change.start), self.stream.heard_ns(change.end)
            identity = f"{self._prefix}{change.number}"
            row = emission_row(change, identity, self.stream.id, heard_ns, self.sha256)
            on_air.pop(row.id, None)
            if row.state != "end":
                on_air[row.id] = row
            embedding = None if change.embedding is None else pack(self.head, change.embedding)
            self.journal.follow(row, embedding)
            self.watch(row)
            self.hub.publish(f"{self.stream.id}/reports", row.describe().model_dump_json(by_alias=True))
        while len(on_air) > MOST:
            del on_air[next(iter(on_air))]
        self.on_air = on_air

    def end(self, predictions: list[Prediction]) -> None:
        """The source has ended: hand on what was left of it."""
        if self._reporter:
            self._publish(self._reporter, predictions, self.stream.rate_hz)
        self.flush()

    def _publish_gap(self, end: int, gap: Gap) -> None:
        message = GapMessage(
            stream=self.stream.id, end=end, samples=gap.samples, reason=gap.reason, exact=gap.exact
        )
        self.hub.publish(f"{self.stream.id}/reports", message.model_dump_json())

    def _publish(self, reporter: Reporters, predictions: list[Prediction], rate_hz: float) -> None:
        for prediction in predictions:
            self.stream.counts.labels[prediction.label] += 1
        if predictions and self.hub.wanted(f"{self.stream.id}/hops"):
            hops = [self._answer(prediction, prediction.snr_db) for prediction in predictions]
            message = HopsMessage(stream=self.stream.id, hops=hops)
            self.hub.publish(f"{self.stream.id}/hops", message.model_dump_json())
        for report in reporter.push(predictions):
            self._report(report, rate_hz)

    def flush(self) -> None:
        """Report what has not been reported yet."""
        if self._reporter:
            for report in self._reporter.flush():
                self._report(report, self.stream.rate_hz)

    def _answer(self, prediction: Prediction, snr_db: float | None) -> Answer:
        return Answer.of(prediction, self.head.classes, snr_db, self._prefix)

    def _samples(self, start: int, end: int) -> Samples:
        """What the ring still keeps of a stretch."""
        kept = [block.samples for block in self.stream.ring.blocks(start, end)]
        return np.concatenate(kept) if kept else np.empty(0, np.complex64)

    def _report(self, report: HopsReport, rate_hz: float) -> None:
        prediction = report.prediction
        snr_db = best_snr_db(prediction, lambda: self._samples(prediction.start, prediction.end))
        answer = self._answer(prediction, snr_db)
        short = self._run(report, answer, rate_hz)
        run = self.runs.push(short)
        self.journal.keep(run)
        self.latest = Report(
            **dict(answer),
            stream=self.stream.id,
            hops=report.hops,
            freq_hz=self.freq_hz,
            since=utc_text(run.from_ns),
            held_s=round((run.end_sample - run.start_sample) / rate_hz, 3),
            run=run.id,
            head=self.head.name,
            sha256=self.sha256,
            lag_ms=round(self.stream.lag_s * 1000, 3),
            dropped=sum(self.stream.counts.dropped.values()),
        )
        self.hub.publish(f"{self.stream.id}/reports", self.latest.model_dump_json(), keep=True)
        event = None if self.ignored(short) else self.detector.push(short)
        if event:
            self.journal.publish(event)

    def _run(self, report: HopsReport, answer: Answer, rate_hz: float) -> Run:
        """The report as a run of its own."""
        prediction = report.prediction
        return Run(
            id="",
            stream=self.stream.id,
            from_ns=self.stream.heard_ns(prediction.start),
            to_ns=self.stream.heard_ns(prediction.end),
            start_sample=prediction.start,
            end_sample=prediction.end,
            label=prediction.label,
            probability=prediction.probability,
            lowest=prediction.probability,
            probabilities=dict(zip(self.head.classes, prediction.probabilities.tolist(), strict=True)),
            hops=report.hops,
            past=prediction.past,
            snr_db=answer.snr_db,
            rate_hz=rate_hz,
            freq_hz=self.freq_hz,
            sha256=self.sha256,
            family=prediction.family,
            emission=answer.emission,
            bandwidth_hz=answer.bandwidth_hz,
            offset_hz=answer.offset_hz,
            centre_hz=answer.centre_hz,
        )
