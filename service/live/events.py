"""Events: a change of what is on the air, reported once it has lasted.

A new label must come in at least `hits` hops and last `min_ms` before it is an event; whatever ends earlier
was a doubtful hop rather than an emission. The family of the class that the last event reported is not a new
label: the head is only less certain.
"""

from dataclasses import dataclass

from service.live.runs import Run
from service.schemas.history import PastEvent
from service.storage.ids import new_id


@dataclass(frozen=True, slots=True)
class Event:
    """What is on the air of one stream has changed."""

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
    family: str | None
    emission: str | None
    bandwidth_hz: float | None
    offset_hz: float | None
    centre_hz: float | None

    def describe(self) -> PastEvent:
        """The event as readers and sinks get it."""
        return PastEvent.model_validate(self)


class Detector:
    """Reports of one stream in, events out."""

    def __init__(self, name: str, hits: int, min_ms: int) -> None:
        self.name, self.hits, self.min_ms = name, hits, min_ms
        self.last: Event | None = None
        self.first: Run | None = None  # report of another label that may become an event
        self.hops = 0

    def push(self, report: Run) -> Event | None:
        """The event that this report makes certain, if any."""
        if self.last and report.label in (self.last.label, self.last.family):
            self.first = None
            return None
        if self.first is None or self.first.label != report.label:
            self.first, self.hops = report, 0
        self.hops += report.hops
        lasted_ms = (report.end_sample - self.first.start_sample) / report.rate_hz * 1000
        if self.hops < self.hits or lasted_ms < self.min_ms:
            return None
        self.last, self.first = self._event(self.first, report), None
        return self.last

    def _event(self, first: Run, report: Run) -> Event:
        return Event(
            id=new_id(),
            stream=report.stream,
            name=self.name,
            since_ns=first.from_ns,
            label=report.label,
            previous=self.last.label if self.last else "",
            probability=report.probability,
            snr_db=report.snr_db,
            freq_hz=report.freq_hz,
            start_sample=first.start_sample,
            family=report.family,
            emission=report.emission,
            bandwidth_hz=report.bandwidth_hz,
            offset_hz=report.offset_hz,
            centre_hz=report.centre_hz,
        )
