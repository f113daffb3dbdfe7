"""Labels that people gave: raw I/Q with its past, kept so that any later encoder can embed it again.

Each is a SigMF recording in the data folder with one annotation, and its embeddings beside it. The metadata
is written last: a label that can be listed is whole, and it survives a kill -9.
"""

import io
import json
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.errors import Conflict, NotFound
from service.live.runs import Run
from service.live.streams import Stream
from service.schemas.labels import Label
from service.schemas.sigmf import Annotation
from service.storage import sigmf
from service.storage.ids import new_id
from service.storage.names import bytes_in, checked_name
from streaming.block import Samples
from streaming.embedding import Embedder
from streaming.errors import ConfigError
from streaming.files import write_whole
from streaming.prediction import utc_text


class LabelStore:
    """The labels in a folder."""

    def __init__(self, folder: Path, max_bytes: int = 1 << 40) -> None:
        self.folder, self.max_bytes = folder, max_bytes
        folder.mkdir(parents=True, exist_ok=True)

    def add(
        self, stream: Stream, span: tuple[int, int], label: str, embedder: Embedder, run: Run | None
    ) -> Label:
        """Keep a stretch, which is mostly this run's; on disk when it returns."""
        ring, (start, end) = stream.ring, span
        ring.read(start, end)  # refuses what is not kept, before anything is made
        if bytes_in(self.folder) >= self.max_bytes:
            raise Conflict("the labels take all the space they may (setting labels_mb); take some back")
        first = ring.before(start, embedder.past)
        block = ring.read(first, end)
        encoder, window, hop = embedder.key
        kept = Label(
            id=new_id(),
            stream=stream.id,
            label=label,
            start=start,
            end=end,
            past=start - first,
            created=utc_text(time.time_ns()),
            rate_hz=block.rate_hz,
            freq_hz=block.freq_hz,
            emission=run.emission if run else None,
            bandwidth_hz=run.bandwidth_hz if run else None,
            centre_hz=run.centre_hz if run else None,
            encoder_sha256=encoder,
            window=window,
            hop=hop,
        )
        rows = embedder.embed(block.samples, kept.past, block.rate_hz)
        lower, upper = sigmf.edges(kept.bandwidth_hz, kept.centre_hz)
        note = Annotation(
            sample_start=kept.past,
            sample_count=end - start,
            freq_lower_edge=lower,
            freq_upper_edge=upper,
            label=label[: sigmf.LABEL_LENGTH],
        )
        meta = sigmf.metadata(block.rate_hz, [sigmf.capture(block)], [note])
        content = meta.model_dump(by_alias=True, exclude_none=True)
        content["annotations"][0]["wavetell:label"] = kept.model_dump()
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
        return Label.model_validate(json.loads(path.read_bytes())["annotations"][0]["wavetell:label"])
    except (ValueError, KeyError, IndexError) as error:
        raise ConfigError(f"{path} is not a label of ours: {str(error).splitlines()[0]}") from None
