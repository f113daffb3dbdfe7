"""Recordings of one emission of the generator of streams: 2 to 16 samples per symbol at 250 kS/s.

An emission follows a pause of noise, in a receiver with a converter of 8 bits and its usual faults
(`training.signals.conditions`).
"""

from dataclasses import dataclass

import numpy as np

from streaming.block import Samples
from training.signals.classes import NOISE
from training.signals.conditions import Conditions
from training.signals.emission import Emission
from training.signals.stream import Part, Stream

RATE_HZ = 250e3  # of the simulated receivers; the generator's frequencies are relative to it
DURATION_S = 0.25  # of an emission
PAUSE = (4_096, 16_384)  # samples of noise before it
CONDITIONS = Conditions(snr_db=(0.0, 30.0))


@dataclass(frozen=True)
class Recording:
    """What a receiver heard of one emission, and where that is."""

    samples: Samples
    rate_hz: float
    snr_db: float
    lower_hz: float
    upper_hz: float


def on_stream(emission: Emission, rng: np.random.Generator) -> Recording:
    """An emission of the generator of streams."""
    pause, count = int(rng.integers(*PAUSE)), round(DURATION_S * RATE_HZ)
    plan = [Part(Emission(NOISE, CONDITIONS, rng), pause), Part(emission, count)]
    x = Stream(iter(plan), CONDITIONS, seed=int(rng.integers(2**31))).next(pause + count)
    edges = (emission.offset + side * emission.bandwidth / 2 for side in (-1, 1))
    return Recording(x, RATE_HZ, emission.snr_db, *(edge * RATE_HZ for edge in edges))
