"""Labels that people gave: raw I/Q with its past, kept so that any later encoder can embed it again.

Each is a SigMF recording in the data folder with one annotation, and its embeddings beside it. The metadata
is written last: a label that can be listed is whole, and it survives a kill -9.
"""

import io
import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.errors import Conflict, NotFound
from service.storage import sigmf
from service.storage.ids import new_id
from service.storage.names import bytes_in, checked_name
from streaming.block import Samples
from streaming.embedding import Embedder
from streaming.errors import ConfigError
from streaming.files import write_whole
from streaming.prediction import utc_text
from streaming.ring import Ring


@dataclass(frozen=True)
class Label:
    """One labelled stretch [start, end) of a stream."""

    id: str
    stream: str
    label: str
    start: int
    end: int
    past: int  # samples stored before `start`
    created: str
    rate_hz: float
    freq_hz: float | None
    encoder_sha256: str  # of the embeddings beside it
    window: int
    hop: int


class LabelStore:
    """The labels in a folder."""

    def __init__(self, folder: Path, max_bytes: int = 1 << 40) -> None:
        self.folder, self.max_bytes = folder, max_bytes
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, stream: str, ring: Ring, span: tuple[int, int], label: str, embedder: Embedder) -> Label:
        """Keep a stretch; on disk when it returns."""
        start, end = span
        ring.read(start, end)  # refuses what is not kept, before anything is made
        if bytes_in(self.folder) >= self.max_bytes:
            raise Conflict("the labels take all the space they may (setting labels_mb); take some back")
        first = ring.before(start, embedder.past)
        block = ring.read(first, end)
        encoder, window, hop = embedder.key
        kept = Label(
            id=new_id(),
            stream=stream,
            label=label,
            start=start,
            end=end,
            past=start - first,
            created=utc_text(time.time_ns()),
            rate_hz=block.rate_hz,
            freq_hz=block.freq_hz,
            encoder_sha256=encoder,
            window=window,
            hop=hop,
        )
        rows = embedder.embed(block.samples, kept.past, block.rate_hz)
        note = {
            "core:sample_start": kept.past,
            "core:sample_count": end - start,
            "core:label": label[: sigmf.LABEL_LENGTH],
            "wavetell:label": asdict(kept),
        }
        content = sigmf.metadata(block.rate_hz, [(0, sigmf.capture(block))], [note])
        write_whole(self._path(kept.id, "sigmf-data"), block.samples.astype("<c8").tobytes())
        self.put_embeddings(kept.id, rows)
        write_whole(self._path(kept.id, "sigmf-meta"), json.dumps(content).encode())
        return kept

    def list(self) -> list[Label]:
        """Every label, oldest first."""
        labels = []
        for path in sorted(self.folder.glob("*.sigmf-meta")):
            with suppress(FileNotFoundError):  # taken back meanwhile
                labels.append(read_label(path))
        return labels

    def remove(self, label_id: str) -> None:
        """Forget a label."""
        meta = self._path(checked_name(label_id, "label"), "sigmf-meta")
        try:
            meta.unlink()
        except FileNotFoundError:
            raise NotFound(f"there is no label {label_id}") from None
        for suffix in ("npy", "sigmf-data"):
            self._path(label_id, suffix).unlink(missing_ok=True)

    def samples(self, label: Label) -> Samples:
        """Its I/Q, the past first."""
        return np.fromfile(self._path(label.id, "sigmf-data"), "<c8")

    def embeddings(self, label: Label, embedder: Embedder) -> NDArray[np.float32]:
        """Its embeddings: those that are stored if they are this model's, else made again."""
        try:
            if (label.encoder_sha256, label.window, label.hop) == embedder.key:
                return np.asarray(np.load(self._path(label.id, "npy"), allow_pickle=False), np.float32)
            return embedder.embed(self.samples(label), label.past, label.rate_hz)
        except FileNotFoundError:
            raise NotFound(f"label {label.id} was taken back meanwhile; fit again") from None

    def put_embeddings(self, label_id: str, rows: NDArray[np.float32]) -> None:
        """Store embeddings."""
        buffer = io.BytesIO()
        np.save(buffer, rows)
        write_whole(self._path(label_id, "npy"), buffer.getvalue())

    def _path(self, label_id: str, suffix: str) -> Path:
        return self.folder / f"{label_id}.{suffix}"


def read_label(path: Path) -> Label:
    """The label in a metadata file."""
    try:
        values: dict[str, Any] = json.loads(path.read_bytes())["annotations"][0]["wavetell:label"]
        return Label(**{field.name: values[field.name] for field in fields(Label)})
    except (ValueError, KeyError, IndexError) as error:
        raise ConfigError(f"{path} is no label of ours: {error}") from None
