"""Streams that are opened again after a restart, kept in `streams.json`."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from hardware.plan import Plan
from service.storage.damaged import read_sound
from streaming.checked import from_json
from streaming.files import write_whole


@dataclass(frozen=True)
class Wanted:
    """How to open a stream."""

    source: str
    name: str
    head: str
    plan: Plan | None = None


def read_wanted(raw: bytes) -> dict[str, Wanted]:
    """The streams in `streams.json`."""
    return {stream_id: read_one(**entry) for stream_id, entry in json.loads(raw).items()}


def read_one(source: str, name: str, head: str, plan: object = None) -> Wanted:
    """An entry of `streams.json`."""
    if not all(isinstance(text, str) for text in (source, name, head)):
        raise TypeError("source, name and head of a stream must be texts")
    return Wanted(source, name, head, None if plan is None else from_json(Plan, plan, "plan"))


class WantedStreams:
    """Every change is on disk when the call returns."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._wanted = read_sound(file, read_wanted) or {}

    def __iter__(self) -> Iterator[tuple[str, Wanted]]:
        return iter(list(self._wanted.items()))

    def add(self, stream_id: str, wanted: Wanted) -> None:
        """Open this stream again after a restart."""
        self._wanted[stream_id] = wanted
        self._write()

    def use_head(self, stream_id: str, head: str) -> None:
        """The head of a stream is another one; nothing happens where the stream is not kept here."""
        if stream_id in self._wanted:
            self.add(stream_id, replace(self._wanted[stream_id], head=head))

    def remove(self, stream_id: str) -> None:
        """Do not open this stream again."""
        if self._wanted.pop(stream_id, None):
            self._write()

    def _write(self) -> None:
        content = {stream_id: asdict(wanted) for stream_id, wanted in self._wanted.items()}
        write_whole(self._file, json.dumps(content, indent=1).encode())
