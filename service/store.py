"""Files in the data folder: written whole or not at all, and reached by names that cannot leave it."""

import os
import re
import tempfile
from pathlib import Path

from streaming.errors import ConfigError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def checked_name(name: str, what: str) -> str:
    """A name that is safe as a file's; it comes from a request."""
    if not NAME.fullmatch(name) or ".." in name:
        raise ConfigError(f"{what} is {name!r}; it must be letters, digits, dots, dashes, at most 64")
    return name


def write_whole(path: Path, content: bytes) -> None:
    """Write a file; on disk when it returns, and a crash leaves the old one or the new one."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(file.name, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
