"""A prediction: what a stretch of the stream was, and how sure the head is."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streaming.block import Clock

UNKNOWN = "unknown"

# "warm": every output of the window saw its full causal past. "cold": the stream has just begun.
# "gap": samples were lost within the window's past, and the states began anew there.
Past = Literal["warm", "cold", "gap"]


@dataclass(frozen=True, slots=True)
class Prediction:
    """One answer; it covers the samples [start, end) of the source."""

    start: int
    end: int
    label: str  # a class of the head, or UNKNOWN
    probability: float  # of the most likely class, also where the label is UNKNOWN
    probabilities: NDArray[np.float64]  # (classes,), in the order of the head's classes
    past: Past
    utc_ns: int | None = None  # of `start`
    clock: Clock = "host"


def utc_text(utc_ns: int) -> str:
    """RFC 3339 with microseconds and Z.

    >>> utc_text(1_700_000_000_123_456_789)
    '2023-11-14T22:13:20.123456Z'
    """
    seconds, nanoseconds = divmod(utc_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{nanoseconds // 1000:06d}Z"


def as_json(prediction: Prediction, classes: tuple[str, ...]) -> dict[str, Any]:
    """The prediction as people and programs read it."""
    answer: dict[str, Any] = {}
    if prediction.utc_ns is not None:
        answer |= {"time": utc_text(prediction.utc_ns), "clock": prediction.clock}
    return answer | {
        "start": prediction.start,
        "end": prediction.end,
        "label": prediction.label,
        "probability": round(prediction.probability, 4),
        "probabilities": {
            name: round(float(p), 4) for name, p in zip(classes, prediction.probabilities, strict=True)
        },
        "past": prediction.past,
    }
