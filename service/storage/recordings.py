"""Recordings in the data folder: stretches that the ring still keeps, or what comes from now on.

Each is a SigMF pair; the answers that history has for it become its annotations.
"""

import json
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from hardware.recorder import Recorder, padding, tar_header
from hardware.sigmf_file import number, parse
from service.errors import Conflict, NotFound
from service.live.emissions import EmissionRow
from service.live.streams import Stream
from service.schemas.fields import one_line
from service.schemas.recordings import Recording
from service.schemas.sigmf import Annotation
from service.storage import sigmf
from service.storage.history import History
from service.storage.ids import new_id
from service.storage.names import NAME, bytes_in, checked_name
from service.storage.queries import EmissionQuery, RunQuery, find_emissions, find_runs
from streaming.band.clip import clip
from streaming.block import Block
from streaming.checked import check
from streaming.errors import WavetellError
from streaming.files import write_whole
from streaming.quantities import FREQ_HZ, RATE_HZ

log = logging.getLogger(__name__)
CHUNK = 1 << 20
MOST = 10_000  # annotations


@dataclass
class Running:
    """A recording that is being made."""

    recorder: Recorder
    stream: Stream
    live: bool  # what comes from now on, not what the ring has
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
        running = self.running[recording]
        for block in blocks:
            running.push(block)
        self.finish(recording)
        return recording

    def save_emission(self, stream: Stream, emission: EmissionRow, span: tuple[int, int]) -> str:
        """Keep one emission on its own, decimated, of a stretch that the ring still has without a gap."""
        made = clip(stream.ring.read(*span), emission.box)
        recording = self.begin(stream, seconds=None, live=False)
        running = self.running.pop(recording)
        running.push(made)
        running.close()
        whole = replace(emission, start_sample=made.index, end_sample=made.end)
        write_notes(running.recorder.meta, [sigmf.emission_note(whole, made.index, made.end)])
        return recording

    def begin(self, stream: Stream, seconds: float | None, live: bool = True) -> str:
        """Record what comes from now on, for so many seconds or until it is finished."""
        room = self.max_bytes - bytes_in(self.folder)
        if room <= 0:
            raise Conflict("the recordings take all the space they may (setting recordings_mb); delete some")
        recording = new_id()
        made = Recorder(self.folder / recording, room, seconds, f"{stream.name} ({stream.address})")
        running = self.running[recording] = Running(made, stream, live)
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
            if running.live and running.stream is stream:
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
        runs = find_runs(self.history.database, query).rows
        runs = [run for run in runs if run.start_sample < end and run.end_sample > first]
        notes = [sigmf.annotation(run, first, end) for run in runs]
        # What goes on for long is answered seldom: it may be there without an answer in this stretch.
        known = {run.emission for run in runs}
        about = EmissionQuery(stream.id, query.from_ns, query.to_ns, limit=MOST)
        for row in find_emissions(self.history.database, about).rows:
            if row.id not in known and row.start_sample < end and row.end_sample > first:
                notes.append(sigmf.emission_note(row, first, end))
        write_notes(running.recorder.meta, [] if running.recorder.lost else notes)

    def covering(self, stream: Stream, start: int, end: int) -> tuple[str, int] | None:
        """A recording under way that holds these samples of a stream without a gap, and where in it."""
        for recording, running in list(self.running.items()):
            first, recorder = running.first, running.recorder
            if running.stream is not stream or not running.live or first is None or recorder.lost:
                continue
            if first <= start and end <= first + recorder.samples:
                return recording, start - first
        return None

    def close(self) -> None:
        """End every recording that is being made."""
        for recording in list(self.running):
            try:
                self.finish(recording)
            except Exception:  # it is whole but for its annotations; the others are finished
                log.exception("recording %s", recording)

    def list(self) -> list[Recording]:
        """Every recording, oldest first; one that cannot be read says why."""
        found = []
        for path in sorted(self.folder.glob("*.sigmf-meta")):
            with suppress(NotFound):  # deleted meanwhile
                if NAME.fullmatch(path.stem):
                    found.append(self.describe(path.stem))
        return found

    def describe(self, recording: str) -> Recording:
        """One recording; `source` is its address, to play it again."""
        meta = self.path(recording, "sigmf-meta")
        about = Recording(
            id=recording,
            running=recording in self.running,
            source=f"file:{meta.resolve()}?pace=realtime",
        )
        try:
            return about.model_copy(update=self._contents(recording, meta))
        except (WavetellError, OSError) as error:
            return about.model_copy(update={"broken": one_line(str(error))})

    def _contents(self, recording: str, meta: Path) -> dict[str, object]:
        """What the metadata say, each entry checked."""
        content = parse(meta, meta.read_bytes())
        first = content.captures[0] if content.captures else {}
        named = [note["core:label"] for note in content.annotations if "core:label" in note]
        return {
            "description": check(str, content.info.get("core:description", ""), "core:description"),
            "time": check(str | None, first.get("core:datetime"), "core:datetime"),
            "freq_hz": number(first, "core:frequency", FREQ_HZ),
            "rate_hz": number(content.info, "core:sample_rate", RATE_HZ) or 0.0,
            "samples": self.path(recording, "sigmf-data").stat().st_size // 8,
            "gaps": max(0, len(content.captures) - 1),
            "labels": sorted({check(str, label, "core:label") for label in named}),
        }

    def path(self, recording: str, kind: str) -> Path:
        """One of its files."""
        path = self.folder / f"{checked_name(recording, 'recording')}.{kind}"
        if not path.is_file():
            raise NotFound(f"there is no recording {recording}")
        return path

    def archive(self, recording: str) -> Iterator[bytes]:
        """Both files as a SigMF archive, piece by piece."""
        kinds = ("sigmf-data", "sigmf-meta")
        try:  # opened before the answer begins: then they may be deleted
            files = [self.path(recording, kind).open("rb") for kind in kinds]
        except FileNotFoundError:
            raise NotFound(f"there is no recording {recording}") from None
        names = [f"{recording}/{recording}.{kind}" for kind in kinds]
        return archived(dict(zip(names, files, strict=True)))

    def remove(self, recording: str) -> None:
        """Delete a recording, also one that cannot be read."""
        if recording in self.running:
            self.finish(recording)
        self.path(recording, "sigmf-meta").unlink(missing_ok=True)
        with suppress(NotFound):
            self.path(recording, "sigmf-data").unlink(missing_ok=True)


