"""Recordings in the data folder: stretches that the ring still keeps, or what comes from now on.

Each is a SigMF pair; the answers that history has for it become its annotations.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hardware.recorder import Recorder, padding, tar_header
from service.errors import Conflict, NotFound
from service.live.streams import Stream
from service.schemas.recordings import Recording
from service.storage import sigmf
from service.storage.history import History
from service.storage.ids import new_id
from service.storage.names import bytes_in, checked_name
from service.storage.queries import RunQuery, find_runs
from streaming.block import Block
from streaming.files import write_whole

CHUNK = 1 << 20
MOST = 10_000  # annotations


@dataclass
class Running:
    """A recording that is being made."""

    recorder: Recorder
    stream: Stream
    first: int | None = None  # sample of the stream that is the recording's first
    lock: threading.Lock = field(default_factory=threading.Lock)

    def push(self, block: Block) -> None:
        """Write a block; called by the stream's reader."""
        with self.lock:
            self.first = block.index if self.first is None else self.first
            self.recorder.push(block)

    def close(self) -> None:
        """End the recording; a block that is being written comes first."""
        with self.lock:
            self.recorder.close()


class RecordingStore:
    """The recordings in a folder, at most `max_bytes` together."""

    def __init__(self, folder: Path, history: History, max_bytes: int) -> None:
        self.folder, self.history, self.max_bytes = folder, history, max_bytes
        self.running: dict[str, Running] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def save(self, stream: Stream, span: tuple[int, int]) -> str:
        """Keep a stretch that the ring still has; gaps in it become captures."""
        blocks = stream.ring.blocks(*span)
        if not blocks:
            first, last = stream.ring.span
            raise NotFound(f"nothing of samples {span[0]} to {span[1]} is kept; kept are {first} to {last}")
        recording = self.begin(stream, seconds=None, live=False)
        for block in blocks:
            self.running[recording].push(block)
        self.finish(recording)
        return recording

    def begin(self, stream: Stream, seconds: float | None, live: bool = True) -> str:
        """Record what comes from now on, for so many seconds or until it is finished."""
        room = self.max_bytes - bytes_in(self.folder)
        if room <= 0:
            raise Conflict("the recordings take all the space they may (setting recordings_mb); delete some")
        recording = new_id()
        made = Recorder(self.folder / recording, room, seconds, f"{stream.name} ({stream.address})")
        running = self.running[recording] = Running(made, stream)
        if live:
            stream.taps.append(running.push)
        return recording

    def finish(self, recording: str) -> None:
        """End a recording and write its annotations."""
        running = self.running.pop(recording, None)
        if running is None:
            raise NotFound(f"recording {recording} is not being made")
        if running.push in running.stream.taps:
            running.stream.taps.remove(running.push)
        running.close()
        if running.first is not None and running.recorder.samples:
            self._annotate(running, running.first)

    def end(self, stream: Stream) -> None:
        """Finish the recordings of a stream that was deleted."""
        for recording, running in list(self.running.items()):
            if running.stream is stream:
                with suppress(NotFound):  # somebody else has just finished it
                    self.finish(recording)

    def _annotate(self, running: Running, first: int) -> None:
        """Put what history says of the recorded stretch into the metadata."""
        self.history.flush()
        stream, count = running.stream, running.recorder.samples
        end = first + count + running.recorder.lost
        query = RunQuery(
            stream.id,
            stream.heard_ns(first) - 10**9,
            stream.heard_ns(end) + 10**9,
            order="oldest",
            limit=MOST,
        )
        content = json.loads(running.recorder.meta.read_bytes())
        content["global"]["core:extensions"] = [each.model_dump() for each in sigmf.EXTENSIONS]
        for run in find_runs(self.history.database, query).rows:
            if run.start_sample < end and run.end_sample > first and not running.recorder.lost:
                note = sigmf.annotation(run, first, end)
                content["annotations"].append(note.model_dump(by_alias=True, exclude_none=True))
        write_whole(running.recorder.meta, json.dumps(content, indent=1).encode())

    def close(self) -> None:
        """End every recording that is being made."""
        for recording in list(self.running):
            self.finish(recording)

    def list(self) -> list[Recording]:
        """Every recording, oldest first."""
        return [self.describe(path.stem) for path in sorted(self.folder.glob("*.sigmf-meta"))]

    def describe(self, recording: str) -> Recording:
        """One recording; `source` is its address, to play it again."""
        meta = self.path(recording, "sigmf-meta")
        content = json.loads(meta.read_bytes())
        size = self.path(recording, "sigmf-data").stat().st_size
        return Recording(
            id=recording,
            running=recording in self.running,
            description=content["global"].get("core:description", ""),
            time=content["captures"][0].get("core:datetime"),
            freq_hz=content["captures"][0].get("core:frequency"),
            rate_hz=content["global"]["core:sample_rate"],
            samples=size // 8,
            gaps=len(content["captures"]) - 1,
            labels=sorted({note["core:label"] for note in content.get("annotations", [])}),
            source=f"file:{meta.resolve()}?pace=realtime",
        )

    def path(self, recording: str, kind: str) -> Path:
        """One of its files."""
        path = self.folder / f"{checked_name(recording, 'recording')}.{kind}"
        if not path.is_file():
            raise NotFound(f"there is no recording {recording}")
        return path

    def archive(self, recording: str) -> Iterator[bytes]:
        """Both files as a SigMF archive, piece by piece."""
        for kind in ("sigmf-data", "sigmf-meta"):
            path = self.path(recording, kind)
            size = left = path.stat().st_size
            yield tar_header(f"{recording}/{recording}.{kind}", size)
            with path.open("rb") as file:
                while left and (piece := file.read(min(left, CHUNK))):  # it may grow while it is sent
                    left -= len(piece)
                    yield piece
            yield padding(size)
        yield bytes(1024)

    def remove(self, recording: str) -> None:
        """Delete a recording."""
        if recording in self.running:
            self.finish(recording)
        for kind in ("sigmf-meta", "sigmf-data"):
            self.path(recording, kind).unlink()
