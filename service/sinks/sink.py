"""What every sink has in common: a bounded queue, a thread, and a back-off."""

import logging
import threading
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass

from service.schemas.emissions import StreamEmission
from service.schemas.history import PastEvent
from service.schemas.watch import Alert, WatchState
from service.supervised import Supervised
from streaming.backoff import Backoff

log = logging.getLogger(__name__)

DEPTH = 10_000  # events that may wait; beyond, the oldest are lost and counted
BACKOFF_S = (0.5, 30.0)  # first and longest wait before an event is tried again


@dataclass(frozen=True)
class Notice:
    """An alert with its spectrogram, a PNG file."""

    alert: Alert
    picture: bytes | None

    @property
    def id(self) -> str:
        """Of the alert."""
        return self.alert.id

    def model_dump_json(self) -> str:
        """The alert as JSON."""
        return self.alert.model_dump_json()


Message = PastEvent | StreamEmission | Notice | WatchState


class Unavailable(Exception):
    """The receiver did not take it; it may later."""


class Sink(ABC):
    """Delivers events in order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sent = self.lost = 0
        self._queue: deque[Message] = deque()
        self._wake = threading.Condition()
        self._stopping = threading.Event()
        self.thread = Supervised(f"sink {name}", self._run)

    takes_emissions = False  # that began or ended, too
    takes_states = False  # of what watch rules see, too

    @abstractmethod
    def deliver(self, event: Message) -> bool:
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

    def put_state(self, state: WatchState) -> None:
        """Deliver what a watch rule sees, where that is wanted."""
        if self.takes_states:
            self.put(state)

    def put(self, event: Message) -> None:
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
