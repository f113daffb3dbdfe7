"""Who takes part: a random token for each station, shown once and stored as its hash.

A token is 32 random bytes, so a plain sha256 is enough to keep it: there is nothing to guess.
"""

import hashlib
import re
import secrets
import time

from streaming.errors import ConfigError
from training.federation.coordinator.store import Row, Store

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class Stations:
    """The stations of one run; a revocation holds at once, also from another process."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def add(self, name: str) -> str:
        """A new station's token; it cannot be found out again."""
        if not NAME.fullmatch(name):
            raise ConfigError(
                f"the station's name is {name!r}; it must be letters, digits, dashes, at most 64"
            )
        rows = self.store.query("SELECT revoked FROM stations WHERE name = ?", (name,))
        if rows and rows[0]["revoked"] is None:
            raise ConfigError(f"there is a station {name} already; revoke it first")
        token = secrets.token_urlsafe(32)
        self.store.run(
            (
                "INSERT INTO stations (name, token, issued) VALUES (?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE "
                "SET token = excluded.token, revoked = NULL, issued = excluded.issued",
                (name, digest(token), time.time()),
            )
        )
        return token

    def revoke(self, name: str) -> None:
        """Make a station's token worthless."""
        if name not in self.active():
            raise ConfigError(f"there is no station {name!r}; there are {', '.join(self.active()) or 'none'}")
        self.store.run(("UPDATE stations SET revoked = ? WHERE name = ?", (time.time(), name)))

    def who(self, token: str) -> str | None:
        """Whose token it is; it is looked up by its hash, so that timing reveals nothing of the token."""
        rows = self.store.query(
            "SELECT name FROM stations WHERE token = ? AND revoked IS NULL", (digest(token),)
        )
        return str(rows[0]["name"]) if rows else None

    def active(self) -> list[str]:
        """Names of the stations that are not revoked."""
        rows = self.store.query("SELECT name FROM stations WHERE revoked IS NULL ORDER BY name")
        return [row["name"] for row in rows]

    def all(self) -> list[Row]:
        """Every station with what is known of it."""
        return self.store.query("SELECT name, issued, revoked, seen, up, down FROM stations ORDER BY name")

    def count(self, name: str, up: int = 0, down: int = 0) -> None:
        """Remember that a station was here, and the bytes of its bodies."""
        self.store.run(
            (
                "UPDATE stations SET seen = ?, up = up + ?, down = down + ? WHERE name = ?",
                (time.time(), up, down, name),
            )
        )


def digest(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()
