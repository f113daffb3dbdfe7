"""A service that hears more emissions than there are: a flood, made behind the front end.

    python -m tests.service.dashboard.flood serve ...      # WAVETELL_FLOOD: emissions a minute

A real band of 10,000 emissions a minute takes more processors than a test may have. Here the front end hears
what its radio plays, and what it tells is joined by emissions that were made up: from there on everything is
as it would be, history, watch rules, live readers and the page.
"""

import os
import sys
from dataclasses import replace

import numpy as np

from service.cli import main
from streaming.band.box import Box
from streaming.band.emissions import Emission
from streaming.band.pipeline import BandPipeline
from streaming.naming import Name

FIRST = 1_000_000  # number of the first one, far from those that are heard
ON_S = 0.3
NAMES = (Name("A", None, 0.9), Name("B", None, 0.6), Name("unknown", None, 0.4))
heard = BandPipeline.changes
rng = np.random.default_rng(3)


class Flood:
    """Emissions at even distances, each on for `ON_S`."""

    def __init__(self, a_minute: float) -> None:
        self.every_s = 60 / a_minute
        self.made, self.on = 0, list[Emission]()

    def until(self, now: int, rate_hz: float, freq_hz: float | None, outputs: int) -> list[Emission]:
        """Those that began or ended up to a sample of the stream."""
        told = []
        while self.made * self.every_s * rate_hz < now:
            start = round(self.made * self.every_s * rate_hz)
            centre, width = rng.uniform(-0.4, 0.4) * rate_hz, rng.uniform(2e3, 9e3)
            told.append(
                Emission(
                    number=FIRST + self.made,
                    state="new",
                    start=start,
                    end=start + round(0.1 * rate_hz),
                    box=Box(centre - width / 2, centre + width / 2, 20.0, -40.0),
                    name=NAMES[self.made % len(NAMES)],
                    nearest=(),
                    bursts=1,
                    duty=1.0,
                    rate_hz=rate_hz,
                    freq_hz=freq_hz,
                    utc_ns=None,
                    clock="host",
                    embedding=rng.standard_normal(outputs).astype(np.float32),
                )
            )
            self.made += 1
        self.on += told
        over = [one for one in self.on if one.start + ON_S * rate_hz < now]
        self.on = [one for one in self.on if one.start + ON_S * rate_hz >= now]
        return told + [replace(one, state="end", end=one.start + round(ON_S * rate_hz)) for one in over]


flood = Flood(float(os.environ.get("WAVETELL_FLOOD", "10000")))


def changes(self: BandPipeline, interval_s: float) -> list[Emission]:
    """What was heard, and the flood."""
    block = self._block
    if block is None:
        return []
    made = flood.until(self.next or 0, block.rate_hz, block.freq_hz, len(self.head.mean))
    return heard(self, interval_s) + made


if __name__ == "__main__":
    BandPipeline.changes = changes
    sys.exit(main(sys.argv[1:]))
