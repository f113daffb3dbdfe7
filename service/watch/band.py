"""What a rule hears where it watches: the emissions on the air, and the share of the time that they take.

Occupancy is that of ITU-R SM.1880 for the watched part as one channel: the share of the time in which at
least one emission is on. Of an emission only its duty cycle d is known, so emissions count as independent:
at every moment the part is in use with probability 1 - prod(1 - d_i) over those that are on the air.
"""

from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from service.live.emissions import EmissionRow

MOST = 20_000  # emissions that are remembered
LIVE_NS = 3 * 10**9  # an emission is told each second: one that is not is not on the air
ALWAYS = 1e-9  # that log(1 - duty) stays finite


class WatchedBand:
    """Emissions where a rule watches, as far back as its occupancy reaches."""

    def __init__(self, minutes: float) -> None:
        self.window_ns = round(minutes * 60e9)
        self._spans: OrderedDict[str, tuple[int, int, float]] = OrderedDict()  # id -> from, to, duty

    def hear(self, row: EmissionRow) -> None:
        """An emission began, goes on or ended."""
        self._spans[row.id] = (row.from_ns, row.to_ns, row.duty)
        self._spans.move_to_end(row.id)
        while len(self._spans) > MOST or next(iter(self._spans.values()))[1] < row.to_ns - self.window_ns:
            self._spans.popitem(last=False)

    def on_air(self, now_ns: int) -> int:
        """How many emissions are on the air."""
        return sum(to_ns > now_ns - LIVE_NS for _, to_ns, _ in self._spans.values())

    def occupancy(self, now_ns: int) -> float:
        """Share of the window in which something was on the air."""
        spans = np.array(list(self._spans.values()), float).reshape(-1, 3)
        return busy(spans, now_ns - self.window_ns, now_ns)


def busy(spans: NDArray[np.float64], begin: float, end: float) -> float:
    """Share of [begin, end) in use, of spans (n, 3) from, to, duty.

    >>> round(busy(np.array([[0, 5, 1.0], [4, 6, 1.0], [8, 10, 0.5]]), 0, 10), 6)
    0.7
    """
    from_, to = np.clip(spans[:, 0], begin, end), np.clip(spans[:, 1], begin, end)
    free = np.log(np.maximum(1 - spans[:, 2], ALWAYS))
    order = np.argsort(edges := np.concatenate([from_, to]), kind="stable")
    edges = edges[order]
    levels = np.cumsum(np.concatenate([free, -free])[order])
    used = 1 - np.exp(np.minimum(levels[:-1], 0.0))
    return float(np.sum(used * np.diff(edges)) / (end - begin))
