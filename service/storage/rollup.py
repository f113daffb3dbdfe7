"""Ten minutes of emissions in a few rows: what was on the air where, added up once those minutes are over.

Edges are rounded outwards to 1/256 of the source's rate, so that emissions of one channel share a row.
Reviews of days read these rows; the newest minutes, and times that do not fall on whole steps, are added up
from the emissions themselves.
"""

from service.storage.database import Database

STEP_NS = 600 * 10**9
LATE_NS = 30 * 10**9  # after a step in which its last emissions are written
MOST = 144  # steps in one go: a day
ZERO = 10**12  # hertz below all frequencies, so that cells are counted upwards

CELL = "(CAST(rate_hz / 256 AS BIGINT) + 1)"
LOWER = f"(CAST(lower_hz AS BIGINT) + {ZERO}) / {CELL} * {CELL} - {ZERO}"
UPPER = f"((CAST(upper_hz AS BIGINT) + {ZERO}) / {CELL} + 1) * {CELL} - {ZERO}"
ADD_UP = f"""
INSERT INTO rollup (stream, step, lower_hz, upper_hz, name, emissions, on_s)
SELECT stream, CAST(? AS BIGINT), lower_cell, upper_cell, name, sum(began), sum(on_s) FROM (
    SELECT stream, {LOWER} AS lower_cell, {UPPER} AS upper_cell, coalesce(family, label) AS name,
        (CASE WHEN from_ns >= ? THEN 1 ELSE 0 END) AS began,
        ((CASE WHEN to_ns < ? THEN to_ns ELSE ? END) - (CASE WHEN from_ns > ? THEN from_ns ELSE ? END))
            / 1e9 * duty AS on_s
    FROM emissions WHERE stream = ? AND to_ns >= ? AND from_ns < ?) AS emission
GROUP BY stream, lower_cell, upper_cell, name"""  # noqa: S608  (our own words only)
MARK = """
INSERT INTO rolled (stream, step) VALUES (?, ?)
ON CONFLICT (stream) DO UPDATE SET step = excluded.step"""


def rolled_to(database: Database, stream: str) -> int | None:
    """The first step of a stream that is not added up yet; None where none is."""
    rows = database.query("SELECT step FROM rolled WHERE stream = ?", [stream])
    return int(rows[0][0]) if rows else None


def roll_up(database: Database, stream: str, now_ns: int) -> bool:
    """Add up the steps of a stream that are over; whether there are more."""
    done = rolled_to(database, stream)
    if done is None:
        ((first_ns,),) = database.query("SELECT min(from_ns) FROM emissions WHERE stream = ?", [stream])
        if first_ns is None:
            return False
        done = int(first_ns) // STEP_NS
    end = (now_ns - LATE_NS) // STEP_NS
    for step in range(done, min(end, done + MOST)):
        begin_ns, end_ns = step * STEP_NS, (step + 1) * STEP_NS
        ends = (begin_ns, end_ns, end_ns, begin_ns, begin_ns)
        database.run(
            [
                ("DELETE FROM rollup WHERE stream = ? AND step = ?", [(stream, step)]),
                (ADD_UP, [(step, *ends, stream, begin_ns, end_ns)]),
                (MARK, [(stream, step + 1)]),
            ]
        )
    return done + MOST < end
