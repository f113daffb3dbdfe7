"""Threads that must not stay dead: one that raises is restarted with back-off, and says so."""

import logging
import threading
import time
from collections.abc import Callable

from streaming.backoff import Backoff

log = logging.getLogger(__name__)

BACKOFF_S = (0.1, 10.0)  # first and longest wait before it is started again
STEADY_S = 30.0  # that it must run before it counts as well again


class Supervised:
    """A daemon thread around a function that returns only when it is told to stop."""

    def __init__(self, name: str, run: Callable[[], None]) -> None:
        self.name = name
        self.failures = 0
        self._run = run
        self._failed: tuple[float, str] | None = None  # when it last failed, and why
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._keep_on, name=name, daemon=True)

    @property
    def wrong(self) -> str:
        """What is wrong with it, empty where nothing is."""
        if self._failed is None:
            return ""
        at, why = self._failed
        ago = time.monotonic() - at
        return "" if ago > STEADY_S else f"thread {self.name} failed {ago:.0f} s ago and is restarted: {why}"

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def join(self, timeout_s: float | None = None) -> None:
        """Wait for its end, which the caller has asked the function for; it is not restarted any more."""
        self._stopping.set()
        self._thread.join(timeout_s)

    def _keep_on(self) -> None:
        backoff = Backoff(*BACKOFF_S)
        while True:
            began = time.monotonic()
            try:
                self._run()
                return
            except Exception as error:
                log.exception("thread %s", self.name)
                self.failures += 1
                self._failed = (time.monotonic(), repr(error)[:200])
            if time.monotonic() - began > STEADY_S:
                backoff.reset()
            if self._stopping.wait(backoff.next_s()):
                return
