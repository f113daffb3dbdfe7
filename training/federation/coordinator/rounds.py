"""The life cycle of a round, on disk at every moment.

    OPEN -> COLLECTING -> AGGREGATING -> PUBLISHED        OPEN, COLLECTING, AGGREGATING -> ABANDONED

A round closes when every station has reported, a grace after its quorum, or at its deadline; below the quorum
it is abandoned, and the next one has the same base. Each transition is one transaction, and what it needs is
on the disk before: a killed coordinator resumes where the last transition ended, to the same bits.
"""

import json
import logging
import secrets
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from streaming.errors import ConfigError
from training.federation.codec import Body, Floats
from training.federation.coordinator.aggregate import Vote, aggregate, outliers
from training.federation.coordinator.models import Models, Statement, added
from training.federation.coordinator.stations import Stations
from training.federation.coordinator.store import PRUNE_AUDIT, Row, Store
from training.federation.errors import Problem
from training.federation.manifest import Manifest, Terms
from training.federation.privacy import epsilon_after, private_model

log = logging.getLogger(__name__)


class Coordinator:
    """One run of a federation in a folder; every method may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder)
        found = self.store.query("SELECT manifest, terms FROM run")
        if not found:
            raise ConfigError(f"{folder} holds no federation yet")
        self.manifest = Manifest.from_json(json.loads(found[0]["manifest"]))
        self.terms = Terms.from_json(found[0]["terms"])
        self.stations, self.models = Stations(self.store), Models(self.store, self.manifest)
        self.lock = threading.RLock()  # held while a round's state is looked at and changed
        self.store.clear_temporary()
        now = time.time()  # the time in which the coordinator was down does not count
        self.store.run(
            (
                "UPDATE rounds SET deadline = max(deadline, ?), quorum_at = iif(quorum_at IS NULL, NULL, ?) "
                "WHERE state IN ('OPEN', 'COLLECTING')",
                (now + self.terms.grace_s, now),
            )
        )

    @classmethod
    def create(cls, folder: Path, manifest: Manifest, terms: Terms, model: Floats) -> "Coordinator":
        """A new run that starts from this model."""
        store = Store(folder)
        if store.query("SELECT 1 FROM run"):
            raise ConfigError(f"{folder} holds a federation already")
        store.run(
            *Models(store, manifest).add(0, model, terms),
            open_round(1, 1, terms),
            (
                "INSERT INTO run (one, manifest, terms) VALUES (1, ?, ?)",
                (json.dumps(manifest.to_json()), terms.to_json()),
            ),
        )
        store.close()
        return cls(folder)

    def current(self) -> Row:
        """The newest round."""
        return self.store.query("SELECT * FROM rounds ORDER BY number DESC LIMIT 1")[0]

    @property
    def finished(self) -> bool:
        """Whether the last model is published."""
        return bool(self.current()["state"] == "PUBLISHED")

    def etag(self) -> str:
        """Changes when stations have something new to do, and only then."""
        row = self.current()
        return f'"{self.manifest.run}-{row["number"]}{"-finished" if row["state"] == "PUBLISHED" else ""}"'

    def describe(self, station: str, newcomer: bool = True) -> dict[str, Any]:
        """The current round as a station sees it, and what became of the station's last update.

        Only new stations get the manifest: it never changes, and counts in the bytes of every round.
        """
        row = self.current()
        finished = row["state"] == "PUBLISHED"
        last = self.store.query(
            "SELECT round, state, reason FROM updates WHERE station = ? ORDER BY round DESC LIMIT 1",
            (station,),
        )
        return {
            "round": row["number"],
            "generation": row["generation"],  # of the model that this round makes
            "state": "finished" if finished else row["state"].lower(),
            "deadline": datetime.fromtimestamp(row["deadline"], UTC).isoformat(),
            "quorum": self.terms.quorum,
            "bases": self.models.of(row["generation"] - (not finished)),
            "last": last[0] if last else None,
            "rolled_back": row["note"] if row["state"] in ("OPEN", "COLLECTING") else "",
        } | ({"manifest": self.manifest.to_json()} if newcomer else {})

    def tick(self) -> bool:
        """Do what is due; True when stations have something new to do."""
        with self.lock:
            row, now = self.current(), time.time()
            if row["state"] in ("OPEN", "COLLECTING"):
                if wanted := self.store.query("SELECT generation FROM roll_back"):
                    self._roll_back(row, wanted[0]["generation"])
                    return True
                count, active = self.accepted(row["number"]), len(self.stations.active())
                graced = row["quorum_at"] is not None and now >= row["quorum_at"] + self.terms.grace_s
                late = now >= row["deadline"]
                if count >= self.terms.quorum and (count >= active or graced or late):
                    self.commit("AGGREGATING", close_round(row["number"], "AGGREGATING", ""))
                elif late:
                    self._abandon(row, f"{count} of {self.terms.quorum} updates at the deadline")
                    return True
                else:
                    return False
        if row["state"] in ("PUBLISHED", "ABANDONED"):
            return False
        self._aggregate(row)
        return True

    def _abandon(self, row: Row, note: str) -> None:
        log.warning("round %d is abandoned: %s", row["number"], note)
        self.commit(
            "ABANDONED",
            close_round(row["number"], "ABANDONED", note),
            open_round(row["number"] + 1, row["generation"], self.terms),
        )

    def _aggregate(self, row: Row) -> None:
        """Make the next model of a closed round and open the next; a replay writes the same files again."""
        number, generation, terms = row["number"], row["generation"], self.terms
        votes, refused = self._votes(number, generation)
        if not votes:
            self._abandon(row, "no update is left that counts")
            return
        model = (
            self._private(votes) if terms.noise else aggregate(votes, self.manifest, terms.method, terms.trim)
        )
        fate = "UPDATE updates SET state = ?, reason = ? WHERE round = ? AND station = ?"
        statements: list[Statement] = [(fate, ("aggregated", "", number, vote.station)) for vote in votes]
        for station, reason in refused.items():
            log.warning("round %d: the update of %s is refused: %s", number, station, reason)
            statements.append((fate, ("refused", reason, number, station)))
            statements.append(self.store.audit(station, number, 422, reason))
        self._publish(row, model, statements)

    def _publish(self, row: Row, model: Floats, statements: list[Statement]) -> None:
        """Enter a round's model and open the next round."""
        number, generation, terms = row["number"], row["generation"], self.terms
        statements += self.models.add(generation, model, terms)
        if not self.manifest.rounds or generation < self.manifest.rounds:
            statements.append(open_round(number + 1, generation + 1, terms))
        published = (
            "UPDATE rounds SET state = 'PUBLISHED', note = ?, closed = coalesce(closed, ?) WHERE number = ?"
        )
        statements.append((published, (self.spent(generation), time.time(), number)))
        self.commit("PUBLISHED", *statements)
        self.store.prune(number - terms.keep_rounds, generation - terms.keep_rounds)

    def adopt(self, step: Floats, stations: int) -> None:
        """Publish the mean of updates that nobody has seen one by one (training.federation.secure)."""
        with self.lock:
            row = self.current()
            if not all(np.isfinite(array).all() for array in step.values()):
                self._abandon(row, "the sum has values that are not finite")
                return
            base = self.models.open(self.models.of(row["generation"] - 1)["float32"]).arrays()
            log.info("round %d: the sum of %d stations", row["number"], stations)
            self._publish(row, added(base, step), [])

    def _roll_back(self, row: Row, generation: int) -> None:
        """Make an older model the newest again."""
        note = f"rolled back to model {generation}"
        model = self.models.open(self.models.of(generation)["float32"]).arrays()
        log.warning("round %d: %s", row["number"], note)
        self.commit(
            "ABANDONED",
            close_round(row["number"], "ABANDONED", note),
            *self.models.add(row["generation"], model, self.terms),
            open_round(row["number"] + 1, row["generation"] + 1, self.terms, note),
            ("DELETE FROM roll_back", ()),
        )

    def abandon(self, note: str) -> None:
        """Give the current round up; the next has the same base."""
        with self.lock:
            self._abandon(self.current(), note)

    def _private(self, votes: list[Vote]) -> Floats:
        """The next model under differential privacy; what a replay draws anew was seen by nobody."""
        base = self.models.open(self.models.of(self.current()["generation"] - 1)["float32"]).arrays()
        ordered = sorted(votes, key=lambda vote: vote.station)
        rng = np.random.default_rng(secrets.randbits(128))
        return private_model(
            base, (vote.body.arrays() for vote in ordered), self.terms.clip, self.terms.noise, rng
        )

    def epsilon(self, generation: int) -> float | None:
        """What the rounds up to this generation's have spent; None without differential privacy."""
        if not self.terms.noise:
            return None
        return epsilon_after(self.terms.noise, self.terms.delta, generation)

    def spent(self, generation: int) -> str:
        """The same for people; empty without differential privacy."""
        epsilon = self.epsilon(generation)
        return "" if epsilon is None else f"epsilon {epsilon:.3g} at delta {self.terms.delta:g}"

    def _votes(self, number: int, generation: int) -> tuple[list[Vote], dict[str, str]]:
        """The updates that count, and why others do not."""
        bases = {
            precision: self.models.open(sha256)
            for precision, sha256 in self.models.of(generation - 1).items()
        }
        active, votes, refused = set(self.stations.active()), [], {}
        for row in self.store.query("SELECT * FROM updates WHERE round = ?", (number,)):
            if row["station"] not in active:
                refused[row["station"]] = "the station's token was revoked"
                continue
            path = self.store.update(number, row["station"], row["sha256"])
            body = Body.open(path, self.manifest, row["precision"])
            votes.append(Vote(row["station"], body, bases[row["precision"]], row["examples"], row["norm"]))
        if not self.terms.noise:  # a refusal would tell of the others' norms; clipping bounds each as well
            refused |= outliers(votes, self.terms.norm_factor)
        return [vote for vote in votes if vote.station not in refused], refused

    def accepted(self, number: int) -> int:
        """How many updates a round has."""
        sql = "SELECT count(*) AS n FROM updates WHERE round = ? AND state = 'accepted'"
        return int(self.store.query(sql, (number,))[0]["n"])

    def refuse(self, station: str, number: int, problem: Problem) -> None:
        """Write down an update that was refused when it came."""
        line = self.store.audit(station, number, problem.status, problem.detail)
        self.store.run(line, PRUNE_AUDIT)  # anybody can cause such lines: they must not fill the disk

    def commit(self, state: str, *statements: Statement) -> None:
        """Every transition of a round passes here."""
        self.store.run(*statements)
        log.info("%s", state)

    def close(self) -> None:
        """Close the files."""
        self.store.close()


