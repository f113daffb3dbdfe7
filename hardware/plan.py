"""A plan of frequencies: steps that together cover more spectrum than a radio sees at once.

    usable   [c - 0.4 rate, c + 0.4 rate]   beyond, a radio's filter falls off
    step     0.6 rate at most               neighbours share 0.2 rate: what is narrower is whole in one

>>> Plan(430e6, 440e6).centres(2.4e6)[:2]
[430960000.0, 432306666.6666667]
>>> Plan(433e6, 434e6).centres(2.4e6)
[433500000.0]
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from streaming.checked import Checked, Range, metric
from streaming.errors import ConfigError
from streaming.quantities import BANDWIDTH_HZ, FREQ_HZ

USABLE = 0.8  # of the rate
STEP = 0.6  # of the rate
MOST = 10_000  # steps
DWELL_S = Range(0.01, 3600, "s")
SETTLE_S = Range(0, 10, "s")


@dataclass(frozen=True)
class Plan(Checked):
    """From where to where, how long at each step, and how long a radio takes to get there."""

    section = "plan"
    start_hz: Annotated[float, FREQ_HZ]
    stop_hz: Annotated[float, FREQ_HZ]
    dwell_s: Annotated[float, DWELL_S] = 0.1
    step_hz: Annotated[float, BANDWIDTH_HZ] | None = None  # at most; None is 0.6 of the rate
    settle_s: Annotated[float, SETTLE_S] = 0.05  # after a retune, whose samples are discarded

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start_hz >= self.stop_hz:
            raise ConfigError(
                f"plan.start_hz is {metric(self.start_hz)}; it must be below plan.stop_hz, "
                f"{metric(self.stop_hz)}"
            )

    def centres(self, rate_hz: float) -> list[float]:
        """Where a radio of this rate is tuned to, evenly spaced."""
        usable_hz, span_hz = USABLE * rate_hz, self.stop_hz - self.start_hz
        step_hz = STEP * rate_hz if self.step_hz is None else self.step_hz
        if step_hz > usable_hz:
            raise ConfigError(
                f"plan.step_hz is {metric(step_hz)}; at {metric(rate_hz)} S/s it must be at most "
                f"{metric(usable_hz)}"
            )
        if span_hz <= usable_hz:
            return [(self.start_hz + self.stop_hz) / 2]
        count = math.ceil((span_hz - usable_hz) / step_hz) + 1
        if count > MOST:
            raise ConfigError(f"the plan has {count:,} steps; it must have at most {MOST:,}")
        edges = self.start_hz + usable_hz / 2, self.stop_hz - usable_hz / 2
        centres: list[float] = np.linspace(*edges, count).tolist()
        return centres
