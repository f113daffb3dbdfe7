"""A prediction: what a stretch of the stream was, and how sure the head is."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streaming.block import Clock

UNKNOWN = "unknown"  # the head's refusal
NO_SIGNAL = "no signal"  # the front end's: there was nothing to ask the head about

# "warm": every output of the window saw its full causal past. Otherwise why the states were restarted within
# it: "cold": the stream has just begun. "gap": samples were lost. "signal": a signal began. "change": it
# became another one.
Past = Literal["warm", "cold", "gap", "signal", "change"]


@dataclass(frozen=True, slots=True)
class Prediction:
    """One answer; it covers the samples [start, end) of the source."""

    start: int
    end: int
    label: str  # a class of the head, a family where the class is not certain, UNKNOWN or NO_SIGNAL
    probability: (
        float  # of the most likely class, also where the label is UNKNOWN; 0 where there is no signal
    )
    probabilities: NDArray[np.float64]  # (classes,), in the order of the head's classes; zeros for no signal
    past: Past
    utc_ns: int | None = None  # of `start`
    clock: Clock = "host"
    begin: int = 0  # where the states were last restarted: the first sample of this signal, or silence
    # What the front end measured, None where there is none; in hertz, the offset from the source's centre.
    snr_db: float | None = None  # in the occupied bandwidth
    bandwidth_hz: float | None = None
    offset_hz: float | None = None
    family: str | None = None  # of the label


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
    return (
        answer
        | {
            "start": prediction.start,
            "end": prediction.end,
            "label": prediction.label,
            "probability": round(prediction.probability, 4),
            "probabilities": {
                name: round(float(p), 4) for name, p in zip(classes, prediction.probabilities, strict=True)
            },
            "past": prediction.past,
        }
        | measured(prediction)
    )


def measured(prediction: Prediction) -> dict[str, Any]:
    """What only some models and signals have, where this one has it."""
    found = {
        "family": prediction.family,
        "snr_db": rounded(prediction.snr_db, 1),
        "bandwidth_hz": rounded(prediction.bandwidth_hz, 0),
        "offset_hz": rounded(prediction.offset_hz, 0),
    }
    return {name: value for name, value in found.items() if value is not None}


def rounded(value: float | None, digits: int) -> float | None:
    """As many digits as are significant."""
    return None if value is None else round(value, digits)
