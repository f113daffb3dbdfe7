"""Two databases behind one interface: SQLite in the data folder, or PostgreSQL by its URL.

Statements are written with `?`; both support `ON CONFLICT ... DO UPDATE`.
"""

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from service.storage.damaged import set_aside
from streaming.errors import ConfigError
from streaming.extras import needs

Row = tuple[Any, ...]
# They may pass: the disk is full, the server cannot be reached.
OUTAGE: tuple[type[Exception], ...] = (sqlite3.OperationalError,)
with suppress(ModuleNotFoundError):  # without the extra `postgres` there is SQLite
    from psycopg import OperationalError

    OUTAGE += (OperationalError,)
LOCK = 0x77617665  # of all that share a PostgreSQL; any number that others do not use


class Database:
    """One connection, used by one thread at a time."""

    def __init__(self, where: Path | str) -> None:
        self.where = where
        self.postgres = isinstance(where, str)
        self._lock = threading.Lock()
        self._connection: Any = None

    def _connect(self) -> Any:  # noqa: ANN401  (sqlite3.Connection or psycopg.Connection: no common type)
        if isinstance(self.where, str):
            import psycopg

            return psycopg.connect(self.where, connect_timeout=3, client_encoding="utf8")
        connection = sqlite3.connect(self.where, check_same_thread=False, timeout=3)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")  # a commit survives a power cut, too
        return connection

    def run(self, statements: Sequence[tuple[str, Iterable[Row]]]) -> None:
        """Execute all of this, each statement once per row, or none of it; on disk when it returns."""
        with self._transaction() as cursor:
            for sql, rows in statements:
                cursor.executemany(self._dialect(sql), list(rows))

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """The rows of a SELECT."""
        with self._transaction() as cursor:
            return list(cursor.execute(self._dialect(sql), values).fetchall())

    @contextmanager
    def exclusive(self) -> Iterator[Any]:
        """A cursor for statements that no other process may come between."""
        with self._transaction() as cursor:
            cursor.execute(f"SELECT pg_advisory_xact_lock({LOCK})" if self.postgres else "BEGIN IMMEDIATE")
            yield cursor

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        with self._lock:
            if self._connection is None:
                self._connection = self._connect()
            try:
                yield self._connection.cursor()
                self._connection.commit()
            except OUTAGE:
                self._drop()
                raise
            except Exception:
                self._connection.rollback()
                raise

    def _dialect(self, sql: str) -> str:
        return sql.replace("?", "%s") if self.postgres else sql

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def set_aside(self, why: str) -> None:
        """Give a damaged SQLite file another name; the next connection makes a new one."""
        with self._lock:
            self._drop()
            for suffix in ("", "-wal", "-shm"):
                path = Path(f"{self.where}{suffix}")
                if path.exists():
                    set_aside(path, why)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._drop()


def open_database(url: str, folder: Path) -> Database:
    """The database that a setting names: a postgresql:// URL, or empty for SQLite in the folder."""
    if not url:
        return Database(folder / "history.sqlite")
    if not url.startswith(("postgresql://", "postgres://")):
        raise ConfigError(
            "history must be empty (SQLite in the data folder) or a URL that begins with postgresql://"
        )
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ModuleNotFoundError as error:
        raise ConfigError(needs(error, "history in PostgreSQL")) from None
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # nothing of it is shown: it may hold a password
        raise ConfigError(
            "history is not a URL that PostgreSQL can use; it must be such as postgresql://user@host/database"
        ) from None
    return Database(url)
