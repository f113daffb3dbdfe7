"""A prediction: what a stretch of the stream was, and how sure the head is."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from streaming.block import Clock

NOISE = "noise"  # the class of a receiver's own noise
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
    emission: int | None = None  # which of the stream's, counted from 1; None where there is no signal
    # What the front end measured, None without a front end.
    snr_db: float | None = None  # in the occupied bandwidth
    level_db: float | None = None  # above the noise, dB of full scale
    bandwidth_hz: float | None = None
    offset_hz: float | None = None  # of the emission's centre from the source's
    centre_hz: float | None = None  # of the emission, where the source's frequency is known
    family: str | None = None  # of the label
    embedding: NDArray[np.float32] | None = None  # (outputs,), of one emission of a band


def utc_text(utc_ns: int) -> str:
    """RFC 3339 with microseconds and Z.

    >>> utc_text(1_700_000_000_123_456_789)
    '2023-11-14T22:13:20.123456Z'
    """
    seconds, nanoseconds = divmod(utc_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{nanoseconds // 1000:06d}Z"
