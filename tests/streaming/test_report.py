"""Reports draw many hops together, and change only when another label holds."""

import numpy as np

from streaming.naming import Names
from streaming.prediction import Prediction
from streaming.report import Reporter

NAMES = Names(("A", "B"))


def hops(labels, first=0, hop=10, window=40):
    """Predictions a hop apart."""
    for i, label in enumerate(labels):
        start = first + i * hop
        row = np.array([0.9, 0.1] if label == "A" else [0.2, 0.8] if label == "B" else [0.5, 0.5])
        yield Prediction(start, start + window, label, float(row.max()), row, "warm")


def reports(labels, interval=10_000, hold=3):
    """(label, hops) of each report."""
    reporter = Reporter(NAMES, interval, hold)
    out = reporter.push(list(hops(labels))) + reporter.flush()
    return [(report.prediction.label, report.hops) for report in out]


def test_a_steady_label_is_one_report():
    assert reports("AAAAAA") == [("A", 6)]


def test_a_change_that_holds_ends_the_run():
    assert reports("AAAABBBBB") == [("A", 4), ("B", 5)]


def test_an_odd_hop_changes_nothing():
    assert reports("AAABAAABBAA") == [("A", 11)]


def test_the_interval_ends_a_run():
    assert reports("AAAAAAAAA", interval=30) == [("A", 4), ("A", 4), ("A", 1)]


def test_mostly_unknown_is_unknown():
    unknown = [*hops(["unknown"] * 3), *hops("A", first=30)]
    reporter = Reporter(NAMES, 10_000, 3)
    assert [r.prediction.label for r in reporter.push(unknown) + reporter.flush()] == ["unknown"]


def test_a_gap_ends_a_run():
    reporter = Reporter(NAMES, 10_000, 3)
    out = reporter.push([*hops("AA"), *hops("AA", first=1000)]) + reporter.flush()
    assert [(r.prediction.start, r.prediction.end) for r in out] == [(0, 50), (1000, 1050)]


def test_probabilities_are_the_mean_over_the_hops():
    reporter = Reporter(NAMES, 10_000, 5)
    reporter.push(list(hops("AAB")))
    (report,) = reporter.flush()
    np.testing.assert_allclose(report.prediction.probabilities, [2.0 / 3, 1.0 / 3])


def test_how_the_predictions_arrive_does_not_matter():
    labels = "".join(np.random.default_rng(5).choice(list("AB"), 200, p=[0.7, 0.3]))
    reporter = Reporter(NAMES, 300, 3)
    one_by_one = [report for hop in hops(labels) for report in reporter.push([hop])] + reporter.flush()
    at_once = Reporter(NAMES, 300, 3)
    together = at_once.push(list(hops(labels))) + at_once.flush()
    assert [(r.prediction.start, r.prediction.end, r.hops) for r in one_by_one] == [
        (r.prediction.start, r.prediction.end, r.hops) for r in together
    ]


KIN = Names(("QPSK", "8PSK", "16QAM"), ("PSK", "PSK", "QAM"), certain=0.6)


def kin(rows):
    """Predictions named by a head that falls back to families."""
    for i, row in enumerate(rows):
        label, family, probability = KIN.of(np.array(row))
        yield Prediction(i * 10, i * 10 + 40, label, probability, np.array(row), "warm", family=family)


def test_an_uncertain_class_is_reported_as_its_family():
    reporter = Reporter(KIN, 10_000, 3)
    (report,) = reporter.push(list(kin([[0.5, 0.4, 0.1]] * 4))) + reporter.flush()
    assert (report.prediction.label, report.prediction.family) == ("PSK", "PSK")
    assert np.isclose(report.prediction.probability, 0.9)


def test_a_hop_that_only_knows_the_family_of_the_label_does_not_contradict_it():
    reporter = Reporter(KIN, 10_000, 3)
    rows = [[0.9, 0.05, 0.05]] * 5 + [[0.5, 0.4, 0.1]] * 4 + [[0.1, 0.1, 0.8]] * 3
    reports = reporter.push(list(kin(rows))) + reporter.flush()
    assert [(r.prediction.label, r.hops) for r in reports] == [("QPSK", 9), ("16QAM", 3)]
