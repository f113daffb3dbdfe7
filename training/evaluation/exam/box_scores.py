"""Boxes found and missed, false alarms, how well the boxes fit, whether the names are right.

    recall = true boxes found / true boxes          precision = emissions with a true box / emissions reported
    centre error = |c' - c| / B                     bandwidth error = |B' - B| / B

Names are judged on the boxes found. In a group, an emission without a true box counts to the SNR and to the
label that the model gave it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from training.evaluation.accuracy import Accuracy, with_intervals
from training.evaluation.exam.emissions import FoundEmission
from training.evaluation.exam.matching import TrueBox, match
from training.evaluation.exam.sets import NOT_KNOWN, grouped, snr_range

HIGH_DB = 10.0  # from here on everything should be found
SPUR_WIDTHS = 8.0  # of an emission, that may be a spur's


@dataclass(frozen=True)
class Outcome:
    """A true box with the emission found for it, or either alone: missed, or a false alarm."""

    box: TrueBox | None
    emission: FoundEmission | None
    iou: float = 0.0

    @property
    def snr_db(self) -> float | None:
        """The true one where it is known."""
        if self.box:
            return self.box.snr_db
        return self.emission.snr_db if self.emission else None

    @property
    def label(self) -> str:
        """The true one where there is a box."""
        if self.box:
            return (self.box.truth.label or self.box.truth.family) if self.box.truth else NOT_KNOWN
        return self.emission.label if self.emission else NOT_KNOWN


B = TypeVar("B", TrueBox, FoundEmission)


def widened(box: B, narrowest_hz: float) -> B:
    """At least so wide, around its centre."""
    more = max(0.0, narrowest_hz - (box.upper_hz - box.lower_hz)) / 2
    return replace(box, lower_hz=box.lower_hz - more, upper_hz=box.upper_hz + more) if more else box


def outcomes(
    true_boxes: Sequence[TrueBox], found: Sequence[FoundEmission], narrowest_hz: float
) -> list[Outcome]:
    """Every true box and every emission of one recording, but for the receiver's own spurs."""
    boxes = [widened(box, narrowest_hz) for box in true_boxes if box.expected]
    spurs = [widened(box, narrowest_hz) for box in true_boxes if not box.expected]
    emissions = [widened(emission, narrowest_hz) for emission in found]
    matches = match(boxes, emissions)
    matched, right = {pair.box for pair in matches}, {pair.emission for pair in matches}
    return [
        *(Outcome(boxes[pair.box], emissions[pair.emission], pair.iou) for pair in matches),
        *(Outcome(box, None) for number, box in enumerate(boxes) if number not in matched),
        *(
            Outcome(None, emission)
            for number, emission in enumerate(emissions)
            if number not in right and not any(is_of(emission, spur) for spur in spurs)
        ),
    ]


def is_of(emission: FoundEmission, spur: TrueBox) -> bool:
    """Whether it is the spur that was reported: narrow, and around it."""
    narrow = emission.upper_hz - emission.lower_hz <= SPUR_WIDTHS * spur.bandwidth_hz
    return narrow and emission.lower_hz < (spur.lower_hz + spur.upper_hz) / 2 < emission.upper_hz


def scores(results: Sequence[Outcome]) -> dict[str, Any]:
    """The figures of a group."""
    truth = sum(result.box is not None for result in results)
    found = [
        (result.box, result.emission, result.iou) for result in results if result.box and result.emission
    ]
    # An emission that was found for the boxes of several bursts is still one.
    reported = len({id(result.emission) for result in results if result.emission})
    right = len({id(emission) for _, emission, _ in found})
    named = [(box.truth, emission) for box, emission, _ in found if box.truth]
    classed = [(truth.label, emission.label) for truth, emission in named if truth.label is not None]
    centre = [
        abs(emission.lower_hz + emission.upper_hz - box.lower_hz - box.upper_hz) / 2 / box.bandwidth_hz
        for box, emission, _ in found
    ]
    width = [
        abs((emission.upper_hz - emission.lower_hz) / box.bandwidth_hz - 1) for box, emission, _ in found
    ]
    return {
        "truth": truth,
        "found": len(found),
        "reported": reported,
        "iou_median": quantile([iou for _, _, iou in found], 0.5),
        "centre_error": quantile(centre, 0.5),
        "centre_error_p90": quantile(centre, 0.9),
        "bandwidth_error": quantile(width, 0.5),
        "bandwidth_error_p90": quantile(width, 0.9),
    } | with_intervals(
        {
            "recall": Accuracy(len(found), truth),
            "precision": Accuracy(right, reported),
            "family_right": Accuracy(sum(t.family == e.family for t, e in named), len(named)),
            "class_right": Accuracy(sum(label == answer for label, answer in classed), len(classed)),
            "unknown": Accuracy(sum(emission.unknown for _, emission, _ in found), len(found)),
        }
    )


def quantile(values: Sequence[float], share: float) -> float | None:
    """None of nothing."""
    return float(np.quantile(values, share)) if values else None


def summary(results: Sequence[Outcome], recordings: int, left_out: int, cpu_s: float) -> dict[str, Any]:
    """All figures, as JSON."""

    def by(key: Callable[[Outcome], str]) -> dict[str, Any]:
        return {name: scores(group) for name, group in grouped(results, key).items()}

    high = [result for result in results if result.snr_db is not None and result.snr_db >= HIGH_DB]
    return (
        {"recordings": recordings, "left_out": left_out}
        | scores(results)
        | {
            "cpu_seconds": round(cpu_s, 3),
            "from_10_db": scores(high),
            "by_snr": by(lambda result: snr_range(result.snr_db)),
            "by_label": by(lambda result: result.label),
        }
    )
