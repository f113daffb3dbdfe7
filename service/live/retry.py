"""Failed streams are restarted with exponential back-off: a radio is plugged in, a server comes back.

The first attempt comes after three seconds, each further one after twice as long, up to a minute.
"""

import threading
import time
from collections.abc import Callable, Collection

from service.live.streams import Stream
from service.supervised import Supervised
from streaming.backoff import Backoff
from streaming.errors import WavetellError

BACKOFF_S = (3.0, 60.0)  # first and longest wait
STEADY_S = 60.0  # that a stream must run before its back-off restarts


class Retry:
    """A thread that restarts failed streams of those that `streams` gives."""

    def __init__(self, streams: Callable[[], Collection[Stream]]) -> None:
        self._streams = streams
        self._tries: dict[str, tuple[float, Backoff]] = {}  # id -> when the next try is due, and those after
        self._stop = threading.Event()
        self.thread = Supervised("retry", self._run)

    def start(self) -> None:
        """Start the thread."""
        self.thread.start()

    def close(self) -> None:
        """Stop; an attempt under way continues, and its stream is closed with the others."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(0.5):
            self.look(time.monotonic())

    def look(self, now: float) -> None:
        """Restart each failed stream that is due."""
        streams = {stream.id: stream for stream in self._streams()}
        self._tries = {
            stream_id: (due, backoff)
            for stream_id, (due, backoff) in self._tries.items()
            if stream_id in streams and (streams[stream_id].state == "failed" or now < due + STEADY_S)
        }
        for stream in streams.values():
            if stream.state != "failed":
                continue
            if stream.id not in self._tries:
                backoff = Backoff(*BACKOFF_S)
                self._tries[stream.id] = (now + backoff.next_s(), backoff)
            due, backoff = self._tries[stream.id]
            if now < due:
                continue
            self._tries[stream.id] = (now + backoff.next_s(), backoff)
            try:
                stream.start()
            except WavetellError as error:
                if stream.state == "failed":  # not started or paused by somebody else meanwhile
                    stream.fail(str(error))
