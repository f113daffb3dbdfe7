"""Who may do what: tokens with roles, stored as hashes only.

A token is 32 random bytes, so a plain sha256 is enough: there is nothing to guess.
"""

import hashlib
import hmac
import json
import logging
import secrets
from pathlib import Path
from typing import Literal, get_args

from service.storage.names import checked_name
from streaming.errors import ConfigError
from streaming.files import write_whole

log = logging.getLogger(__name__)
Role = Literal["read", "operate", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
COOKIE = "wavetell_token"
OPEN = {"/", "/v1/health", "/v1/ready", "/v1/login"}  # and the dashboard's own files


class Tokens:
    """The tokens in a file, read again when it changes: a revocation holds at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int] = (0, 0)
        self._entries: dict[str, dict[str, str]] = {}
        self.damaged = False

    def entries(self) -> dict[str, dict[str, str]]:
        """Name -> role and sha256."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return {}
        if (status.st_mtime_ns, status.st_ino) != self._seen:
            self._entries = self._read()
            self._seen = (status.st_mtime_ns, status.st_ino)
        return self._entries

    def _read(self) -> dict[str, dict[str, str]]:
        """The file's entries; one that is damaged holds none, and nobody is let in until it is mended."""
        try:
            entries = json.loads(self.path.read_bytes())
            sound = all(entry["role"] in ROLES and len(entry["sha256"]) == 64 for entry in entries.values())
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            sound = False
        self.damaged = not sound
        if self.damaged:
            log.error("%s is damaged: no token is valid until it is mended or deleted", self.path)
        return entries if sound else {}

    def needed(self) -> bool:
        """Whether there are tokens, or were before their file was damaged."""
        return bool(self.entries()) or self.damaged

    def role_of(self, token: str) -> Role | None:
        """The role that a token gives; every stored hash is compared, each in constant time."""
        if not token.isascii():
            return None
        given = digest(token)
        found: Role | None = None
        for entry in self.entries().values():
            if hmac.compare_digest(entry["sha256"], given):
                found = next(role for role in ROLES if role == entry["role"])
        return found

    def add(self, name: str, role: Role) -> str:
        """A new token; it is printed once and cannot be recovered."""
        checked_name(name, "token name")
        entries = dict(self.entries())
        if self.damaged:
            raise ConfigError(f"{self.path} is damaged; mend or delete it first")
        if name in entries:
            raise ConfigError(f"there is a token {name} already; revoke it first")
        token = secrets.token_urlsafe(32)
        self._write(entries | {name: {"role": role, "sha256": digest(token)}})
        return token

    def revoke(self, name: str) -> None:
        """Delete a token; it is refused from now on."""
        entries = dict(self.entries())
        if entries.pop(name, None) is None:
            raise ConfigError(f"there is no token {name!r}; there are {', '.join(entries) or 'none'}")
        self._write(entries)

    def _write(self, entries: dict[str, dict[str, str]]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(self.path, json.dumps(entries, indent=1).encode())


def digest(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def required_role(method: str, path: str) -> Role | None:
    """What a request needs: reading reads, changing operates, models are the administrator's."""
    if path in OPEN or path.startswith("/static/"):
        return None
    if (
        method in ("GET", "HEAD", "OPTIONS")
        or path in ("/v1/predict", "/v1/analyse")
        or path.startswith("/plugins")
    ):
        return "read"
    return "admin" if path.startswith("/v1/models") else "operate"


def allows(role: Role | None, needed: Role | None) -> bool:
    """Whether a role is enough."""
    return needed is None or (role is not None and ROLES.index(role) >= ROLES.index(needed))
