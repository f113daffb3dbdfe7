"""The coordinator's checks of an update before it counts: everything that is visible in the update alone.

Names, shapes, types, finite values, the round and base it was made for, and how much it wants to weigh. A
refused one may be sent again, mended.
"""

import math
import time
from pathlib import Path

from streaming.errors import FormatError
from streaming.files import publish
from training.federation.codec import Body
from training.federation.coordinator.models import Statement
from training.federation.coordinator.rounds import Coordinator
from training.federation.coordinator.store import Row
from training.federation.errors import Problem
from training.federation.manifest import Precision

Claims = tuple[int, float, float | None, float | None]  # examples, norm, loss, accuracy


def accept(
    coordinator: Coordinator, station: str, number: int, precision: Precision, path: Path, sha256: str
) -> tuple[int, Row]:
    """Take an update out of a temporary file: 201 for a new one, 200 for the same again, and its receipt."""
    store, size = coordinator.store, path.stat().st_size
    check_round(coordinator, station, number, sha256)
    if not is_known(coordinator, station, number):
        claims = check(coordinator, number, precision, path)
        publish(path, store.update(number, station, sha256))
    with coordinator.lock:
        check_round(coordinator, station, number, sha256)  # it may have closed meanwhile
        if is_known(coordinator, station, number):
            return 200, receipt(coordinator, station, number)
        statements = entry(coordinator, station, number, precision, sha256, size, claims)
        coordinator.commit("COLLECTING", *statements)
    return 201, receipt(coordinator, station, number)


def receipt(coordinator: Coordinator, station: str, number: int) -> Row:
    """What became of an update."""
    rows = coordinator.store.query(
        "SELECT round, station, state, reason, sha256, bytes, examples FROM updates "
        "WHERE round = ? AND station = ?",
        (number, station),
    )
    if not rows:
        raise Problem(404, f"there is no update of {station} in round {number}")
    return rows[0]


def is_known(coordinator: Coordinator, station: str, number: int) -> bool:
    """Whether the station has reported in this round."""
    sql = "SELECT 1 FROM updates WHERE round = ? AND station = ?"
    return bool(coordinator.store.query(sql, (number, station)))


def check_round(coordinator: Coordinator, station: str, number: int, sha256: str) -> None:
    """Refuse an update of a round that takes none, or a second one."""
    if is_known(coordinator, station, number):
        if receipt(coordinator, station, number)["sha256"] != sha256:
            raise Problem(409, f"round {number} has another update of {station} already")
        return
    row = coordinator.current()
    if number > row["number"]:
        raise Problem(404, f"there is no round {number}; the current one is {row['number']}")
    if number < row["number"] or row["state"] not in ("OPEN", "COLLECTING"):
        raise Problem(410, f"round {number} is closed")


def check(coordinator: Coordinator, number: int, precision: Precision, path: Path) -> Claims:
    """What an update that may count says of itself, and its norm."""
    base = coordinator.models.of(coordinator.current()["generation"] - 1)[precision]
    most = coordinator.terms.max_examples
    try:
        body = Body.open(path, coordinator.manifest, precision)
        made_for = body.meta.get("round"), body.meta.get("base")
        if made_for != (str(number), base):
            raise Problem(
                409, f"the update was made for another round or base; expected {number}, {base[:16]}"
            )
        examples = body.meta.get("examples", "")
        if not (examples.isdecimal() and len(examples) < 16 and 1 <= int(examples) <= most):
            raise FormatError(f"examples is {examples[:20]!r}; it must be a whole number from 1 to {most:,}")
        return int(examples), body.check_values(), measured(body, "loss"), measured(body, "accuracy")
    except FormatError as error:
        raise Problem(422, str(error)) from None


def measured(body: Body, name: str) -> float | None:
    """A number that the station measured, for people to see; nothing depends on it."""
    text = body.meta.get(name, "nan")
    try:
        value = float(text)
    except ValueError:
        raise FormatError(f"{name} is {text[:20]!r}; it must be a number") from None
    return value if math.isfinite(value) else None


def entry(
    coordinator: Coordinator,
    station: str,
    number: int,
    precision: Precision,
    sha256: str,
    size: int,
    claims: Claims,
) -> list[Statement]:
    """The statements that make an update count."""
    now = time.time()
    reached = coordinator.accepted(number) + 1 >= coordinator.terms.quorum
    return [
        (
            "INSERT INTO updates (round, station, precision, sha256, bytes, examples, norm, loss, accuracy, "
            "state, received) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'accepted', ?)",
            (number, station, precision, sha256, size, *claims, now),
        ),
        (
            "UPDATE rounds SET state = 'COLLECTING', quorum_at = coalesce(quorum_at, ?) WHERE number = ?",
            (now if reached else None, number),
        ),
        coordinator.store.audit(station, number, 201, "", size, sha256),
    ]
