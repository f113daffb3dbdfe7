"""Reports: the predictions of many hops, combined for a reader.

A hop may be 100 samples; a reader wants ten lines per second. A report covers a run of hops: it goes out when
another label has held for `hold` hops and `lasting` samples (so a single odd hop changes nothing), at a gap,
where a signal or a silence begins, and each `interval` samples at the latest. Its probabilities are the mean
over its hops, and its label is what the head calls that mean.
"""

from dataclasses import dataclass, replace

from streaming.head import Head
from streaming.naming import Name, Names, agree
from streaming.prediction import NO_SIGNAL, UNKNOWN, Prediction


@dataclass(frozen=True, slots=True)
class Report:
    """One answer over several hops."""

    prediction: Prediction
    hops: int


class Run:
    """Hops that will be reported together, kept as sums."""

    def __init__(self, first: Prediction) -> None:
        self.first = self.last = first
        self.total = first.probabilities.copy()
        self.hops, self.unknown = 1, int(first.label == UNKNOWN)
        self.past = first.past

    def add(self, prediction: Prediction) -> None:
        """One more hop."""
        self.last = prediction
        self.total += prediction.probabilities
        self.hops += 1
        self.unknown += prediction.label == UNKNOWN
        self.past = prediction.past if self.past == "warm" else self.past

    def name(self, names: Names) -> Name:
        """The label of the mean probabilities, or unknown where most hops were.

        A run has either a signal in all of its hops or in none.
        """
        if self.first.label == NO_SIGNAL:
            return Name(NO_SIGNAL, None, 0.0)
        mean = self.total / self.hops
        return Name(UNKNOWN, None, float(mean.max())) if self.unknown * 2 > self.hops else names.of(mean)

    def report(self, names: Names) -> Report:
        """The run as one answer."""
        name = self.name(names)
        drawn = replace(
            self.first,
            end=self.last.end,
            label=name.label,
            family=name.family,
            probability=name.probability,
            probabilities=self.total / self.hops,
            past=self.past,
            snr_db=self.last.snr_db,
            bandwidth_hz=self.last.bandwidth_hz,
            offset_hz=self.last.offset_hz,
            centre_hz=self.last.centre_hz,
        )
        return Report(drawn, self.hops)


def drawn_together(predictions: list[Prediction], head: Head) -> Report:
    """One answer for all; silences count only where there is nothing else."""
    heard = [prediction for prediction in predictions if prediction.label != NO_SIGNAL] or predictions
    run = Run(heard[0])
    for prediction in heard[1:]:
        run.add(prediction)
    return run.report(head.names)


def open_reporter(head: Head, rate_hz: float, report_ms: float) -> "Reporter":
    """A reporter for this head; a change must hold for a whole window and a quarter of the interval."""
    interval = max(1, round(rate_hz * report_ms / 1000))
    lasting = interval // 4 // head.hop * head.hop
    return Reporter(head.names, interval, head.window // head.hop, lasting)


class Reporter:
    """Predictions in, reports out."""

    def __init__(self, names: Names, interval: int, hold: int, lasting: int = 0) -> None:
        self.names = names
        self.interval = interval  # samples
        self.hold, self.lasting = hold, lasting  # hops and samples that another label must last to end a run
        self.run: Run | None = None
        self.other: list[
            Prediction
        ] = []  # the newest hops, as long as they agree on another label than the run's

    def push(self, predictions: list[Prediction]) -> list[Report]:
        """The reports that these predictions complete."""
        return [report for prediction in predictions for report in self.push_one(prediction)]

    def push_one(self, prediction: Prediction) -> list[Report]:
        """The reports that this prediction completes."""
        reports = []
        newest = self.other[-1] if self.other else self.run.last if self.run else None
        if newest and (prediction.start > newest.end or prediction.begin != newest.begin):
            reports += self.flush()
        if self.run is None:
            self.run = Run(prediction)
            return reports
        agrees = agree(self.run.name(self.names), prediction)
        if agrees or (self.other and not agree(self.other[0], prediction)):
            self.merge()
            agrees = agree(self.run.name(self.names), prediction)
        if agrees:
            self.run.add(prediction)
        else:
            self.other.append(prediction)
        lasted = prediction.end - self.run.last.end
        if len(self.other) >= self.hold and lasted >= self.lasting:
            reports.append(self.run.report(self.names))
            self.run, *rest = Run(self.other[0]), *self.other[1:]
            self.other = []
            for hop in rest:
                self.run.add(hop)
        elif prediction.end - self.run.first.end >= self.interval:
            reports += self.flush()
        return reports

    def merge(self) -> None:
        """The other label did not hold: its hops belong to the run after all."""
        assert self.run is not None
        for hop in self.other:
            self.run.add(hop)
        self.other = []

    def flush(self) -> list[Report]:
        """The report of what has not been reported yet."""
        if self.run is None:
            return []
        self.merge()
        report = self.run.report(self.names)
        self.run = None
        return [report]
