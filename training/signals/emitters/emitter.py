"""What every emitter has in common: its nominal width, its clock, and a wave for a receiver of any rate."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples

Floats = NDArray[np.float64]
Reals = NDArray[np.float32]
USUAL = (1.2, 20.0)  # a receiver's rate over the width of what it is tuned to
Spans = list[tuple[int, int]]  # begin and end of each burst, in samples


@dataclass(frozen=True)
class Wave:
    """Samples around zero frequency, and the bursts in them; outside bursts the transmitter is off."""

    samples: Samples
    bursts: Spans
    edges: tuple[float, float] | None = None  # of the band, in cycles per sample, where a carrier hides it


class Emitter(Protocol):
    """A transmitter whose settings are drawn."""

    @property
    def symbol_rate_hz(self) -> float:
        """NaN where there are no symbols."""
        ...

    @property
    def width_hz(self) -> float:
        """Nominal width, which a receiver's rate is chosen by."""
        ...

    @property
    def oversampling(self) -> tuple[float, float]:
        """Range of a receiver's rate over the width."""
        ...

    @property
    def settings(self) -> str:
        """What was drawn, for people."""
        ...

    def make(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Wave:
        """What a receiver of this rate hears, without noise."""
        ...
