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
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from streaming.native_signals import signal_kernel

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
        first = max(before + 1, span)  # of the ends that are looked at
        if len(rows) >= first:
            for end in (np.flatnonzero(self._differ(rows[first - span :])) + first).tolist():
                if end - begin >= span:
                    found.append(end - 1 - before)
                    begin = end
        self._past = rows[max(begin, len(rows) - span + 1) :].copy()
        return found

    def _differ(self, rows: NDArray[np.floating]) -> NDArray[np.bool_]:
        """For every stretch of so many rows (n, reduced) that are compared, whether its two parts differ."""
        kernel = signal_kernel()
        if kernel is None:
            return self.apart_in_numpy(rows) > self.limit
        return kernel.apart(rows, self.earlier, self.recent) > self.limit

    def apart_in_numpy(self, rows: NDArray[np.floating]) -> NDArray[np.floating]:
        """The definition of s, which the kernel keeps to."""
        stretches = sliding_window_view(rows, self.recent + self.earlier, 0).transpose(0, 2, 1)
        earlier, recent = stretches[:, : self.earlier], stretches[:, self.earlier :]
        spread = earlier.var(1, ddof=1) * (1 / self.recent + 1 / self.earlier) + 1e-12
        apart = np.square(recent.mean(1) - earlier.mean(1)) / spread
        return np.asarray(apart.mean(1))
