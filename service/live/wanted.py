"""Streams that are opened again after a restart, kept in `streams.json`."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from streaming.files import write_whole


@dataclass(frozen=True)
class Wanted:
    """How to open a stream."""

    source: str
    name: str
    head: str


class WantedStreams:
    """Every change is on disk when the call returns."""

    def __init__(self, file: Path) -> None:
        self._file = file
        stored = json.loads(file.read_bytes()) if file.exists() else {}
        self._wanted = {stream_id: Wanted(**wanted) for stream_id, wanted in stored.items()}

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
