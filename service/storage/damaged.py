"""What is damaged in the data folder is set aside with a line in the log: the service always starts."""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from streaming.errors import WavetellError

log = logging.getLogger(__name__)
T = TypeVar("T")


def read_sound(path: Path, parse: Callable[[bytes], T]) -> T | None:
    """What a file holds; None where there is none, or where it is damaged and was set aside."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return parse(raw)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, WavetellError) as error:
        set_aside(path, str(error).partition("\n")[0])
        return None


def set_aside(path: Path, why: str) -> None:
    """Rename a damaged file, so that somebody can look at it."""
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}")
    path.replace(aside)
    log.error("%s is damaged and was set aside as %s: %s", path, aside.name, why)
