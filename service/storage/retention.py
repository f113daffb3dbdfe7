"""What goes, and when: alerts, recordings and clips each by their own age, and I/Q when the disk gets full.

Below `min_free_mb` the I/Q of clips goes first, the oldest before the others (pictures stay), then recordings
where a setting allows that they are deleted at all. Whatever goes is counted and told.
"""

import logging
import shutil
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from service.errors import NotFound
from service.schemas.review import Storage
from service.settings import Settings
from service.storage.alerts import count_alerts, remove_old_alerts
from service.storage.database import OUTAGE, Database
from service.storage.history import History
from service.storage.names import bytes_in
from service.storage.recordings import RecordingStore
from service.supervised import Supervised
from service.watch.clips import ClipStore

log = logging.getLogger(__name__)
LOOK_S = 10.0
DAY_NS = 86_400 * 10**9


class Retention:
    """Deletes what is too old, or has no room."""

    def __init__(
        self, data: Path, values: Settings, database: Database, recordings: RecordingStore, clips: ClipStore
    ) -> None:
        self.data, self.values, self.database = data, values, database
        self.recordings, self.clips = recordings, clips
        self.history: History | None = None
        self.removed: Counter[str] = Counter()
        self.problem = ""
        self._stop = threading.Event()
        self.thread = Supervised("retention", self._run)

    def start(self, history: History) -> None:
        """Start to look."""
        self.history = history
        self.thread.start()

    def close(self) -> None:
        """Look no more."""
        self._stop.set()
        self.thread.join()
        self.database.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            with suppress(*OUTAGE):  # it is tried again
                self.look()
            self._stop.wait(LOOK_S)

    def look(self) -> None:
        """Delete what is due now."""
        now_ns = time.time_ns()
        for alert in remove_old_alerts(self.database, now_ns - self.values.keep_alerts_days * DAY_NS):
            self.clips.remove(alert)
            self._count("alert", "too old")
        if self.values.keep_recordings_days:
            before_ns = now_ns - self.values.keep_recordings_days * DAY_NS
            for recording in self._finished():
                if age_of(recording) < before_ns:
                    self._remove(recording, "too old")
        self._make_room()

    def _finished(self) -> list[str]:
        """Recordings that nobody writes to, oldest first."""
        names = sorted(path.stem for path in self.recordings.folder.glob("*.sigmf-meta"))
        return [name for name in names if name not in self.recordings.running]

    def _remove(self, recording: str, why: str) -> None:
        with suppress(NotFound):  # somebody was faster
            self.recordings.remove(recording)
            self._count("recording", why)

    def _count(self, what: str, why: str) -> None:
        self.removed[f"{what}, {why}"] += 1
        log.warning("%s deleted: %s", what, why)

    def _make_room(self) -> None:
        least = self.values.min_free_mb << 20
        while self.free < least and self.clips.remove_oldest_samples():
            self._count("I/Q of a clip", "disk full")
        for recording in self._finished() if self.values.keep_recordings_days else ():
            if self.free >= least:
                break
            self._remove(recording, "disk full")
        short = self.free < least
        if short and not self.problem:
            log.error("the disk is full: %s", self.data)
        self.problem = f"the disk has {self.free >> 20} MB left, and nothing may be deleted" if short else ""

    @property
    def free(self) -> int:
        """Bytes that are left on the disk."""
        return shutil.disk_usage(self.data).free

    def describe(self) -> Storage:
        """What is kept, and what had to go."""
        return Storage(
            history=self.history.size() if self.history else 0,
            alerts=count_alerts(self.database),
            clips=bytes_in(self.clips.folder),
            recordings=bytes_in(self.recordings.folder),
            labels=bytes_in(self.data / "labels"),
            free=self.free,
            least_free=self.values.min_free_mb << 20,
            removed=dict(self.removed),
            problem=self.problem,
        )


def age_of(recording: str) -> int:
    """When a recording was made, from its name; 0 where that says nothing."""
    try:
        return int(recording[:16], 16)
    except ValueError:
        return 0
