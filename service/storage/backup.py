"""A backup of the data folder while a service runs in it: one tar file, which appears whole or not at all.

What was acknowledged before it began is in it. The history is SQLite's own snapshot. The metadata of a label
or recording are opened before its samples: they are written last, so what they describe is there, and what
comes later belongs to a recording that still runs. The last member, `manifest.json`, holds the sha256 of all
others.
"""

import hashlib
import json
import os
import re
import sqlite3
import tarfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from hardware.recorder import padding, tar_header
from streaming.errors import ConfigError
from streaming.files import publish
from streaming.prediction import utc_text

FORMAT = 1
MANIFEST = "manifest.json"
HISTORY = "history.sqlite"
# Names in the data folder, and in a backup; nothing else is kept or taken back.
MEMBER = re.compile(
    r"history\.sqlite|(streams|tokens|ignored|watches)\.json|models/activations\.json"
    r"|models/(fitted/)?[A-Za-z0-9][\w.-]{0,63}\.safetensors"
    r"|(labels|recordings)/[A-Za-z0-9][\w.-]{0,63}\.(sigmf-meta|sigmf-data|npy)",
    re.ASCII,
)
PLAIN = ("streams.json", "tokens.json", "ignored.json", "watches.json", "models/activations.json")
CHUNK = 1 << 20


@dataclass
class Backup:
    """A tar file that is being written."""

    file: BinaryIO
    sums: dict[str, str] = field(default_factory=dict)  # member -> sha256

    def add(self, name: str, content: BinaryIO) -> None:
        """Add a file as long as it is now; it may grow meanwhile."""
        left = size = os.fstat(content.fileno()).st_size
        self.file.write(tar_header(name, size))
        digest = hashlib.sha256()
        while left:
            piece = content.read(min(left, CHUNK))
            if not piece:
                raise ConfigError(f"{name} became shorter while it was read; try again")
            digest.update(piece)
            self.file.write(piece)
            left -= len(piece)
        self.file.write(padding(size))
        self.sums[name] = digest.hexdigest()

    def finish(self, about: dict[str, object]) -> None:
        """Add the manifest and the end of the archive."""
        text = json.dumps(about | {"files": self.sums}, indent=1).encode()
        self.file.write(tar_header(MANIFEST, len(text)) + text + padding(len(text)))
        self.file.write(bytes(2 * tarfile.BLOCKSIZE))


def back_up(data: Path, target: Path, history_included: bool) -> dict[str, str]:
    """Write a backup of the data folder; the names and sums of what is in it."""
    if not data.is_dir():
        raise ConfigError(f"there is no data folder {data}")
    if target.exists():
        raise ConfigError(f"{target} exists already; choose another name")
    try:
        with TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
            made = Path(folder) / "backup"
            with open(
                os.open(made, os.O_WRONLY | os.O_CREAT, 0o600), "wb"
            ) as file:  # it holds tokens' hashes
                backup = Backup(file)
                fill(backup, data, Path(folder), history_included)
            publish(made, target)
    except OSError as error:
        raise ConfigError(f"{target} cannot be written: {error.strerror or error}") from None
    return backup.sums


def fill(backup: Backup, data: Path, work: Path, history_included: bool) -> None:
    """Add everything that is kept."""
    for name in PLAIN:  # first, so that every model that they name is still there
        with suppress(FileNotFoundError), (data / name).open("rb") as file:
            backup.add(name, file)
    for names in groups(data):
        add_group(backup, data, names)
    if history_included and (data / HISTORY).is_file():
        snapshot(data / HISTORY, work / HISTORY)
        with (work / HISTORY).open("rb") as file:
            backup.add(HISTORY, file)
    backup.finish(
        {
            "format": FORMAT,
            "wavetell": version("wavetell"),
            "created": utc_text(time.time_ns()),
            "history": "sqlite" if history_included else "not included: it is in PostgreSQL",
        }
    )


def groups(data: Path) -> Iterator[list[str]]:
    """Names that belong together, the metadata first."""
    for folder in ("models", "models/fitted"):
        for path in sorted((data / folder).glob("*.safetensors")):
            yield [f"{folder}/{path.name}"]
    for folder, more in (("labels", ("sigmf-data", "npy")), ("recordings", ("sigmf-data",))):
        for path in sorted((data / folder).glob("*.sigmf-meta")):
            yield [f"{folder}/{path.name}", *(f"{folder}/{path.stem}.{suffix}" for suffix in more)]


def add_group(backup: Backup, data: Path, names: list[str]) -> None:
    """Add files that belong together, or none of them where one was deleted meanwhile."""
    if not all(MEMBER.fullmatch(name) for name in names) or any((data / name).is_symlink() for name in names):
        return
    files: list[BinaryIO] = []
    try:
        with suppress(FileNotFoundError):
            # New metadata are another file under the same name: what is open stays as it is.
            files.extend((data / name).open("rb") for name in names)
            for name, file in zip(names, files, strict=True):
                backup.add(name, file)
    finally:
        for file in files:
            file.close()


def snapshot(source: Path, target: Path) -> None:
    """The database as of one moment, while others write to it."""
    try:
        with (
            closing(
                sqlite3.connect(f"{source.resolve().as_uri()}?mode=rw", uri=True, timeout=10)
            ) as database,
            closing(sqlite3.connect(target)) as copy,
        ):
            database.backup(copy)
            (verdict,) = copy.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        verdict = str(error)
    if verdict != "ok":
        raise ConfigError(f"{source} cannot be backed up: {verdict}")


def read_manifest(raw: bytes) -> dict[str, str]:
    """The sums of a manifest."""
    try:
        about = json.loads(raw)
        known, sums = about["format"] == FORMAT, about["files"]
        sound = all(isinstance(name, str) and isinstance(digest, str) for name, digest in sums.items())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ConfigError("its manifest cannot be read") from None
    if not known:
        raise ConfigError(f"its format is {about['format']!r}; this version reads format {FORMAT}")
    return dict(sums) if sound else {}
