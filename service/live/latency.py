"""A histogram of seconds, as Prometheus counts them."""

from bisect import bisect_left

BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


class Latency:
    """Counts by upper bound; the last count is for what is above them all."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def add(self, seconds: float, times: int = 1) -> None:
        """Count a latency that so many hops had."""
        self.counts[bisect_left(BOUNDS, seconds)] += times
        self.total += seconds * times
