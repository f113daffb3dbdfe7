"""Runs: what history keeps. A run goes on while reports agree, follow each other, and are of one emission."""

from collections import deque
from dataclasses import dataclass, replace

from service.schemas.history import PastRun
from service.storage.ids import new_id

RECENT = 1000  # runs that a label can still get its emission from: more than the ring of I/Q holds


@dataclass(frozen=True, slots=True)
class Run:
    """One label, from the first hop of a run to the last so far. Times are when the host heard it."""

    id: str
    stream: str
    from_ns: int
    to_ns: int
    start_sample: int
    end_sample: int
    label: str
    probability: float  # mean over its hops of the most likely class's
    lowest: float  # of its reports
    probabilities: dict[str, float]  # mean over its hops
    hops: int
    past: str
    snr_db: float | None
    rate_hz: float
    freq_hz: float | None
    sha256: str  # of the model that answered
    family: str | None
    emission: str | None
    bandwidth_hz: float | None
    offset_hz: float | None
    centre_hz: float | None

    def describe(self) -> PastRun:
        """The run as REST shows it."""
        return PastRun.model_validate(self)


class RunKeeper:
    """Reports of one stream in, runs out."""

    def __init__(self) -> None:
        self._recent: deque[Run] = deque(maxlen=RECENT)

    def push(self, report: Run) -> Run:
        """The run that this report, itself a short run, begins or continues."""
        place = self._newest(report.emission)
        run = None if place is None else self._recent[place]
        if place is None or run is None or not follows(run, report):
            self._recent.append(replace(report, id=new_id()))
            return self._recent[-1]
        hops = run.hops + report.hops
        share = report.hops / hops
        self._recent[place] = replace(
            run,
            to_ns=report.to_ns,
            end_sample=report.end_sample,
            probability=run.probability + share * (report.probability - run.probability),
            lowest=min(run.lowest, report.lowest),
            probabilities={
                name: value + share * (report.probabilities[name] - value)
                for name, value in run.probabilities.items()
            },
            hops=hops,
            past=report.past if run.past == "warm" else run.past,
            snr_db=report.snr_db if run.snr_db is None else run.snr_db,
            bandwidth_hz=report.bandwidth_hz,  # the newest estimates have seen the most
            offset_hz=report.offset_hz,
            centre_hz=report.centre_hz,
        )
        return self._recent[place]

    def _newest(self, emission: str | None) -> int | None:
        """Where the newest run of an emission is; those of others may be newer."""
        places = range(len(self._recent) - 1, -1, -1)
        return next((place for place in places if self._recent[place].emission == emission), None)

    def longest(self, start: int, end: int) -> Run | None:
        """Of the runs of emissions, the one with the most samples in [start, end); from any thread."""
        runs = [run for run in self._recent.copy() if run.emission is not None]
        best = max(runs, key=lambda run: overlap(run, start, end), default=None)
        return best if best and overlap(best, start, end) > 0 else None


def overlap(run: Run, start: int, end: int) -> int:
    """How many samples of [start, end) the run covers; negative where it lies elsewhere."""
    return min(run.end_sample, end) - max(run.start_sample, start)


def follows(run: Run, report: Run) -> bool:
    """Whether a report belongs to the run before it."""
    same = ("label", "freq_hz", "sha256", "emission")
    return (
        all(getattr(run, name) == getattr(report, name) for name in same)
        and report.start_sample <= run.end_sample
    )
