"""What becomes of one stream's predictions: hops, reports, runs for history, events for the sinks."""

import json
from typing import Any, Protocol

import numpy as np

from service.live.events import Detector, Event
from service.live.hub import Hub
from service.live.runs import Run, RunKeeper
from service.live.snr import snr_db
from service.live.streams import Stream
from streaming.block import Block
from streaming.head import Head
from streaming.prediction import NO_SIGNAL, Prediction, as_json, utc_text
from streaming.report import Report, Reporter, open_reporter


class Journal(Protocol):
    """Where runs and events are kept; neither call may wait."""

    def keep(self, run: Run) -> None:
        """Write this run, or write it over the one with its id."""

    def publish(self, event: Event) -> None:
        """Write this event, then give it to the sinks."""


class Answers:
    """Belongs to the engine thread, but for `latest`."""

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
    ) -> None:
        self.stream, self.hub, self.journal, self.report_ms = stream, hub, journal, report_ms
        self.freq_hz: float | None = None
        self.latest: dict[str, Any] | None = None
        self.detector = detector
        self.runs = RunKeeper()
        self._reporter: Reporter | None = None
        self.head, self.sha256 = head, sha256

    def use(self, head: Head, sha256: str) -> None:
        """Answer with another head from here on."""
        self.flush()
        self.head, self.sha256, self._reporter = head, sha256, None

    def push(self, block: Block, predictions: list[Prediction]) -> None:
        """Hand on what this block completed."""
        if block.gap:
            self.hub.publish(f"{self.stream.id}/reports", json.dumps(describe_gap(self.stream.id, block)))
        if block.freq_hz != self.freq_hz:
            self.flush()
            self.freq_hz = block.freq_hz
        if self._reporter is None:
            self._reporter = open_reporter(self.head, block.rate_hz, self.report_ms)
        self._tell(self._reporter, predictions, block.rate_hz)

    def end(self, predictions: list[Prediction]) -> None:
        """The source has ended: hand on what was left of it."""
        if self._reporter:
            self._tell(self._reporter, predictions, self.stream.rate_hz)
        self.flush()

    def _tell(self, reporter: Reporter, predictions: list[Prediction], rate_hz: float) -> None:
        for prediction in predictions:
            self.stream.counts.labels[prediction.label] += 1
        if predictions and self.hub.wanted(f"{self.stream.id}/hops"):
            hops = [as_json(prediction, self.head.classes) for prediction in predictions]
            message = {"type": "hops", "stream": self.stream.id, "hops": hops}
            self.hub.publish(f"{self.stream.id}/hops", json.dumps(message))
        for report in reporter.push(predictions):
            self._report(report, rate_hz)

    def flush(self) -> None:
        """Report what has not been reported yet."""
        if self._reporter:
            for report in self._reporter.flush():
                self._report(report, self.stream.rate_hz)

    def _snr_db(self, prediction: Prediction) -> float | None:
        """What the front end measured; without one, a guess from the samples alone."""
        if prediction.snr_db is not None:
            return round(prediction.snr_db, 1)
        if prediction.label == NO_SIGNAL:
            return None
        kept = self.stream.ring.blocks(prediction.start, prediction.end)
        return snr_db(np.concatenate([block.samples for block in kept])) if kept else None

    def _report(self, report: Report, rate_hz: float) -> None:
        prediction = report.prediction
        short = Run(
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
            snr_db=self._snr_db(prediction),
            rate_hz=rate_hz,
            freq_hz=self.freq_hz,
            sha256=self.sha256,
        )
        run = self.runs.push(short)
        self.journal.keep(run)
        message = {"type": "report", "stream": self.stream.id} | as_json(prediction, self.head.classes)
        message |= {
            "hops": report.hops,
            "snr_db": short.snr_db,
            "freq_hz": self.freq_hz,
            "since": utc_text(run.from_ns),
            "held_s": round((run.end_sample - run.start_sample) / rate_hz, 3),
            "run": run.id,
            "head": self.head.name,
            "sha256": self.sha256,
            "lag_ms": round(self.stream.lag_s * 1000, 3),
            "dropped": sum(self.stream.counts.dropped.values()),
        }
        self.latest = message
        self.hub.publish(f"{self.stream.id}/reports", json.dumps(message), keep=True)
        event = self.detector.push(short, self.head.names.family_of)
        if event:
            self.journal.publish(event)


def describe_gap(stream: str, block: Block) -> dict[str, Any]:
    """A gap, for the stream's readers."""
    assert block.gap is not None
    return {
        "type": "gap",
        "stream": stream,
        "end": block.index,
        "samples": block.gap.samples,
        "reason": block.gap.reason,
        "exact": block.gap.exact,
    }