def heard_in(stream: Stream, emission: EmissionRow) -> tuple[int, int]:
    """The newest stretch of an emission that is kept without a gap."""
    first, last = stream.ring.span
    end = min(last, emission.end_sample)
    start = max(first, emission.start_sample, stream.ring.before(end, max(0, end - emission.start_sample)))
    if end <= start:
        raise NotFound(f"nothing of emission {emission.id} is kept any more")
    return start, end


def write_notes(meta: Path, notes: list[Annotation]) -> None:
    """Put annotations into the metadata of a recording."""
    content = json.loads(meta.read_bytes())
    content["global"]["core:extensions"] = [each.model_dump() for each in sigmf.EXTENSIONS]
    content["annotations"] = [
        note.model_dump(by_alias=True, exclude_none=True)
        for note in sorted(notes, key=lambda note: note.sample_start)
    ]
    write_whole(meta, json.dumps(content, indent=1).encode())


def archived(files: dict[str, BinaryIO]) -> Iterator[bytes]:
    """Files by their names in an archive, as its pieces."""
    for name, file in files.items():
        with file:
            size = left = os.fstat(file.fileno()).st_size
            yield tar_header(name, size)
            while left and (piece := file.read(min(left, CHUNK))):  # it may grow while it is sent
                left -= len(piece)
                yield piece
            yield padding(size)
    yield bytes(1024)
