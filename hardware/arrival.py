"""When samples arrive, and what the clock says of those that did not.

A source without timestamps still has a rate: sample k is made at t0 + k / rate. What arrives at t is late by

    late(k) = t(k) - (t0 + k / rate) >= 0,       t0 = the smallest t(k) - k / rate seen so far

where waiting in buffers is a lateness that goes away again, and a lost sample one that stays.
"""

WINDOW_S = 2.0  # a lateness that stays for so long is a loss
TOLERANCE_S = 0.1  # and it must be more than a busy computer explains
DRIFT = 200e-6  # what two cheap clocks may differ by


class ArrivalClock:
    """The source's clock, seen from here.

    >>> clock = ArrivalClock(1000.0)
    >>> clock.arrived(100, now=5.1, waited=True)
    0
    >>> clock.missing(100, now=6.1)
    1000
    """

    def __init__(self, rate_hz: float) -> None:
        self.rate_hz = rate_hz
        self.start: float | None = None  # t0, on the clock that `now` is from
        self.lag_s = 0.0
        self._renew(0.0)

    def _renew(self, now: float) -> None:
        self._since, self._lowest, self._reads, self._waits = now, float("inf"), 0, 0

    def arrived(self, end: int, now: float, waited: bool) -> int:
        """Note a read that ended before sample `end`; the samples that must have been lost unreported.

        ``waited`` says that the reader had to wait for them: one who finds samples ready is behind, and then
        lateness says nothing of a loss.
        """
        start = now - end / self.rate_hz
        if self.start is None or start < self.start:
            self.start = start
        self.lag_s = start - self.start
        if self._reads == 0:
            self._since = now
        self._lowest = min(self._lowest, self.lag_s)
        self._reads += 1
        self._waits += waited
        elapsed = now - self._since
        if elapsed < WINDOW_S:
            return 0
        lowest, keeping_up = self._lowest, 2 * self._waits > self._reads
        self._renew(now)
        if not keeping_up:
            return 0
        if lowest > TOLERANCE_S:
            return round(lowest * self.rate_hz)
        self.start += min(lowest, DRIFT * elapsed)
        return 0

    def missing(self, end: int, now: float) -> int:
        """How many samples should have come beyond `end` by now."""
        self._renew(now)
        return 0 if self.start is None else max(0, round((now - self.start) * self.rate_hz) - end)

    def time_of(self, index: int) -> float:
        """When a sample was made."""
        return (self.start or 0.0) + index / self.rate_hz
