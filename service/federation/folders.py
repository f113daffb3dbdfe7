"""What this machine knows of federations, read from the folders of `coordinator` and `join`.

Both run in processes of their own; nothing here changes anything.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from service.schemas.federation import Coordinated, Federation, Joined, Member, Round
from service.schemas.fields import one_line
from service.schemas.schema import Broken
from streaming.prediction import utc_text

ROUNDS = 500  # newest
# Loss and accuracy are the stations' own, weighed by their examples.
QUERY = """
SELECT number, generation, lower(rounds.state) AS state, opened, closed, note, count(station) AS updates,
    coalesce(sum(bytes), 0) AS bytes,
    sum(loss * examples) / sum(CASE WHEN loss IS NOT NULL THEN examples END) AS loss,
    sum(accuracy * examples) / sum(CASE WHEN accuracy IS NOT NULL THEN examples END) AS accuracy
FROM rounds LEFT JOIN updates ON updates.round = rounds.number
GROUP BY number ORDER BY number DESC LIMIT ?
"""


def describe(folders: list[Path]) -> Federation:
    """The runs that these folders coordinate, and the stations that they are of."""
    runs, stations, broken = [], [], []
    for folder in folders:
        try:
            if (folder / "run.sqlite").is_file() and (run := coordinated(folder)):
                runs.append(run)
            if (folder / "status.json").is_file():
                stations.append(joined(folder))
        except (sqlite3.Error, ValueError, KeyError, TypeError, OSError, OverflowError) as error:
            broken.append(Broken(id=one_line(str(folder)), reason=one_line(str(error).partition("\n")[0])))
    return Federation(runs=runs, stations=stations, broken=broken)


def coordinated(folder: Path) -> Coordinated | None:
    """A run that is coordinated here; None before its first round."""
    where = f"file:{quote(str(folder / 'run.sqlite'))}?mode=ro"
    with closing(sqlite3.connect(where, uri=True, timeout=5)) as database:
        database.row_factory = sqlite3.Row
        row = database.execute("SELECT manifest, terms FROM run").fetchone()
        if row is None:
            return None
        manifest, terms = json.loads(row["manifest"]), json.loads(row["terms"])
        stations = database.execute("SELECT name, revoked, seen, up, down FROM stations ORDER BY name")
        rounds = reversed(database.execute(QUERY, (ROUNDS,)).fetchall())
        return Coordinated(
            name=manifest["run"],
            wanted=manifest["rounds"],
            method=terms["method"],
            quorum=terms["quorum"],
            stations=[
                Member(**dict(each) | {"revoked": each["revoked"] is not None, "seen": moment(each["seen"])})
                for each in stations
            ],
            rounds=[
                Round(**dict(each) | {"opened": moment(each["opened"]), "closed": moment(each["closed"])})
                for each in rounds
            ],
        )


def joined(folder: Path) -> Joined:
    """This station's part in a run."""
    status = Joined.model_validate_json((folder / "status.json").read_bytes())
    return status.model_copy(update={"waiting": (folder / "update.safetensors").exists()})


def moment(seconds: float | None) -> str | None:
    """A time of the store as REST shows it."""
    return None if seconds is None else utc_text(round(seconds * 1e9))