def open_round(number: int, generation: int, terms: Terms, note: str = "") -> Statement:
    """A new round that makes the model of this generation."""
    now = time.time()
    return (
        "INSERT INTO rounds (number, generation, state, opened, deadline, note) "
        "VALUES (?, ?, 'OPEN', ?, ?, ?)",
        (number, generation, now, now + terms.deadline_s, note),
    )


def ask_to_roll_back(store: Store, generation: int) -> None:
    """Have the coordinator, at once or when it runs again, make this model the newest."""
    rows = store.query("SELECT generation, sha256 FROM models WHERE precision = 'float32'")
    kept = [row["generation"] for row in rows if store.model(row["sha256"]).exists()]
    if generation not in kept:
        raise ConfigError(f"model {generation} is not kept; there are {', '.join(map(str, sorted(kept)))}")
    if not store.query("SELECT 1 FROM rounds WHERE state IN ('OPEN', 'COLLECTING', 'AGGREGATING')"):
        raise ConfigError("the federation has ended; stations keep what they have")
    store.run(("INSERT OR REPLACE INTO roll_back (one, generation) VALUES (1, ?)", (generation,)))


def close_round(number: int, state: str, note: str) -> Statement:
    """No update counts any more."""
    return (
        "UPDATE rounds SET state = ?, note = ?, closed = ? WHERE number = ?",
        (state, note, time.time(), number),
    )
