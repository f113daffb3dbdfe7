"""What every sink has in common: a bounded queue, a thread, and a back-off."""

import logging
import threading
from abc import ABC, abstractmethod
from collections import deque

from service.schemas.emissions import StreamEmission
from service.schemas.history import PastEvent
from service.supervised import Supervised
from streaming.backoff import Backoff

log = logging.getLogger(__name__)

DEPTH = 10_000  # events that may wait; beyond, the oldest are lost and counted
BACKOFF_S = (0.5, 30.0)  # first and longest wait before an event is tried again


class Unavailable(Exception):
    """The receiver did not take it; it may later."""


class Sink(ABC):
    """Delivers events in order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sent = self.lost = 0
        self._queue: deque[PastEvent | StreamEmission] = deque()
        self._wake = threading.Condition()
        self._stopping = threading.Event()
        self.thread = Supervised(f"sink {name}", self._run)

    takes_emissions = False  # that began or ended, too

    @abstractmethod
    def deliver(self, event: PastEvent | StreamEmission) -> bool:
        """Deliver one event; False where it will never be taken. `Unavailable`: try again later."""

    def release(self) -> None:  # noqa: B027  (most sinks hold nothing)
        """Close the connection to the receiver."""

    def start(self) -> None:
        """Start to deliver."""
        self.thread.start()

    def put_emission(self, emission: StreamEmission) -> None:
        """Deliver that an emission began or ended, where that is wanted."""
        if self.takes_emissions:
            self.put(emission)

    def put(self, event: PastEvent | StreamEmission) -> None:
        """Deliver this after those that wait; never blocks."""
        with self._wake:
            if len(self._queue) == DEPTH:
                self._queue.popleft()
                self.lost += 1
            self._queue.append(event)
            self._wake.notify()

    def close(self, timeout_s: float) -> None:
        """Deliver what waits if the receiver is there, then stop."""
        self._stopping.set()
        with self._wake:
            self._wake.notify()
        self.thread.join(timeout_s)
        self.lost += len(self._queue)

    def _run(self) -> None:
        backoff = Backoff(*BACKOFF_S)
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._queue or self._stopping.is_set())
                if not self._queue:
                    break
                event = self._queue[0]
            try:
                taken = self.deliver(event)
            except Unavailable as error:
                log.warning(
                    "sink %s cannot be reached, %d events wait: %s", self.name, len(self._queue), error
                )
                if self._stopping.wait(backoff.next_s()):
                    break
                continue
            except Exception:  # this event is lost, the others are not
                log.exception("sink %s: event %s", self.name, event.id)
                taken = False
            backoff.reset()
            self.sent += taken
            self.lost += not taken
            with self._wake:
                if self._queue and self._queue[0] is event:  # else it was lost meanwhile
                    self._queue.popleft()
        self.release()
