"""What people see of a federation: stations, rounds, loss, accuracy, bytes, and who was late."""

import time
from html import escape
from typing import Any

from training.federation.coordinator.rounds import Coordinator
from training.federation.coordinator.store import Row

ROUNDS = 50  # newest, on the page
HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5">
<meta name="viewport" content="width=device-width"><title>wavetell federation</title><style>
body{font:15px system-ui;margin:2em auto;max-width:70em;padding:0 1em;color:#223}
table{border-collapse:collapse;width:100%;margin:.5em 0 2em}
th,td{text-align:left;padding:.3em .6em;border-bottom:1px solid #ccd}th{font-weight:600}
.bad{color:#a20}</style></head><body>"""


def page(coordinator: Coordinator) -> str:
    """The page as HTML."""
    row, store = coordinator.current(), coordinator.store
    rounds = store.query("SELECT * FROM rounds ORDER BY number DESC LIMIT ?", (ROUNDS,))
    refused = store.query("SELECT * FROM audit WHERE outcome = 'refused' ORDER BY id DESC LIMIT 20")
    return "\n".join(
        [
            HEAD,
            f"<h1>{escape(coordinator.manifest.run)}</h1>",
            f"<p>Round {row['number']}, {row['state'].lower()}; model {row['generation']} of "
            f"{coordinator.manifest.rounds or 'no end'}; quorum {coordinator.terms.quorum}; "
            f"{escape(coordinator.terms.method)}. {spent(coordinator)}</p>",
            "<h2>Stations</h2>",
            table(
                ("station", "last seen", "sent", "received", "state"),
                map(station, coordinator.stations.all()),
            ),
            "<h2>Rounds</h2>",
            table(
                (
                    "round",
                    "state",
                    "seconds",
                    "updates",
                    "loss",
                    "accuracy",
                    "bytes",
                    "late or missing",
                    "note",
                ),
                (round_cells(coordinator, item) for item in rounds),
            ),
            "<h2>Refused</h2>",
            table(
                ("when", "station", "round", "status", "why"),
                ((ago(r["at"]), r["station"], r["round"], r["status"], r["reason"]) for r in refused),
            ),
            "</body></html>",
        ]
    )


def spent(coordinator: Coordinator) -> str:
    """What the published rounds have spent of the stations' privacy."""
    text = coordinator.spent(published(coordinator))
    return f"Differential privacy of a station's round: {text}." if text else ""


def published(coordinator: Coordinator) -> int:
    """How many models were published."""
    rows = coordinator.store.query("SELECT count(*) AS n FROM rounds WHERE state = 'PUBLISHED'")
    return int(rows[0]["n"])


def station(row: Row) -> tuple[Any, ...]:
    """The cells of a station."""
    state = "active" if row["revoked"] is None else "revoked"
    return row["name"], ago(row["seen"]), size(row["up"]), size(row["down"]), state


def round_cells(coordinator: Coordinator, row: Row) -> tuple[Any, ...]:
    """The cells of a round; loss and accuracy are the stations' own, weighed by their examples."""
    updates = coordinator.store.query("SELECT * FROM updates WHERE round = ?", (row["number"],))
    here = {update["station"] for update in updates}
    missing = [name for name in coordinator.stations.active() if name not in here] if row["closed"] else []
    return (
        row["number"],
        row["state"].lower(),
        f"{(row['closed'] or time.time()) - row['opened']:.1f}",
        len(updates),
        mean(updates, "loss", "{:.4f}"),
        mean(updates, "accuracy", "{:.1%}"),
        size(sum(update["bytes"] for update in updates)),
        ", ".join(missing),
        row["note"],
    )


def mean(updates: list[Row], name: str, form: str) -> str:
    """What the stations measured, weighed by their examples."""
    known = [(update["examples"], update[name]) for update in updates if update[name] is not None]
    if not known:
        return ""
    return form.format(sum(n * value for n, value in known) / sum(n for n, _ in known))


def table(head: tuple[str, ...], rows: Any) -> str:  # noqa: ANN401 - cells are whatever can be written
    """An HTML table; every cell is escaped."""
    lines = ["<table><tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows]
    return "\n".join([*lines, "</table>"])


def ago(moment: float | None) -> str:
    """How long ago."""
    return "never" if moment is None else f"{time.time() - moment:.0f} s ago"


def size(count: int) -> str:
    """Bytes as people read them."""
    return f"{count / 1e6:.2f} MB" if count >= 1e5 else f"{count / 1e3:.1f} kB"


def metrics(coordinator: Coordinator) -> str:
    """Counters in Prometheus' text format."""
    row, store = coordinator.current(), coordinator.store
    counts = store.query("SELECT outcome, count(*) AS n FROM audit GROUP BY outcome")
    totals = store.query("SELECT sum(up) AS up, sum(down) AS down, count(*) AS n FROM stations")[0]
    models = published(coordinator)
    lines = [f'wavetell_federation_updates_total{{outcome="{c["outcome"]}"}} {c["n"]}' for c in counts]
    lines += [
        f"wavetell_federation_round {row['number']}",
        f"wavetell_federation_published_total {models}",
        f"wavetell_federation_stations {totals['n']}",
        f"wavetell_federation_bytes_up_total {totals['up'] or 0}",
        f"wavetell_federation_bytes_down_total {totals['down'] or 0}",
    ]
    epsilon = coordinator.epsilon(models)
    lines += [] if epsilon is None else [f"wavetell_federation_epsilon {epsilon:.6g}"]
    return "\n".join(lines) + "\n"
