"""Events: a change of what is on the air, told once it has lasted.

A new label must come in at least `hits` hops and last `min_ms` before it is an event; whatever ends earlier
was no emission worth a message, only a doubtful hop. The family of the class that the last event told is no
new label: the head is only less sure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from service.live.runs import Run
from service.storage.ids import new_id
from streaming.prediction import utc_text


@dataclass(frozen=True, slots=True)
class Event:
    """The air of one stream has changed."""

    id: str
    stream: str
    name: str  # the stream's, as its owner gave it
    since_ns: int
    label: str
    previous: str  # empty for a stream's first
    probability: float
    snr_db: float | None
    freq_hz: float | None
    start_sample: int

    def describe(self) -> dict[str, Any]:
        """The event as readers and sinks get it."""
        return {
            "type": "event",
            "id": self.id,
            "stream": self.stream,
            "name": self.name,
            "since": utc_text(self.since_ns),
            "label": self.label,
            "previous": self.previous,
            "probability": round(self.probability, 4),
            "snr_db": self.snr_db,
            "freq_hz": self.freq_hz,
            "start": self.start_sample,
        }


class Detector:
    """Reports of one stream in, events out."""

    def __init__(self, name: str, hits: int, min_ms: int) -> None:
        self.name, self.hits, self.min_ms = name, hits, min_ms
        self.label = ""  # what the last event said
        self.first: Run | None = None  # report of another label that may become an event
        self.hops = 0

    def push(self, report: Run, families: Mapping[str, str]) -> Event | None:
        """The event that this report makes certain, if any; `families` are those of the head's classes."""
        if report.label in (self.label, families.get(self.label)):
            self.first = None
            return None
        if self.first is None or self.first.label != report.label:
            self.first, self.hops = report, 0
        self.hops += report.hops
        lasted_ms = (report.end_sample - self.first.start_sample) / report.rate_hz * 1000
        if self.hops < self.hits or lasted_ms < self.min_ms:
            return None
        event = Event(
            id=new_id(),
            stream=report.stream,
            name=self.name,
            since_ns=self.first.from_ns,
            label=report.label,
            previous=self.label,
            probability=report.probability,
            snr_db=report.snr_db,
            freq_hz=report.freq_hz,
            start_sample=self.first.start_sample,
        )
        self.label, self.first = report.label, None
        return event
