"""History: runs, emissions and events, written in batches by one thread and read with cursors.

An event is handed to readers and sinks only once it is on disk: whatever anybody received survives a kill -9.
Runs and emissions are written over as they grow, every `WRITE_S`. While the database cannot be reached all of
them wait in memory, up to `WAITING` rows each.
"""

import json
import logging
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import astuple, fields
from typing import TypeVar

from service.live.emissions import EmissionRow
from service.live.events import Event
from service.live.runs import Run
from service.storage.database import OUTAGE, Database, Row
from service.storage.rollup import STEP_NS, roll_up
from service.storage.schema import migrate
from service.supervised import Supervised
from streaming.backoff import Backoff

log = logging.getLogger(__name__)
T = TypeVar("T", Event, EmissionRow)

WRITE_S = 0.5
BACKOFF_S = (0.5, 5.0)  # first and longest wait while the database cannot be reached
RETAIN_S = 60.0
WAITING = 100_000

RUN_COLUMNS = tuple(field.name for field in fields(Run))
EVENT_COLUMNS = tuple(field.name for field in fields(Event))
EMISSION_COLUMNS = tuple(field.name for field in fields(EmissionRow))
GROWING = (
    *("to_ns", "end_sample", "probability", "lowest", "probabilities", "hops", "past"),
    *("snr_db", "bandwidth_hz", "offset_hz", "centre_hz"),
)


def put(table: str, columns: tuple[str, ...], growing: tuple[str, ...]) -> str:
    """The statement that writes a row, over the growing columns of the one with its id."""
    places = ", ".join("?" * len(columns))
    grown = ", ".join(f"{column} = excluded.{column}" for column in growing)
    conflict = f"UPDATE SET {grown}" if growing else "NOTHING"
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places}) "  # noqa: S608  (our own words only)
        f"ON CONFLICT (id) DO {conflict}"
    )


PUT_RUN = put("runs", RUN_COLUMNS, GROWING)
PUT_EMISSION = put("emissions", EMISSION_COLUMNS, EMISSION_COLUMNS[2:])
PUT_EVENT = put("events", EVENT_COLUMNS, ())
PUT_EMBEDDING = put("embeddings", ("id", "stream", "to_ns", "vector"), ("to_ns", "vector"))


