"""Recordings of emissions as they end, of all or only of those that were not named (setting `save`)."""

import logging
import queue
from collections.abc import Callable

from service.errors import Conflict, NotFound
from service.live.emissions import EmissionRow
from service.live.streams import Stream
from service.storage.recordings import RecordingStore, heard_in
from service.supervised import Supervised
from streaming.errors import InputError
from streaming.prediction import UNKNOWN

log = logging.getLogger(__name__)
DEPTH = 1000  # emissions that may wait; beyond, they are not saved, and counted
LONGEST_S = 10.0  # of an emission that is kept, the newest


class Saver:
    """Keeps each emission on its own, moved to zero and decimated; `what` is `no`, `unknown` or `all`."""

    def __init__(self, what: str, recordings: RecordingStore, stream: Callable[[str], Stream]) -> None:
        self.what, self.recordings, self.stream = what, recordings, stream
        self.saved = self.lost = 0
        self._rows: queue.Queue[EmissionRow | None] = queue.Queue(DEPTH)
        self._kept_to: dict[str, int] = {}  # the sample up to which an emission that may come back is kept
        self.thread = Supervised("saver", self._run)
        self.thread.start()

    def hear(self, row: EmissionRow) -> None:
        """Keep an emission that ended soon; never waits."""
        if row.state != "end" or self.what == "no" or (self.what == "unknown" and row.label != UNKNOWN):
            return
        try:
            self._rows.put_nowait(row)
        except queue.Full:
            self.lost += 1

    def close(self) -> None:
        """Keep what waits."""
        self._rows.put(None)
        self.thread.join()

    def _run(self) -> None:
        while row := self._rows.get():
            try:
                self._save(row)
                self.saved += 1
            except (Conflict, InputError, NotFound) as error:  # no room, or its samples are gone
                self.lost += 1
                log.warning("emission %s is not saved: %s", row.id, error)

    def _save(self, row: EmissionRow) -> None:
        stream = self.stream(row.stream)
        start, end = heard_in(stream, row)
        start = max(start, self._kept_to.pop(row.id, 0), end - round(LONGEST_S * row.rate_hz))
        self.recordings.save_emission(stream, row, (start, end))
        self._kept_to[row.id] = end
        if len(self._kept_to) > DEPTH:
            del self._kept_to[next(iter(self._kept_to))]
