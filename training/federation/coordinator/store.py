"""What a coordinator keeps: one SQLite file, and blobs that are whole before a row names them.

A blob is written to a temporary file, flushed, renamed, and only then entered: a process that is killed in
between leaves a file that nothing refers to. Models are named by the sha256 of their bytes.
"""

import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from streaming.files import publish
from training.federation.codec import sha256_of

Row = dict[str, Any]
AUDIT_ROWS = 100_000  # the newest are kept
PRUNE_AUDIT = ("DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?", (AUDIT_ROWS,))

SCHEMA = """
CREATE TABLE IF NOT EXISTS run (one INTEGER PRIMARY KEY CHECK (one = 1), manifest TEXT, terms TEXT);
CREATE TABLE IF NOT EXISTS stations (
    name TEXT PRIMARY KEY, token TEXT UNIQUE, issued REAL, revoked REAL, seen REAL,
    up INTEGER DEFAULT 0, down INTEGER DEFAULT 0);
CREATE TABLE IF NOT EXISTS rounds (
    number INTEGER PRIMARY KEY, generation INTEGER, state TEXT, opened REAL, deadline REAL, quorum_at REAL,
    closed REAL, note TEXT DEFAULT '');
CREATE TABLE IF NOT EXISTS models (
    generation INTEGER, precision TEXT, sha256 TEXT, source TEXT, delta TEXT,
    PRIMARY KEY (generation, precision));
CREATE TABLE IF NOT EXISTS updates (
    round INTEGER, station TEXT, precision TEXT, sha256 TEXT, bytes INTEGER, examples INTEGER, norm REAL,
    loss REAL, accuracy REAL, state TEXT, reason TEXT DEFAULT '', received REAL,
    PRIMARY KEY (round, station));
CREATE TABLE IF NOT EXISTS roll_back (one INTEGER PRIMARY KEY CHECK (one = 1), generation INTEGER);
CREATE TABLE IF NOT EXISTS audit (
    id INTEGER PRIMARY KEY, at REAL, station TEXT, round INTEGER, status INTEGER, outcome TEXT, reason TEXT,
    bytes INTEGER, sha256 TEXT);
"""


class Store:
    """The folder of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("models", "updates", "temporary"):
            (folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(folder / "run.sqlite", check_same_thread=False, timeout=10)
        self._connection.row_factory = sqlite3.Row
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")  # a commit survives a power cut, too
        self._connection.executescript(SCHEMA)

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """The rows of a SELECT."""
        with self._lock:
            return [dict(row) for row in self._connection.execute(sql, values).fetchall()]

    def run(self, *statements: tuple[str, Sequence[Any]]) -> None:
        """Execute all of this or none of it; on disk when it returns."""
        with self._lock, self._connection:
            for sql, values in statements:
                self._connection.execute(sql, values)

    def audit(
        self, station: str, number: int, status: int, reason: str, size: int = 0, sha256: str = ""
    ) -> tuple[str, Sequence[Any]]:
        """The statement that writes down what became of an update."""
        outcome = "accepted" if status < 300 else "refused"
        return (
            "INSERT INTO audit (at, station, round, status, outcome, reason, bytes, sha256) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (time.time(), station, number, status, outcome, reason, size, sha256),
        )

    def prune(self, before_round: int, before_generation: int) -> None:
        """Drop the files of old rounds and models."""
        rows = self.query("SELECT sha256, delta FROM models WHERE generation >= ?", (before_generation,))
        kept = {row["sha256"] for row in rows} | {row["delta"] for row in rows}
        for path in (self.folder / "models").iterdir():
            if path.stem not in kept:
                path.unlink()
        for path in (self.folder / "updates").iterdir():
            if int(path.name.partition(".")[0]) < before_round:
                path.unlink()

    def temporary(self) -> Path:
        """A new empty file that no reader sees."""
        handle, name = tempfile.mkstemp(dir=self.folder / "temporary")
        os.close(handle)
        return Path(name)

    def clear_temporary(self) -> None:
        """Remove what a killed predecessor left."""
        for path in (self.folder / "temporary").iterdir():
            path.unlink()

    def add_model(self, raw: bytes) -> str:
        """Keep a blob under its sha256."""
        name, temporary = sha256_of(raw), self.temporary()
        try:
            temporary.write_bytes(raw)
            publish(temporary, self.model(name))
        finally:
            temporary.unlink(missing_ok=True)
        return name

    def model(self, sha256: str) -> Path:
        """The file of a model or of a difference between two."""
        return self.folder / "models" / f"{sha256}.safetensors"

    def update(self, number: int, station: str, sha256: str) -> Path:
        """The file of an update; the digest keeps two that race for one place apart."""
        return self.folder / "updates" / f"{number}.{station}.{sha256[:16]}.safetensors"

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._connection.close()
