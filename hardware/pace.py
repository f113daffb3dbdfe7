"""Real-time pacing for sources that could run faster than the air."""

import threading
import time


class Pacer:
    """Waits until a sample would have been on the air, counted from the first call."""

    def __init__(self, rate_hz: float, closed: threading.Event) -> None:
        self.rate_hz = rate_hz
        self.closed = closed
        self.start: float | None = None

    def wait(self, first: int, end: int) -> float:
        """Wait for the sample before `end` of a block that begins at `first`; seconds we are late."""
        now = time.monotonic()
        if self.start is None:
            self.start = now - first / self.rate_hz
        left = self.start + end / self.rate_hz - now
        if left > 0:
            self.closed.wait(left)
        return max(0.0, -left)
