"""Alerts in the history's database."""

from dataclasses import astuple, dataclass, fields

from service.errors import NotFound
from service.storage.database import Database
from service.storage.history import put
from service.storage.queries import Page, read_cursor, write_cursor
from service.watch.alert import AlertRow
from service.watch.rules import Rule

COLUMNS = tuple(field.name for field in fields(AlertRow))
PUT = put("alerts", COLUMNS, ("to_ns", "count"))
SELECT = f"SELECT {', '.join(COLUMNS)} FROM alerts"  # noqa: S608  (our own words only)


@dataclass(frozen=True)
class AlertQuery:
    """Which alerts."""

    rule: str = ""
    stream: str = ""
    from_ns: int | None = None
    to_ns: int | None = None
    limit: int = 100
    cursor: str = ""


def put_alerts(database: Database, alerts: list[AlertRow]) -> None:
    """Write alerts, over those with their ids; on disk when it returns."""
    database.run([(PUT, [astuple(alert) for alert in alerts])])


def find_alerts(database: Database, query: AlertQuery) -> Page[AlertRow]:
    """One page of alerts, newest first."""
    where, values = ["1 = 1"], list[object]()
    for condition, value in (
        ("rule = ?", query.rule or None),
        ("stream = ?", query.stream or None),
        ("to_ns >= ?", query.from_ns),
        ("at_ns < ?", query.to_ns),
    ):
        if value is not None:
            where.append(condition)
            values.append(value)
    if query.cursor:
        where.append("(at_ns, id) < (?, ?)")
        values += read_cursor(query.cursor)
    sql = f"{SELECT} WHERE {' AND '.join(where)} ORDER BY at_ns DESC, id DESC LIMIT ?"
    rows = [AlertRow(*row) for row in database.query(sql, [*values, query.limit])]
    return Page(rows, write_cursor(rows[-1].at_ns, rows[-1].id) if len(rows) == query.limit else "")


def find_alert(database: Database, alert: str) -> AlertRow:
    """One alert."""
    rows = database.query(f"{SELECT} WHERE id = ?", [alert])
    if not rows:
        raise NotFound(f"there is no alert {alert}")
    return AlertRow(*rows[0])


def remove_alert(database: Database, alert: str) -> None:
    """Delete an alert."""
    database.run([("DELETE FROM alerts WHERE id = ?", [(alert,)])])


def remove_old_alerts(database: Database, before_ns: int) -> list[str]:
    """Delete the alerts that were last found before this; their ids."""
    old = [str(row[0]) for row in database.query("SELECT id FROM alerts WHERE to_ns < ?", [before_ns])]
    if old:
        database.run([("DELETE FROM alerts WHERE id = ?", [(each,) for each in old])])
    return old


def count_alerts(database: Database) -> int:
    """How many are kept."""
    return int(database.query("SELECT count(*) FROM alerts")[0][0])


def last_heard_ns(database: Database, rule: Rule) -> int | None:
    """When an emission that a rule watches for was last heard."""
    where, values = ["1 = 1"], list[object]()
    for condition, given in (
        ("stream = ?", [rule.stream]),
        ("(lower_hz + upper_hz) / 2 >= ?", [rule.f_low]),
        ("(lower_hz + upper_hz) / 2 <= ?", [rule.f_high]),
        ("(label = ? OR family = ?)", [rule.label, rule.label]),
    ):
        if given[0] is not None:
            where.append(condition)
            values += given
    sql = f"SELECT max(to_ns) FROM emissions WHERE {' AND '.join(where)}"  # noqa: S608
    (row,) = database.query(sql, values)
    return None if row[0] is None else int(row[0])
