"""Found emissions matched to true boxes, by intersection over union in time and frequency.

    IoU = |A and B| / |A or B|,    areas in samples times hertz

Other people's boxes are of two kinds: one around all that a transmitter sends, pauses included, or one per
burst; and a model may report bursts apart or pass over short pauses. So on both sides there are wholes and
parts: an emission as a whole and burst by burst; a true box alone and, where boxes of one label and band
follow each other, all of these as one. Pairs are taken best first, each true box and each burst at most once;
what a pair of wholes covers is found as far as it is not found yet. What a model reports twice is therefore
right at most once, and an emission that it falls apart into is found only if one of the parts covers enough.

A pair needs an IoU of `LEAST_IOU`. That is below the 0.5 of pictures because bandwidth is defined in many
ways (99 % of the power, to the first null, to -3 dB): a box three times too wide is just matched, and how
good the boxes are is what the errors of centre and bandwidth say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.evaluation.exam.emissions import FoundEmission
from training.evaluation.exam.labels import Truth

LEAST_IOU = 0.3
WHOLE = -1  # in place of a burst's number
SAME_BAND = 0.5  # overlap of the bands of one transmitter's boxes


@dataclass(frozen=True)
class TrueBox:
    """An annotated box; `truth` is None where it has no label."""

    begin: int  # samples of the source, [begin, end)
    end: int
    lower_hz: float  # from the source's centre
    upper_hz: float
    truth: Truth | None = None
    snr_db: float | None = None
    expected: bool = True  # whether it should be found

    @property
    def bandwidth_hz(self) -> float:
        """Between its edges."""
        return self.upper_hz - self.lower_hz


class Match(NamedTuple):
    """A true box and the emission that was found for it."""

    box: int  # numbers in the lists that were given
    emission: int
    iou: float


class Offer(NamedTuple):
    """A part of an emission, or all of it."""

    emission: int
    burst: int  # or WHOLE
    begin: int
    end: int
    lower_hz: float
    upper_hz: float


class Wanted(NamedTuple):
    """True boxes that are looked for together, and the box around them."""

    boxes: tuple[int, ...]
    around: TrueBox


def overlaps(box: TrueBox, others: NDArray[np.float64]) -> NDArray[np.float64]:
    """IoU (n,) of a box with others (n, 4): begin, end, lower, upper."""
    begin, end, lower, upper = others.T
    time = np.minimum(end, box.end) - np.maximum(begin, box.begin)
    band = np.minimum(upper, box.upper_hz) - np.maximum(lower, box.lower_hz)
    both = np.maximum(time, 0) * np.maximum(band, 0)
    either = (box.end - box.begin) * box.bandwidth_hz + (end - begin) * (upper - lower) - both
    return np.asarray(both / either)


def offered(found: Sequence[FoundEmission]) -> list[Offer]:
    """Every emission, and each of its bursts where there are several."""
    return [
        Offer(number, burst, begin, end, emission.lower_hz, emission.upper_hz)
        for number, emission in enumerate(found)
        for burst, (begin, end) in [
            (WHOLE, (emission.begin, emission.end)),
            *(enumerate(emission.bursts) if len(emission.bursts) > 1 else ()),
        ]
    ]


def wanted(boxes: Sequence[TrueBox]) -> list[Wanted]:
    """Every true box, and those of one label and band that follow each other."""
    alone = [Wanted((number,), box) for number, box in enumerate(boxes)]
    rows = list[list[int]]()
    for number in sorted(range(len(boxes)), key=lambda i: (str(boxes[i].truth), boxes[i].lower_hz)):
        row = rows[-1] if rows else []
        if row and same_kind(boxes[row[0]], boxes[number]):
            row.append(number)
        else:
            rows.append([number])
    several = [row for row in rows if len(row) > 1 and in_turn([boxes[i] for i in row])]
    return alone + [Wanted(tuple(row), around([boxes[i] for i in row])) for row in several]


def in_turn(boxes: Sequence[TrueBox]) -> bool:
    """Whether no two are there at the same time."""
    order = sorted(boxes, key=lambda box: box.begin)
    return all(one.end <= other.begin for one, other in pairwise(order))


def same_kind(one: TrueBox, other: TrueBox) -> bool:
    """Whether two boxes have one label and nearly one band."""
    both = min(one.upper_hz, other.upper_hz) - max(one.lower_hz, other.lower_hz)
    either = max(one.upper_hz, other.upper_hz) - min(one.lower_hz, other.lower_hz)
    return one.truth == other.truth and both >= SAME_BAND * either


def around(boxes: Sequence[TrueBox]) -> TrueBox:
    """The box around boxes."""
    return TrueBox(
        min(box.begin for box in boxes),
        max(box.end for box in boxes),
        min(box.lower_hz for box in boxes),
        max(box.upper_hz for box in boxes),
    )


def covers(offer: Offer, box: TrueBox) -> bool:
    """Whether it is there for as much of a box's time as a pair needs."""
    return min(offer.end, box.end) - max(offer.begin, box.begin) >= LEAST_IOU * (box.end - box.begin)


def match(boxes: Sequence[TrueBox], found: Sequence[FoundEmission]) -> list[Match]:
    """Pairs, best first."""
    offers, looked_for = offered(found), wanted(boxes)
    if not offers:
        return []
    corners = np.array([offer[2:] for offer in offers])  # (n, 4)
    pairs = list[tuple[float, int, int]]()
    for number, want in enumerate(looked_for):
        shared = overlaps(want.around, corners)
        pairs += [(float(shared[i]), number, int(i)) for i in np.flatnonzero(shared >= LEAST_IOU)]
    matches, owner = list[Match](), dict[int, int]()  # owner: true box -> emission
    taken = dict[int, dict[int, set[int]]]()  # emission -> burst -> the true boxes that it was taken for
    for iou, number, i in sorted(pairs, key=lambda pair: (-pair[0], *pair[1:])):
        want, offer = looked_for[number], offers[i]
        bursts = taken.setdefault(offer.emission, {})
        used = [bursts.get(WHOLE, set()), bursts.get(offer.burst, set())]
        used += bursts.values() if offer.burst == WHOLE else []
        others = set[int]().union(*used) - set(want.boxes)
        owners = {owner[box] for box in want.boxes if box in owner}
        free = [box for box in want.boxes if box not in owner and covers(offer, boxes[box])]
        if free and not others and owners <= {offer.emission} and (len(want.boxes) > 1 or not any(used)):
            matches += [Match(box, offer.emission, iou) for box in free]
            owner |= dict.fromkeys(free, offer.emission)
            bursts.setdefault(offer.burst, set()).update(free)
    return matches
