"""A block: consecutive samples of one source, and where they lie in its stream."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.complex64]
Clock = Literal["hardware", "recording", "host"]


@dataclass(frozen=True, slots=True)
class Gap:
    """Samples that were lost just before a block."""

    samples: int
    reason: str  # "overflow", "zmq drop", "device lost", ...
    exact: bool  # False where the number was estimated from the clock


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive samples.

    ``index`` counts from when the source opened, lost samples included: whoever sees an index beyond the end
    of the block before it has found a gap, and ``gap`` says what it was.
    """

    samples: Samples  # (T,)
    index: int
    rate_hz: float
    freq_hz: float | None = None  # centre frequency, None where nobody said
    utc_ns: int | None = None  # of the first sample, nanoseconds since 1970
    clock: Clock = "host"
    gap: Gap | None = None

    @property
    def end(self) -> int:
        """Index of the sample after the last one."""
        return self.index + len(self.samples)
