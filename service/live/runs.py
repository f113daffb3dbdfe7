"""Runs: what history keeps. A run goes on as long as reports agree and no gap lies between them."""

from dataclasses import dataclass, replace
from typing import Any

from service.storage.ids import new_id
from streaming.prediction import utc_text


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

    def describe(self) -> dict[str, Any]:
        """The run as REST shows it."""
        return {
            "id": self.id,
            "stream": self.stream,
            "from": utc_text(self.from_ns),
            "to": utc_text(self.to_ns),
            "start": self.start_sample,
            "end": self.end_sample,
            "label": self.label,
            "probability": round(self.probability, 4),
            "lowest": round(self.lowest, 4),
            "probabilities": {name: round(value, 4) for name, value in self.probabilities.items()},
            "hops": self.hops,
            "past": self.past,
            "snr_db": self.snr_db,
            "rate_hz": self.rate_hz,
            "freq_hz": self.freq_hz,
            "sha256": self.sha256,
        }


class RunKeeper:
    """Reports of one stream in, runs out."""

    def __init__(self) -> None:
        self.run: Run | None = None

    def push(self, report: Run) -> Run:
        """The run that this report, itself a short run, begins or goes on with."""
        run = self.run
        if run is None or not follows(run, report):
            self.run = replace(report, id=new_id())
            return self.run
        hops = run.hops + report.hops
        share = report.hops / hops
        self.run = replace(
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
        )
        return self.run


def follows(run: Run, report: Run) -> bool:
    """Whether a report belongs to the run before it."""
    return (run.label, run.freq_hz, run.sha256) == (
        report.label,
        report.freq_hz,
        report.sha256,
    ) and report.start_sample <= run.end_sample
