"""A data folder from a backup: every file is checked first, and the folder appears whole or not at all."""

import hashlib
import os
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from service.storage.backup import CHUNK, MANIFEST, MEMBER, read_manifest
from streaming.errors import ConfigError

LONGEST_MANIFEST = 64 << 20  # bytes


def restore(source: Path, data: Path) -> dict[str, str]:
    """Make the data folder; it must not be there, or be empty. The names and sums of what is in it."""
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise ConfigError(f"{data} is not empty; restore into a new folder, then serve with --data")
    try:
        data.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=data.parent, prefix=f".{data.name}.") as work:
            made = Path(work) / "data"
            made.mkdir(mode=0o700)
            try:
                with tarfile.open(source, "r:") as archive:
                    sums = extract(archive, made)
            except (tarfile.TarError, EOFError) as error:
                raise ConfigError(f"{source} is not a whole backup: {error}") from None
            except ConfigError as error:
                raise ConfigError(f"{source} is not a backup that can be used: {error}") from None
            made.replace(data)  # an empty folder is replaced
            sync_folder(data.parent)
    except OSError as error:
        where = source if error.filename == str(source) else data
        raise ConfigError(f"{where} cannot be used: {error.strerror or error}") from None
    return sums


def extract(archive: tarfile.TarFile, folder: Path) -> dict[str, str]:
    """Write the members and hold them against the manifest, which comes last."""
    found: dict[str, str] = {}
    said: dict[str, str] | None = None
    for member in archive:
        content = archive.extractfile(member) if member.isreg() and not member.issparse() else None
        if said is not None or content is None or member.name in found:
            raise ConfigError(f"{member.name[:100]!r} should not be in it")
        if member.name == MANIFEST:
            said = read_manifest(content.read(LONGEST_MANIFEST))
        elif MEMBER.fullmatch(member.name):
            found[member.name] = write(folder / member.name, content)
        else:
            raise ConfigError(f"{member.name[:100]!r} should not be in it")
    if said is None:
        raise ConfigError("it is cut short: the manifest is missing")
    if wrong := sorted(name for name in said.keys() | found.keys() if said.get(name) != found.get(name)):
        raise ConfigError(f"{wrong[0]} is not what the manifest says")
    for made in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        sync_folder(made)
    return found


def write(path: Path, content: IO[bytes]) -> str:
    """Write a file to the disk; its sha256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while piece := content.read(CHUNK):
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
