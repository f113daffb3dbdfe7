"""Changes: where a signal gives way to another that the front end takes for the same.

    s = mean over features of (recent - earlier)^2 / (var (1 / n_recent + 1 / n_earlier)) > LIMIT

compares the means of the encoder's features over the newest hops with those over the hops before, in
deviations of the latter. A window that holds two signals is of neither class: once a change is found,
only the newest hops are kept.

>>> changes = Changes(hop=512)
>>> steady, other = np.tile([[0.0], [1.0]], (10, 1)), np.tile([[8.0], [9.0]], (2, 1))
>>> changes.push(np.concatenate([steady, other]))
[20]
"""

import numpy as np
from numpy.typing import NDArray

RECENT, EARLIER = 1_024, 5_120  # samples that are compared
LIMIT = 4.0


class Changes:
    """Features of one signal's hops in, the hops at which another has begun out."""

    def __init__(self, hop: int, limit: float = LIMIT) -> None:
        self.limit = limit
        self.recent, self.earlier = max(1, RECENT // hop), max(2, EARLIER // hop)  # hops
        self.reset()

    def reset(self) -> None:
        """Restart for another signal."""
        self._past: NDArray[np.floating] | None = None

    def push(self, features: NDArray[np.floating]) -> list[int]:
        """The rows of features (n, reduced) at whose end a change is found, some `recent` rows after it."""
        past = features[:0] if self._past is None else self._past
        rows, before, found = np.concatenate([past, features]), len(past), list[int]()
        begin, span = 0, self.recent + self.earlier
        for end in range(max(before + 1, span), len(rows) + 1):
            if end - begin >= span and self._differ(rows[end - span : end]):
                found.append(end - 1 - before)
                begin = end
        self._past = rows[max(begin, len(rows) - span + 1) :].copy()
        return found

    def _differ(self, rows: NDArray[np.floating]) -> bool:
        earlier, recent = np.split(rows, [self.earlier])
        spread = earlier.var(0, ddof=1) * (1 / self.recent + 1 / self.earlier) + 1e-12
        return bool(np.mean(np.square(recent.mean(0) - earlier.mean(0)) / spread) > self.limit)
