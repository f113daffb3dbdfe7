"""Interface of all I/Q sources.

::

    with open_source("soapy:driver=rtlsdr?freq=433.92M&rate=1.024M") as source:
        for block in source.blocks():
            ...
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from hardware.closing import Closing
from streaming.block import Block, Gap
from streaming.errors import ConfigError


@dataclass
class Counts:
    """What a source has delivered and lost since it was opened."""

    samples: int = 0  # delivered in blocks
    lost: Counter[str] = field(default_factory=Counter)  # reason -> samples, known exactly
    lost_estimated: Counter[str] = field(default_factory=Counter)  # reason -> samples, from the clock
    events: Counter[str] = field(default_factory=Counter)  # "overflow", "timeout", "reopened", ... -> times
    lag_s: float = 0.0  # how far behind the air the newest block is, where it is known

    def gap(self, gap: Gap) -> None:
        """Count one gap."""
        (self.lost if gap.exact else self.lost_estimated)[gap.reason] += gap.samples


class Source(Closing):
    """Delivers blocks until its end or until it is closed.

    ``rate_hz`` is known once the source is open; a source that learns it from the stream (ZMQ tags) has it
    once the first block is there. ``loss`` says how lost samples show: "exact", "estimated" or
    "undetectable".
    """

    address: str
    rate_hz: float
    freq_hz: float | None = None
    loss: str = "exact"
    inferred: str = ""  # one line for the user: what was concluded from names or metadata
    counts: Counts

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """The blocks in order; ends at the end of the source or when it is closed."""

    @abstractmethod
    def close(self) -> None:
        """Release everything; `blocks` ends, also when another thread waits in it. May be called twice."""

    def retune(self, freq_hz: float | None = None, gain: float | str | None = None) -> None:
        """Change frequency (Hz) or gain (dB or "auto") while it runs."""
        raise ConfigError(f"source {self.address} cannot be retuned")
