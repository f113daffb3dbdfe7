"""Samples that a publisher dropped, estimated from the clock, and how far the reader is behind.

ZMQ drops a message only when the reader's queue is full. So a loss is looked for only after at least half of
that queue came without a wait, and it is settled once samples arrive at the sender's pace again:

    lost = pace (t - t0) - received since t0,      t0: when the reader was last known to keep up

The time the reader waits for a sender that pauses is not counted. The pace is measured while the reader keeps
up, since senders run faster or slower than the rate they name.
"""

FULL_QUEUES = 1100  # messages: GNU Radio's send queue and ours; what is behind them is surely lost
SETTLE_S = 0.2  # arrivals over this time show whether the backlog is read
PAUSE_S = 0.5  # a longer wait is a pause of the sender, not its pace


class ClockLoss:
    """Counts samples against the clock; every time is handed in, in seconds."""

    def __init__(self, rate_hz: float, queue: int) -> None:
        self.rate_hz = rate_hz
        self.queue = queue  # messages that fit into the reader's queue
        self.largest = 0  # samples of a message
        self._anchor = self._empty_at = 0.0
        self._mark: float | None = None  # since when we look whether the backlog is read
        self._received = self._mark_received = self._messages = 0  # since the anchor
        self._waited_at: float | None = None  # last arrival that the reader waited for
        self._since_wait = 0
        self._calm_s = self._calm_samples = 0.0

    @property
    def pace(self) -> float:
        """Samples per second that the sender really sends."""
        if self._calm_s < 1.0:
            return self.rate_hz
        pace = self._calm_samples / self._calm_s
        # Within 2 % it is the sender's clock and our measuring: believe the name.
        return self.rate_hz if abs(pace / self.rate_hz - 1) < 0.02 else pace

    @property
    def backlog(self) -> bool:
        """Whether so much came without a wait that the queue may have been full."""
        return self._messages >= self.queue // 2

    def lag_s(self, now: float) -> float:
        """How far the reader is behind the sender."""
        return max(0.0, now - self._anchor - self._received / self.pace) if self._messages else 0.0

    def skip(self, samples: int) -> None:
        """Samples that are known to be lost and will not come."""
        self._received += samples

    def empty(self, now: float) -> int:
        """The reader found the queue empty; samples lost until then."""
        self._empty_at = now
        if not self.backlog:
            self._restart(now)
            return 0
        # Once the queue is read, more may come from the sender's: wait for its pace.
        caught_up = False
        if self._mark is not None:
            if now - self._mark < SETTLE_S:
                return 0
            caught_up = self._received - self._mark_received <= 1.5 * self.pace * (now - self._mark)
        self._mark, self._mark_received = now, self._received
        return self._settle(now) if caught_up else 0

    def arrived(self, now: float, samples: int, waited: bool) -> int:
        """A message is there; samples that were lost before it."""
        self.largest = max(self.largest, samples)
        self._since_wait += samples
        lost = 0
        if waited and self.backlog and now - self._empty_at >= SETTLE_S:
            lost = self._settle(self._empty_at)
        if waited and not self.backlog:
            self._learn_pace(now)
            self._restart(now)
            return lost
        self._received += samples
        self._messages += 1
        # A reader that never catches up: what cannot lie in any queue is lost.
        surely = int(self.pace * (now - self._anchor) - self._received - FULL_QUEUES * self.largest)
        if self.backlog and surely > PAUSE_S * self.pace:
            self._received += surely
            lost += surely
        return lost

    def _settle(self, now: float) -> int:
        elapsed = now - self._anchor
        lost = self.pace * elapsed - self._received
        self._restart(now)
        self._waited_at = None
        return round(lost) if lost > max(2 * self.largest, 0.01 * self.pace * elapsed) else 0

    def _restart(self, now: float) -> None:
        self._anchor, self._mark = now, None
        self._received = self._mark_received = self._messages = 0

    def _learn_pace(self, now: float) -> None:
        if self._waited_at is not None and now - self._waited_at < PAUSE_S:
            self._calm_s += now - self._waited_at
            self._calm_samples += self._since_wait
            if self._calm_s > 4.0:  # forget the older half
                self._calm_s, self._calm_samples = self._calm_s / 2, self._calm_samples / 2
        self._waited_at, self._since_wait = now, 0
