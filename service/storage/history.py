"""History: runs and events, written in batches by one thread and read with cursors.

An event is handed to readers and sinks only once it is on disk: whatever anybody received survives a kill -9.
Runs are written over as they grow, every `WRITE_S`. While the database cannot be reached both wait in memory,
up to `WAITING` rows.
"""

import json
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import astuple, fields

from service.live.events import Event
from service.live.runs import Run
from service.storage.database import OUTAGE, Database
from service.storage.schema import migrate
from streaming.backoff import Backoff

log = logging.getLogger(__name__)

WRITE_S = 0.5
BACKOFF_S = (0.5, 5.0)  # first and longest wait while the database cannot be reached
RETAIN_S = 60.0
WAITING = 100_000

RUN_COLUMNS = tuple(field.name for field in fields(Run))
EVENT_COLUMNS = tuple(field.name for field in fields(Event))
GROWING = (
    *("to_ns", "end_sample", "probability", "lowest", "probabilities", "hops", "past"),
    *("snr_db", "bandwidth_hz", "offset_hz", "centre_hz"),
)
PUT_RUN = (
    f"INSERT INTO runs ({', '.join(RUN_COLUMNS)}) VALUES ({', '.join('?' * len(RUN_COLUMNS))}) "  # noqa: S608
    f"ON CONFLICT (id) DO UPDATE SET {', '.join(f'{column} = excluded.{column}' for column in GROWING)}"
)
PUT_EVENT = (
    f"INSERT INTO events ({', '.join(EVENT_COLUMNS)}) VALUES ({', '.join('?' * len(EVENT_COLUMNS))}) "  # noqa: S608
    "ON CONFLICT (id) DO NOTHING"
)


class History:
    """The journal of all streams."""

    def __init__(
        self, database: Database, on_event: Callable[[Event], None], keep_days: int, keep_mb: int
    ) -> None:
        self.database, self.on_event = database, on_event
        self.keep_days, self.keep_mb = keep_days, keep_mb
        self.away = False  # the database cannot be written
        self.lost = 0  # rows that were dropped because the database could not be reached for too long
        self._runs: dict[str, Run] = {}
        self._events: list[Event] = []
        self._wake = threading.Condition()
        self._stop = threading.Event()
        migrate(database)
        self._thread = threading.Thread(target=self._write_on, name="history", daemon=True)
        self._thread.start()

    def keep(self, run: Run) -> None:
        """Write this run with the next batch."""
        with self._wake:
            self._runs[run.id] = run
            if len(self._runs) > WAITING:
                del self._runs[next(iter(self._runs))]
                self.lost += 1

    def publish(self, event: Event) -> None:
        """Write this event at once, then hand it on."""
        with self._wake:
            self._events.append(event)
            if len(self._events) > WAITING:
                del self._events[0]
                self.lost += 1
            self._wake.notify_all()

    @property
    def waiting(self) -> int:
        """Rows that are not written yet."""
        return len(self._runs) + len(self._events)

    def close(self) -> None:
        """Write what waits."""
        self._stop.set()
        with self._wake:
            self._wake.notify_all()
        self._thread.join()
        self.database.close()

    def flush(self) -> None:
        """Write what waits now."""
        with self._wake:
            runs, self._runs = self._runs, {}
            events, self._events = self._events, []
        if not runs and not events:
            return
        try:
            self.database.run([(PUT_RUN, map(run_row, runs.values())), (PUT_EVENT, map(astuple, events))])
        except OUTAGE:
            with self._wake:
                self._runs = runs | self._runs
                self._events = events + self._events
            raise
        for event in events:
            self.on_event(event)

    def _write_on(self) -> None:
        retained, backoff = 0.0, Backoff(*BACKOFF_S)
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._stop.is_set() or self._events, WRITE_S)
            stopping = self._stop.is_set()
            try:
                self.flush()
                if time.monotonic() - retained > RETAIN_S and not stopping:
                    self.retain()
                    retained = time.monotonic()
                self.away = False
                backoff.reset()
            except OUTAGE as error:
                if not self.away:
                    reason = str(error).splitlines()[0]
                    log.warning("history cannot be written, it waits in memory: %s", reason)
                self.away = True
                self._stop.wait(backoff.next_s())
            if stopping:
                return

    def retain(self) -> None:
        """Delete what is too old, then the oldest of what is too much."""
        before = max(0, time.time_ns() - self.keep_days * 86_400 * 10**9)
        old = (
            ("DELETE FROM runs WHERE to_ns < ?", [(before,)]),
            ("DELETE FROM events WHERE since_ns < ?", [(before,)]),
        )
        self.database.run(old)
        while self.size() > self.keep_mb << 20:
            oldest = "SELECT id FROM runs ORDER BY to_ns LIMIT (SELECT 1 + count(*) / 10 FROM runs)"
            if not self.database.query("SELECT 1 FROM runs LIMIT 1"):
                return
            self.database.run([(f"DELETE FROM runs WHERE id IN ({oldest})", [()])])  # noqa: S608

    def size(self) -> int:
        """Bytes that the kept rows take."""
        if self.database.postgres:
            rows = self.database.query("SELECT coalesce(sum(pg_column_size(runs.*)), 0) FROM runs")
            return int(rows[0][0])
        pages, free, page = (self.database.query(f"PRAGMA {name}")[0][0] for name in PAGES)
        return int((pages - free) * page)


PAGES = ("page_count", "freelist_count", "page_size")


def run_row(run: Run) -> tuple[object, ...]:
    """The run as a row; its probabilities are JSON."""
    return tuple(
        json.dumps(value) if name == "probabilities" else value
        for name, value in zip(RUN_COLUMNS, astuple(run), strict=True)
    )
