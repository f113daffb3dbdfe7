"""What was on the air over hours and days, added up by the database.

Occupancy of a cell of frequency and time is the time that emissions were on in it, at most all of it. The
database adds up emissions that lie in the same cells first; only these few sums are spread over the cells.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from service.storage.database import Database
from service.storage.rollup import STEP_NS, rolled_to

BEGAN = "FROM emissions WHERE stream = ? AND from_ns >= ? AND from_ns < ?"
ACTIVITY = f"SELECT (from_ns - ?) / ? AS at, coalesce(family, label) AS name, count(*) {BEGAN} GROUP BY 1, 2"
HEARD = "SELECT min(lower_hz), max(upper_hz) FROM emissions WHERE stream = ? AND to_ns > ? AND from_ns < ?"
# One row per first and last step and edges: how long those that share them were on, in seconds. One that
# lasts over several steps has a row of its own.
SUMS = """
SELECT first_step, last_step, lower_cell, upper_cell, sum(on_s), min(from_ns), max(to_ns) FROM (
    SELECT (CASE WHEN from_ns < ? THEN -1 ELSE (from_ns - ?) / ? END) AS first_step,
        (CASE WHEN to_ns >= ? THEN ? ELSE (to_ns - ?) / ? END) AS last_step,
        CAST((lower_hz - ?) / ? * 256 AS BIGINT) / 256 AS lower_cell,
        CAST((upper_hz - ?) / ? * 256 AS BIGINT) / 256 AS upper_cell,
        (to_ns - from_ns) / 1e9 * duty AS on_s, from_ns, to_ns, id
    FROM emissions
    WHERE stream = ? AND to_ns > ? AND from_ns < ? AND upper_hz > ? AND lower_hz < ?) AS emission
GROUP BY first_step, last_step, lower_cell, upper_cell, (CASE WHEN first_step < last_step THEN id END)"""
ROLLED = "FROM rollup WHERE stream = ? AND step >= ? AND step < ?"
ROLLED_ACTIVITY = f"SELECT (step * {STEP_NS} - ?) / ? AS at, name, sum(emissions) {ROLLED} GROUP BY 1, 2"
ROLLED_HEARD = f"SELECT min(lower_hz), max(upper_hz) {ROLLED}"
ROLLED_SUMS = (
    f"SELECT (step * {STEP_NS} - ?) / ? AS at, lower_hz, upper_hz, sum(on_s) {ROLLED} "
    "AND upper_hz > ? AND lower_hz < ? GROUP BY 1, 2, 3"
)


@dataclass(frozen=True)
class Times:
    """Steps of time."""

    from_ns: int
    to_ns: int
    step_ns: int

    @property
    def steps(self) -> int:
        """How many."""
        return max(1, -(-(self.to_ns - self.from_ns) // self.step_ns))


@dataclass(frozen=True)
class Parts:
    """A stream's time: the steps [first, last) that are added up already, and the newest, which are not."""

    stream: str
    first: int
    last: int
    newest: Times

    @property
    def rolled(self) -> tuple[str, int, int]:
        """What the rows of the first part are found by."""
        return self.stream, self.first, self.last


