"""Events: a change of what is on the air, reported once it has lasted.

A new label must come in at least `hits` hops and last `min_ms` before it is an event; whatever ends earlier
was a doubtful hop rather than an emission. The family of the class that the last event reported is not a new
label: the head is only less certain.
"""

from collections.abc import Collection
from dataclasses import dataclass

from service.live.runs import Run
from service.schemas.history import PastEvent
from service.storage.ids import new_id
from streaming.prediction import NO_SIGNAL, NOISE

MOST = 10_000  # emissions that are remembered
QUIET = (NOISE, "carrier")  # a receiver's own noise and spurs


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


@dataclass
class Heard:
    """What was last reported of one emission, and what may become an event."""

    label: str = ""  # of its last event
    family: str | None = None
    first: Run | None = None  # report of another label
    hops: int = 0


class Detector:
    """Reports of one stream in, events out; emissions are told apart. `quiet` labels are no event."""

    def __init__(self, name: str, hits: int, min_ms: int, quiet: Collection[str] = QUIET) -> None:
        self.name, self.hits, self.min_ms, self.quiet = name, hits, min_ms, frozenset(quiet)
        self.last: Event | None = None
        self._heard: dict[str | None, Heard] = {}

    def push(self, report: Run) -> Event | None:
        """The event that this report makes certain, if any."""
        if report.label in self.quiet:
            return None
        heard = self._heard.setdefault(self._who(report), Heard())
        if heard.label and report.label in (heard.label, heard.family):
            heard.first = None
            return None
        if heard.first is None or heard.first.label != report.label:
            heard.first, heard.hops = report, 0
        heard.hops += report.hops
        lasted_ms = (report.end_sample - heard.first.start_sample) / report.rate_hz * 1000
        if heard.hops < self.hits or lasted_ms < self.min_ms:
            return None
        self.last = self._event(heard.first, report)
        if report.label == NO_SIGNAL or len(self._heard) > MOST:
            self._heard.clear()  # whoever is heard again is an event again
        self._heard.pop(None, None)  # and so is silence
        self._heard[self._who(report)] = Heard(report.label, report.family)
        return self.last

    def _who(self, report: Run) -> str | None:
        """The emission; of a stream that is one signal there is one, and silence is a change of it."""
        return None if report.bandwidth_hz is None and report.label != NO_SIGNAL else report.emission

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