class History:
    """The journal of all streams."""

    def __init__(
        self,
        database: Database,
        on_event: Callable[[Event], None],
        keep_days: int,
        keep_mb: int,
        on_emission: Callable[[EmissionRow], None] = lambda _: None,
    ) -> None:
        self.database, self.on_event, self.on_emission = database, on_event, on_emission
        self.keep_days, self.keep_mb = keep_days, keep_mb
        self.away = False  # the database cannot be written
        self.lost = 0  # rows that were dropped because the database could not be reached for too long
        self._runs: dict[str, Run] = {}
        self._emissions: dict[str, EmissionRow] = {}
        self._embeddings: dict[str, Row] = {}  # of the same emissions: stream, when last heard, vector
        self._told: list[EmissionRow] = []  # those that began or ended, to be handed on
        self._events: list[Event] = []
        self._heard: set[str] = set()  # streams whose emissions are ours to add up
        self._wake = threading.Condition()
        self._stop = threading.Event()
        self._migrated = False
        try:
            self._migrate()
        except OUTAGE as error:  # it is tried again with the first batch
            log.warning("history cannot be written, it waits in memory: %s", str(error).partition("\n")[0])
            self.away = True
        self.thread = Supervised("history", self._write_on)
        self.thread.start()

    def _migrate(self) -> None:
        """Bring the tables to this version; a damaged file is set aside for a new one."""
        try:
            migrate(self.database)
        except sqlite3.DatabaseError as error:
            if isinstance(error, OUTAGE):
                raise
            self.database.set_aside(str(error))
            migrate(self.database)
        self._migrated = True

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

    def follow(self, emission: EmissionRow, embedding: bytes | None = None) -> None:
        """Write this emission with the next batch, then hand on that it began or ended."""
        with self._wake:
            self._heard.add(emission.stream)
            self._emissions[emission.id] = emission
            if embedding:
                self._embeddings[emission.id] = (emission.stream, emission.to_ns, embedding)
            if emission.state != "update":
                self._told.append(emission)
            if len(self._emissions) > WAITING:
                oldest = next(iter(self._emissions))
                del self._emissions[oldest]
                self._embeddings.pop(oldest, None)
                self.lost += 1
            if len(self._told) > WAITING:
                del self._told[0]
                self.lost += 1

    @property
    def waiting(self) -> int:
        """Rows that are not written yet."""
        return len(self._runs) + len(self._emissions) + len(self._events)

    def close(self) -> None:
        """Write what waits."""
        self._stop.set()
        with self._wake:
            self._wake.notify_all()
        self.thread.join()
        self.database.close()

    def flush(self) -> None:
        """Write what waits now; a row that no database can hold is lost and counted."""
        with self._wake:
            runs, self._runs = self._runs, {}
            emissions, self._emissions = self._emissions, {}
            embeddings, self._embeddings = self._embeddings, {}
            events, self._events = self._events, []
            told, self._told = self._told, []
        rows = (
            (PUT_RUN, self._storable(map(run_row, runs.values()))),
            (PUT_EMISSION, self._storable(map(astuple, emissions.values()))),
            (PUT_EMBEDDING, [(i, *embedding) for i, embedding in embeddings.items()]),
            (PUT_EVENT, self._storable(map(astuple, events))),
        )
        count = sum(len(each) for _, each in rows)
        try:
            if count:
                self.database.run(rows)
        except OUTAGE:
            with self._wake:
                self._runs = runs | self._runs
                self._emissions = emissions | self._emissions
                self._embeddings = embeddings | self._embeddings
                self._events, self._told = events + self._events, told + self._told
            raise
        except Exception:  # not foreseen: the thread says so and is restarted, without them
            self._lose(count, "were refused by the database")
            raise
        for event in events:
            self._hand_on(self.on_event, event)
        for emission in told:
            self._hand_on(self.on_emission, emission)

    def _storable(self, rows: Iterable[Row]) -> list[Row]:
        """Those that fit into their columns."""
        every = list(rows)
        sound = [row for row in every if storable(row)]
        self._lose(len(every) - len(sound), "cannot be stored")
        return sound

    def _lose(self, rows: int, why: str) -> None:
        if rows:
            self.lost += rows
            log.warning("history: %d rows %s and are lost", rows, why)

    def _hand_on(self, receive: Callable[[T], None], told: T) -> None:
        """Give what is on disk to readers and sinks; their trouble is not the history's."""
        try:
            if storable(astuple(told)):
                receive(told)
        except Exception:
            log.exception("%r was written but not handed on", told)

    def _write_on(self) -> None:
        retained, backoff = 0.0, Backoff(*BACKOFF_S)
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._stop.is_set() or self._events, WRITE_S)
            stopping = self._stop.is_set()
            try:
                if not self._migrated:
                    self._migrate()
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
        """Add up what is over; delete what is too old, then the oldest of what is too much."""
        for stream in list(self._heard):
            while roll_up(self.database, stream, time.time_ns()) and not self._stop.is_set():
                pass
        before = max(0, time.time_ns() - self.keep_days * 86_400 * 10**9)
        old = (
            ("DELETE FROM runs WHERE to_ns < ?", [(before,)]),
            ("DELETE FROM emissions WHERE to_ns < ?", [(before,)]),
            ("DELETE FROM embeddings WHERE to_ns < ?", [(before,)]),
            ("DELETE FROM events WHERE since_ns < ?", [(before,)]),
            ("DELETE FROM rollup WHERE step < ?", [(before // STEP_NS,)]),
        )
        self.database.run(old)
        while self.size() > self.keep_mb << 20 and any(self._shrink(table) for table in TABLES):
            pass

    def _shrink(self, table: str) -> bool:
        """Delete the oldest tenth of a table; whether there was any."""
        if not self.database.query(f"SELECT 1 FROM {table} LIMIT 1"):  # noqa: S608
            return False
        tenth = f"SELECT 1 + count(*) / 10 FROM {table}"  # noqa: S608
        oldest = f"SELECT id FROM {table} ORDER BY to_ns LIMIT ({tenth})"  # noqa: S608
        self.database.run([(f"DELETE FROM {table} WHERE id IN ({oldest})", [()])])  # noqa: S608
        return True

    def size(self) -> int:
        """Bytes that the kept rows take."""
        if self.database.postgres:
            sizes = [
                self.database.query(f"SELECT coalesce(sum(pg_column_size({table}.*)), 0) FROM {table}")  # noqa: S608
                for table in TABLES
            ]
            return sum(int(rows[0][0]) for rows in sizes)
        pages, free, page = (self.database.query(f"PRAGMA {name}")[0][0] for name in PAGES)
        return int((pages - free) * page)


TABLES = ("embeddings", "runs", "emissions")  # that grow with what is heard; what is missed least first
PAGES = ("page_count", "freelist_count", "page_size")


def run_row(run: Run) -> tuple[object, ...]:
    """The run as a row; its probabilities are JSON."""
    return tuple(
        json.dumps(value) if name == "probabilities" else value
        for name, value in zip(RUN_COLUMNS, astuple(run), strict=True)
    )


def storable(row: Row) -> bool:
    """Whether every value of a row fits into its column: 64 bits, finite, and text that UTF-8 has."""
    return all(
        not isinstance(value, int | float | str)
        or (isinstance(value, int) and abs(value) < 2**63)
        or (isinstance(value, float) and math.isfinite(value))
        or (isinstance(value, str) and value.isprintable())
        for value in row
    )
