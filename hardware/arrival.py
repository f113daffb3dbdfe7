"""When samples arrive, and what the clock says of those that did not.

A source without timestamps still has a rate: sample k is made at t0 + k / rate. What arrives at t is late by

    late(k) = t(k) - (t0 + k / rate) >= 0,       t0 = the smallest t(k) - k / rate seen so far

where waiting in buffers is a lateness that passes, and a lost sample one that stays.
"""

WINDOW_S = 2.0  # a lateness that stays for so long is a loss
TOLERANCE_S = 0.1  # and it must be more than a busy computer explains
IDLE = 0.25  # a reader that waits for this part of its time is not behind
DRIFT = 200e-6  # what two cheap clocks may differ by


class ArrivalClock:
    """The source's clock, seen from here.

    >>> clock = ArrivalClock(1000.0)
    >>> clock.arrived(100, now=5.1, waited_s=0.1)
    0
    >>> clock.missing(100, now=6.1)
    1000
    """

    def __init__(self, rate_hz: float) -> None:
        self.rate_hz = rate_hz
        self.start: float | None = None  # t0, on the clock that `now` is from
        self.lag_s = 0.0
        self._held = False
        self._renew()

    def _renew(self) -> None:
        self._since: float | None = None
        self._lowest_s, self._waited_s = float("inf"), 0.0

    def arrived(self, end: int, now: float, waited_s: float) -> int:
        """Note a read that ended before sample `end`; the samples that must have been lost unreported.

        ``waited_s`` is how long the reader waited for them. One who finds samples ready is behind, and then
        lateness says nothing of a loss.
        """
        start = now - end / self.rate_hz
        if self.start is None or (start < self.start and not self._held):
            self.start = start
        late_s = start - self.start
        self.lag_s = max(0.0, late_s)
        if self._since is None:
            self._since = now
        self._lowest_s = min(self._lowest_s, late_s)
        self._waited_s += waited_s
        elapsed = now - self._since
        if elapsed < WINDOW_S:
            return 0
        lowest_s, idle = self._lowest_s, self._waited_s > IDLE * elapsed
        self._renew()
        if idle and lowest_s > TOLERANCE_S:
            return round(lowest_s * self.rate_hz)
        if idle:
            self.start += max(-DRIFT * elapsed, min(lowest_s, DRIFT * elapsed))
        return 0

    def missing(self, end: int, now: float) -> int:
        """How many samples should have come beyond `end` by now; `end` moves on by as many."""
        # Too large an estimate makes what follows look early. That says nothing of t0: kept, it sets the
        # next estimate right again.
        self._held = True
        self._renew()
        return self.beyond(end, now)

    def beyond(self, end: int, now: float) -> int:
        """How many samples should have come beyond `end` by now."""
        return 0 if self.start is None else max(0, round((now - self.start) * self.rate_hz) - end)

    def time_of(self, index: int) -> float:
        """When a sample was made."""
        return (self.start or 0.0) + index / self.rate_hz
