"""Accuracy with Wilson's 95 % interval.

>>> str(Accuracy(750, 1000))
'75.0 % (72.2-77.6)'
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Z = 1.959964  # the normal distribution's 97.5 % point


@dataclass(frozen=True)
class Accuracy:
    """Right answers out of a total."""

    right: int
    total: int

    @classmethod
    def of(cls, correct: NDArray[np.bool_]) -> "Accuracy":
        """The accuracy of answers that were right or not."""
        return cls(int(correct.sum()), len(correct))

    @property
    def share(self) -> float:
        """Between 0 and 1; NaN of nothing."""
        return self.right / self.total if self.total else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share."""
        if not self.total:
            return 0.0, 1.0
        n, p = self.total, self.share
        centre = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z * np.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2)) / (1 + Z**2 / n)
        return float(max(centre - half, 0.0)), float(min(centre + half, 1.0))

    def __str__(self) -> str:
        low, high = self.interval
        return f"{100 * self.share:.1f} % ({100 * low:.1f}-{100 * high:.1f})"


def with_intervals(shares: Mapping[str, Accuracy]) -> dict[str, float | tuple[float, float] | None]:
    """Shares and their intervals as JSON; a share of nothing is null.

    >>> with_intervals({"recall": Accuracy(0, 0)})
    {'recall': None, 'recall_interval': (0.0, 1.0)}
    """
    figures: dict[str, float | tuple[float, float] | None] = {}
    for name, accuracy in shares.items():
        figures[name] = accuracy.share if accuracy.total else None
        figures[f"{name}_interval"] = accuracy.interval
    return figures


def mean_share(parts: Sequence[Accuracy]) -> tuple[float, float]:
    """The plain mean over clients, as the paper averages, and half the width of its 95 % interval."""
    shares = np.array([part.share for part in parts])
    variance = np.array([part.share * (1 - part.share) / part.total for part in parts])
    return float(shares.mean()), float(Z * np.sqrt(variance.sum()) / len(parts))
