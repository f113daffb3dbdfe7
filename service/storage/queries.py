"""Questions to the history, answered page by page.

A cursor names the last row of a page by what the rows are sorted by, so pages neither overlap nor skip while
new rows come in.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from service.errors import NotFound
from service.live.emissions import EmissionRow
from service.live.events import Event
from service.live.runs import Run
from service.storage.database import Database
from service.storage.history import EMISSION_COLUMNS, EVENT_COLUMNS, RUN_COLUMNS
from streaming.errors import ConfigError
from streaming.prediction import NO_SIGNAL
from streaming.quantities import UTC_NS

T = TypeVar("T")
EMISSIONS = f"SELECT {', '.join(EMISSION_COLUMNS)} FROM emissions"  # noqa: S608  (our own words only)
Order = Literal["newest", "oldest", "least_sure"]
# order -> (the column it sorts by, its direction, and how the next page lies to the cursor)
ORDERS = {
    "newest": ("from_ns", "DESC", "<"),
    "oldest": ("from_ns", "ASC", ">"),
    "least_sure": ("lowest", "ASC", ">"),
}


STATES = {"now": "state <> ?", "past": "state = ?"}
Sort = Literal["first", "last", "frequency", "label", "snr", "duty", "bursts"]
SORTS: dict[Sort, str] = {
    "first": "from_ns",
    "last": "to_ns",
    "frequency": "lower_hz",
    "label": "label",
    "snr": "snr_db",
    "duty": "duty",
    "bursts": "bursts",
}


@dataclass(frozen=True)
class RunQuery:
    """Which runs."""

    stream: str
    from_ns: int | None = None
    to_ns: int | None = None
    label: str = ""
    emission: str = ""
    min_probability: float = 0.0
    max_probability: float = 1.0
    order: Order = "newest"
    limit: int = 100
    cursor: str = ""


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some rows, and the cursor to the next; empty at the end."""

    rows: list[T]
    cursor: str


def find_runs(database: Database, query: RunQuery) -> Page[Run]:
    """One page of runs."""
    column, direction, beyond = ORDERS[query.order]
    where = ["stream = ?", "probability >= ?", "probability <= ?"]
    values: list[object] = [query.stream, query.min_probability, query.max_probability]
    for condition, value in (
        ("to_ns > ?", query.from_ns),
        ("from_ns < ?", query.to_ns),
        ("label = ?", query.label),
        ("emission = ?", query.emission),
    ):
        if value is not None and value != "":
            where.append(condition)
            values.append(value)
    if query.order == "least_sure":
        where.append("label <> ?")  # nobody was asked
        values.append(NO_SIGNAL)
    if query.cursor:
        where.append(f"({column}, id) {beyond} (?, ?)")
        values += read_cursor(query.cursor)
    sql = (
        f"SELECT {', '.join(RUN_COLUMNS)} FROM runs WHERE {' AND '.join(where)} "  # noqa: S608  (our own words only)
        f"ORDER BY {column} {direction}, id {direction} LIMIT ?"
    )
    runs = [read_run(row) for row in database.query(sql, [*values, query.limit])]
    more = len(runs) == query.limit
    return Page(runs, write_cursor(getattr(runs[-1], column), runs[-1].id) if more else "")


def find_events(database: Database, stream: str, limit: int, cursor: str) -> Page[Event]:
    """One page of events, newest first; of all streams where none is named."""
    where, values = ["1 = 1"], list[object]()
    if stream:
        where.append("stream = ?")
        values.append(stream)
    if cursor:
        where.append("(since_ns, id) < (?, ?)")
        values += read_cursor(cursor)
    sql = (
        f"SELECT {', '.join(EVENT_COLUMNS)} FROM events WHERE {' AND '.join(where)} "  # noqa: S608
        "ORDER BY since_ns DESC, id DESC LIMIT ?"
    )
    events = [Event(*row) for row in database.query(sql, [*values, limit])]
    return Page(events, write_cursor(events[-1].since_ns, events[-1].id) if len(events) == limit else "")


@dataclass(frozen=True)
class EmissionQuery:
    """Which emissions; edges as `EmissionState` has them."""

    stream: str
    from_ns: int | None = None
    to_ns: int | None = None
    f_low: float | None = None
    f_high: float | None = None
    label: str = ""
    family: str = ""
    state: str = ""  # `now` or `past`
    min_snr_db: float | None = None
    min_duty: float | None = None
    min_bursts: int | None = None
    sort: Sort = "first"
    descending: bool = True
    limit: int = 100
    cursor: str = ""


def find_emissions(database: Database, query: EmissionQuery) -> Page[EmissionRow]:
    """One page of emissions."""
    column, direction = SORTS[query.sort], "DESC" if query.descending else "ASC"
    where, values = ["stream = ?"], list[object]([query.stream])
    for condition, value in (
        ("to_ns > ?", query.from_ns),
        ("from_ns < ?", query.to_ns),
        ("upper_hz > ?", query.f_low),
        ("lower_hz < ?", query.f_high),
        ("label = ?", query.label or None),
        ("family = ?", query.family or None),
        (STATES.get(query.state, ""), "end" if query.state else None),
        ("snr_db >= ?", query.min_snr_db),
        ("duty >= ?", query.min_duty),
        ("bursts >= ?", query.min_bursts),
    ):
        if value is not None:
            where.append(condition)
            values.append(value)
    if query.cursor:
        where.append(f"({column}, id) {'<' if query.descending else '>'} (?, ?)")
        values += read_cursor(query.cursor, text=column == "label")
    sql = f"{EMISSIONS} WHERE {' AND '.join(where)} ORDER BY {column} {direction}, id {direction} LIMIT ?"
    rows = [EmissionRow(*row) for row in database.query(sql, [*values, query.limit])]
    return Page(
        rows, write_cursor(getattr(rows[-1], column), rows[-1].id) if len(rows) == query.limit else ""
    )


def every_emission(database: Database, query: EmissionQuery, most: int) -> Iterator[EmissionRow]:
    """The emissions of all pages, `most` of them at most."""
    while most > 0:
        page = find_emissions(database, replace(query, limit=min(query.limit, most)))
        yield from page.rows
        most -= len(page.rows)
        if not page.cursor:
            return
        query = replace(query, cursor=page.cursor)


def find_emission(database: Database, stream: str, emission: str) -> EmissionRow:
    """One emission of a stream."""
    rows = database.query(f"{EMISSIONS} WHERE stream = ? AND id = ?", [stream, emission])
    if not rows:
        raise NotFound(f"stream {stream} has no emission {emission}")
    return EmissionRow(*rows[0])


def read_run(row: tuple[Any, ...]) -> Run:
    """The run in a row."""
    values = dict(zip(RUN_COLUMNS, row, strict=True))
    return Run(**values | {"probabilities": json.loads(values["probabilities"])})


def write_cursor(value: float | str, row_id: str) -> str:
    """The cursor behind a row."""
    return base64.urlsafe_b64encode(json.dumps([value, row_id]).encode()).decode().rstrip("=")


def read_cursor(cursor: str, text: bool = False) -> list[Any]:
    """What a cursor says, by number or by text; refused where we did not write it."""
    try:
        value, row_id = json.loads(base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)))
    except (ValueError, TypeError, RecursionError):
        raise ConfigError("the cursor is not one that a page gave") from None
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= UTC_NS.most
    sound = isinstance(value, str) and value.isprintable() if text else number
    if not sound or not isinstance(row_id, str) or not row_id.isprintable():
        raise ConfigError("the cursor is not one that a page gave")
    return [value, row_id]
