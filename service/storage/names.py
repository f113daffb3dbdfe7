"""Names in the data folder: none of them can leave it."""

import re
from contextlib import suppress
from pathlib import Path

from streaming.errors import ConfigError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def checked_name(name: str, what: str) -> str:
    """A name that is safe as a file's; it comes from a request."""
    if not NAME.fullmatch(name) or ".." in name:
        raise ConfigError(f"{what} is {name!r}; it must be letters, digits, dots, dashes, at most 64")
    return name


def bytes_in(folder: Path) -> int:
    """What the files of a folder take, while others write there."""
    total = 0
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # it got its final name, or went
            total += path.stat().st_size
    return total
