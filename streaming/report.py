"""Reports: the predictions of many hops, combined for a reader.

A hop may be 100 samples; a reader wants ten lines per second. A report covers a run of hops: it goes out when
another label has held for `hold` hops and `lasting` samples (so a single odd hop changes nothing), at a gap,
where a signal or a silence begins, and each `interval` samples at the latest. Its probabilities are the mean
over its hops, and its label is what the head calls that mean.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from streaming.head import Head
from streaming.naming import Name, Names, agree
from streaming.prediction import NO_SIGNAL, UNKNOWN, Prediction

QUIET = 10  # intervals without a prediction after which an emission's report goes out


@dataclass(frozen=True, slots=True)
class Report:
    """One answer over several hops."""

    prediction: Prediction
    hops: int


class Run:
    """Hops that will be reported together, kept as sums."""

    def __init__(self, first: Prediction) -> None:
        self.first = self.last = first
        self.weight = float(max(1, first.end - first.start))  # samples: a longer stretch says more
        self.total = self.weight * first.probabilities
        self.hops, self.unknown = 1, self.weight * (first.label == UNKNOWN)
        self.past = first.past

    def add(self, prediction: Prediction) -> None:
        """One more hop."""
        self.last = prediction
        weight = max(1, prediction.end - prediction.start)
        self.weight += weight
        self.total += weight * prediction.probabilities
        self.hops += 1
        self.unknown += weight * (prediction.label == UNKNOWN)
        self.past = prediction.past if self.past == "warm" else self.past

    def name(self, names: Names) -> Name:
        """The label of the mean probabilities, or unknown where most hops were.

        A run has either a signal in all of its hops or in none.
        """
        if self.first.label == NO_SIGNAL:
            return Name(NO_SIGNAL, None, 0.0)
        mean = self.total / self.weight
        return Name(UNKNOWN, None, float(mean.max())) if self.unknown * 2 > self.weight else names.of(mean)

    def report(self, names: Names) -> Report:
        """The run as one answer."""
        name = self.name(names)
        drawn = replace(
            self.first,
            end=self.last.end,
            label=name.label,
            family=name.family,
            probability=name.probability,
            probabilities=self.total / self.weight,
            past=self.past,
            snr_db=self.last.snr_db,
            bandwidth_hz=self.last.bandwidth_hz,
            offset_hz=self.last.offset_hz,
            centre_hz=self.last.centre_hz,
        )
        return Report(drawn, self.hops)


def by_emission(predictions: Iterable[Prediction]) -> list[list[Prediction]]:
    """Predictions of each emission; the one with the most energy first. Silences are left out."""
    found: dict[int | None, list[Prediction]] = {}
    for prediction in predictions:
        if prediction.label != NO_SIGNAL:
            found.setdefault(prediction.emission, []).append(prediction)
    return sorted(found.values(), key=lambda of_one: -sum(energy(one) for one in of_one))


def by_burst(predictions: Iterable[Prediction]) -> list[Prediction]:
    """One prediction per burst of an emission, per change of its name within one, and per silence.

    The name is the newest, which rests on the most; of a stream that is one signal, windows that agree follow
    each other.
    """
    newest: dict[int | None, Prediction] = {}
    found: list[Prediction] = []
    for prediction in predictions:
        before = newest.get(prediction.emission)
        goes_on = before is not None and before.begin == prediction.begin and prediction.start <= before.end
        if before and goes_on and (before.bandwidth_hz is None or prediction.past == "change"):
            goes_on = agree(before, prediction)
        if before is None or not goes_on:
            found += [before] if before else []
            newest[prediction.emission] = prediction
        else:
            newest[prediction.emission] = replace(prediction, start=before.start)
    return sorted([*found, *newest.values()], key=lambda one: one.start)


def energy(prediction: Prediction) -> float:
    """Power above the noise times duration, in samples; a model without a front end counts durations."""
    return (prediction.end - prediction.start) * 10 ** ((prediction.level_db or 0.0) / 10)


def drawn_together(predictions: list[Prediction], head: Head) -> Report:
    """One answer for the emission with the most energy; silences count only where there is nothing else."""
    heard = (by_emission(predictions) or [predictions])[0]
    run = Run(heard[0])
    for prediction in heard[1:]:
        run.add(prediction)
    return run.report(head.names)


def open_reporter(head: Head, rate_hz: float, report_ms: float) -> "Reporters":
    """Reporters for this head."""
    return Reporters(head, max(1, round(rate_hz * report_ms / 1000)))


class Reporters:
    """Predictions of a stream in, reports out: silences and each emission have a reporter of their own.

    Of a stream that is one signal, a change must hold for a whole window and a quarter of the interval. The
    predictions of an emission in a band rest on all of its evidence, so one is enough.
    """

    def __init__(self, head: Head, interval: int) -> None:
        self.head, self.interval = head, interval
        self._of: dict[int | None, Reporter] = {}

    def push(self, predictions: list[Prediction]) -> list[Report]:
        """The reports that these predictions complete."""
        reports: list[Report] = []
        for prediction in predictions:
            reports += self._end_others(prediction)
            if prediction.emission not in self._of:
                self._of[prediction.emission] = self._open(prediction)
            reports += self._of[prediction.emission].push([prediction])
        return reports

    def _open(self, prediction: Prediction) -> "Reporter":
        hop = self.head.hop
        if prediction.bandwidth_hz is not None:
            return Reporter(self.head.names, self.interval, hold=1)
        return Reporter(
            self.head.names, self.interval, self.head.window // hop, lasting=self.interval // 4 // hop * hop
        )

    def _end_others(self, prediction: Prediction) -> list[Report]:
        """What ended where a silence begins, or a silence that ended; and what was not heard for long."""
        reports: list[Report] = []
        for emission, reporter in list(self._of.items()):
            if emission == prediction.emission or reporter.run is None:
                continue
            quiet = prediction.start - reporter.run.last.end
            if quiet >= 0 and (None in (emission, prediction.emission) or quiet > QUIET * self.interval):
                reports += self._of.pop(emission).flush()
        return reports

    def flush(self) -> list[Report]:
        """The reports of what has not been reported yet."""
        reports = [report for reporter in self._of.values() for report in reporter.flush()]
        return sorted(reports, key=lambda report: report.prediction.end)


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
