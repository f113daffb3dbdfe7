"""Folders for work under way, in the data folder so that a rename is enough; a crash leaves none for long."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "work-"


@contextmanager
def work_folder(parent: Path) -> Iterator[Path]:
    """A folder that is gone at the end."""
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=parent) as folder:
        yield Path(folder)


def clear_work(*parents: Path) -> None:
    """Remove what a service that was killed left."""
    for parent in parents:
        for folder in parent.glob(f"{PREFIX}*"):
            shutil.rmtree(folder, ignore_errors=True)