def part(database: Database, stream: str, times: Times) -> Parts:
    """How a stretch of time is best added up; whole steps of ten minutes may be added up already."""
    first = times.from_ns // STEP_NS
    done = None if times.from_ns % STEP_NS or times.step_ns % STEP_NS else rolled_to(database, stream)
    last = max(first, min(times.to_ns // STEP_NS, done or 0))
    if last == first:
        return Parts(stream, first, first, times)
    return Parts(stream, first, last, Times(last * STEP_NS, times.to_ns, STEP_NS))


def find_activity(database: Database, stream: str, times: Times) -> list[tuple[int, str, int]]:
    """How many emissions of which family, or label where there is none, began in each step."""
    parts, counts = part(database, stream, times), dict[tuple[int, str], int]()
    steps, newest = (times.from_ns, times.step_ns), parts.newest
    rows = database.query(ROLLED_ACTIVITY, (*steps, *parts.rolled)) if parts.last > parts.first else []
    rows += database.query(ACTIVITY, (*steps, stream, newest.from_ns, newest.to_ns))
    for step, name, count in rows:
        place = (int(step), str(name))
        counts[place] = counts.get(place, 0) + int(count)
    return [(step, name, count) for (step, name), count in sorted(counts.items()) if count]


def find_edges(database: Database, stream: str, times: Times) -> tuple[float, float] | None:
    """The lowest and the highest frequency at which anything was heard; None where nothing was."""
    parts = part(database, stream, times)
    rows = database.query(ROLLED_HEARD, parts.rolled)
    rows += database.query(HEARD, (stream, parts.newest.from_ns, parts.newest.to_ns))
    known = [(float(low), float(high)) for low, high in rows if low is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def find_occupancy(
    database: Database, stream: str, times: Times, span_hz: tuple[float, float], cells: int
) -> dict[tuple[int, int], float]:
    """Share of each step of time and cell of frequency in which something was on; empty ones are left out."""
    parts, used = part(database, stream, times), dict[tuple[int, int], float]()
    (low, high), width = span_hz, (span_hz[1] - span_hz[0]) / cells
    if parts.last > parts.first:
        values = (times.from_ns, times.step_ns, *parts.rolled, low, high)
        for step, lower, upper, on_s in database.query(ROLLED_SUMS, values):
            share = float(on_s) * 1e9 / times.step_ns
            # Edges were rounded outwards: what only touches a cell is not in it.
            first, last = int((lower - low) / width + 1e-6), int((upper - low) / width - 1e-6)
            spread(used, int(step), range(max(0, first), min(cells - 1, last) + 1), share)
    for step, first, last, share in newest_sums(database, parts, span_hz, width):
        at = (parts.newest.from_ns + step * parts.newest.step_ns - times.from_ns) // times.step_ns
        within = range(max(0, first), min(cells - 1, last) + 1)
        spread(used, at, within, share * parts.newest.step_ns / times.step_ns)
    return {place: min(1.0, share) for place, share in used.items() if share > 0}


def spread(used: dict[tuple[int, int], float], step: int, cells: range, share: float) -> None:
    """Add a share to every cell."""
    for cell in cells:
        used[step, cell] = used.get((step, cell), 0.0) + share


def newest_sums(
    database: Database, parts: Parts, span_hz: tuple[float, float], width: float
) -> Iterator[tuple[int, int, int, float]]:
    """Step, first and last cell, and share of the step, of emissions that are not added up yet."""
    times, low = parts.newest, span_hz[0]
    begin, step = times.from_ns, times.step_ns
    values = (
        *(begin, begin, step),
        *(times.to_ns, times.steps, begin, step),  # one that goes on ends behind the last step
        *(low, width, low, width),
        *(parts.stream, begin, times.to_ns, *span_hz),
    )
    for first, last, lower, upper, on_s, from_ns, to_ns in database.query(SUMS, values):
        ends = int(from_ns), int(to_ns)
        for at, share in over_steps(times, (int(first), int(last)), float(on_s), ends):
            yield at, int(lower), int(upper), share


def over_steps(
    times: Times, steps: tuple[int, int], on_s: float, ends_ns: tuple[int, int]
) -> Iterator[tuple[int, float]]:
    """Time on the air as shares of steps: in one step all of it, over several evenly between its ends."""
    first, last = steps
    if first == last:
        yield first, on_s * 1e9 / times.step_ns
        return
    duty = on_s * 1e9 / max(1, ends_ns[1] - ends_ns[0])
    for step in range(max(0, first), last + 1):
        begin = times.from_ns + step * times.step_ns
        inside_ns = min(ends_ns[1], begin + times.step_ns, times.to_ns) - max(ends_ns[0], begin)
        yield step, duty * max(0, inside_ns) / times.step_ns
