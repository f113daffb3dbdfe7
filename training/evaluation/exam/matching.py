"""Found emissions matched to true boxes, by intersection over union in time and frequency.

    IoU = |A and B| / |A or B|,    areas in samples times hertz

Other people's boxes are of two kinds: one around all that a transmitter sends, pauses included, or one per
burst. So an emission is offered as a whole and, where it has several, burst by burst. Pairs are taken best
first, each true box at most once; an emission is taken as a whole for one true box, or with different bursts
for several. What a model reports twice is therefore right at most once, and an emission that it falls apart
into is found only if one of the parts covers enough of it.

A pair needs an IoU of `LEAST_IOU`. That is below the 0.5 of pictures because bandwidth is defined in many
ways (99 % of the power, to the first null, to -3 dB): a box three times too wide is just matched, and how
good the boxes are is what the errors of centre and bandwidth say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.evaluation.exam.emissions import FoundEmission
from training.evaluation.exam.labels import Truth

LEAST_IOU = 0.3
WHOLE = -1  # in place of a burst's number


@dataclass(frozen=True)
class TrueBox:
    """An annotated box; `truth` is None where it has no label."""

    begin: int  # samples of the source, [begin, end)
    end: int
    lower_hz: float  # from the source's centre
    upper_hz: float
    truth: Truth | None = None
    snr_db: float | None = None

    @property
    def bandwidth_hz(self) -> float:
        """Between its edges."""
        return self.upper_hz - self.lower_hz


class Match(NamedTuple):
    """A true box and the emission that was found for it."""

    box: int  # numbers in the lists that were given
    emission: int
    iou: float


def overlaps(box: TrueBox, others: NDArray[np.float64]) -> NDArray[np.float64]:
    """IoU (n,) of a box with others (n, 4): begin, end, lower, upper."""
    begin, end, lower, upper = others.T
    time = np.minimum(end, box.end) - np.maximum(begin, box.begin)
    band = np.minimum(upper, box.upper_hz) - np.maximum(lower, box.lower_hz)
    both = np.maximum(time, 0) * np.maximum(band, 0)
    either = (box.end - box.begin) * box.bandwidth_hz + (end - begin) * (upper - lower) - both
    return np.asarray(both / either)


def match(boxes: Sequence[TrueBox], found: Sequence[FoundEmission]) -> list[Match]:
    """Pairs, best first."""
    offers = [
        (number, burst, begin, end, emission.lower_hz, emission.upper_hz)
        for number, emission in enumerate(found)
        for burst, (begin, end) in [
            (WHOLE, (emission.begin, emission.end)),
            *(enumerate(emission.bursts) if len(emission.bursts) > 1 else ()),
        ]
    ]
    if not offers:
        return []
    corners = np.array([offer[2:] for offer in offers])  # (n, 4)
    pairs = list[tuple[float, int, int]]()
    for number, box in enumerate(boxes):
        shared = overlaps(box, corners)
        pairs += [(float(shared[i]), number, int(i)) for i in np.flatnonzero(shared >= LEAST_IOU)]
    matches, boxes_taken, bursts_taken = list[Match](), set[int](), dict[int, set[int]]()
    for iou, number, offer in sorted(pairs, key=lambda pair: (-pair[0], *pair[1:])):
        emission, burst = offers[offer][:2]
        taken = bursts_taken.setdefault(emission, set())
        free = not taken if burst == WHOLE else not taken & {WHOLE, burst}
        if number not in boxes_taken and free:
            matches.append(Match(number, emission, iou))
            boxes_taken.add(number)
            taken.add(burst)
    return matches
