"""Labels that people gave: raw I/Q with its past, kept so that any later encoder can embed it again.

Each is a SigMF recording in the data folder with one annotation, and its embeddings beside it. The metadata
is written last: a label that can be listed is whole, and it survives a kill -9.
"""

import io
import json
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.errors import Conflict, NotFound
from service.live.streams import Stream
from service.schemas.fields import one_line
from service.schemas.labels import Label
from service.schemas.schema import Broken
from service.schemas.sigmf import Annotation
from service.storage import sigmf
from service.storage.ids import new_id
from service.storage.names import bytes_in, checked_name
from streaming.band.box import Box
from streaming.band.clip import clip
from streaming.block import Samples
from streaming.checked import parse_json
from streaming.embedding import Embedder
from streaming.errors import ConfigError
from streaming.files import write_whole
from streaming.prediction import utc_text


@dataclass(frozen=True)
class Labelled:
    """The emission that is labelled; `alone`: it is kept without the rest of the band."""

    id: str
    box: Box | None  # in hertz from the source's centre, where it was measured
    centre_hz: float | None
    alone: bool = False


def near_hz(label: Label) -> tuple[float, float] | None:
    """The edges of a label's emission, where they are known."""
    return None if label.lower_hz is None or label.upper_hz is None else (label.lower_hz, label.upper_hz)


class LabelStore:
    """The labels in a folder."""

    def __init__(self, folder: Path, max_bytes: int = 1 << 40) -> None:
        self.folder, self.max_bytes = folder, max_bytes
        folder.mkdir(parents=True, exist_ok=True)

    def add(
        self,
        stream: Stream,
        span: tuple[int, int],
        label: str,
        embedder: Embedder,
        emission: Labelled | None,
    ) -> Label:
        """Keep a stretch, which is mostly this emission's, or the emission on its own; on disk on return."""
        ring, (start, end) = stream.ring, span
        ring.read(start, end)  # refuses what is not kept, before anything is made
        if bytes_in(self.folder) >= self.max_bytes:
            raise Conflict("the labels take all the space they may (setting labels_mb); take some back")
        first = ring.before(start, embedder.past)
        block, past = ring.read(first, end), start - first
        box = emission.box if emission else None
        if emission and emission.alone and box:
            made = clip(block, box)
            past, block = round(past * made.rate_hz / block.rate_hz), made
            box = replace(box, lower=-box.width / 2, upper=box.width / 2)
        encoder, window, hop = embedder.key
        kept = Label(
            id=new_id(),
            stream=stream.id,
            label=label,
            start=start,
            end=end,
            past=past,
            created=utc_text(time.time_ns()),
            rate_hz=block.rate_hz,
            freq_hz=block.freq_hz,
            emission=emission.id if emission else None,
            bandwidth_hz=box.width if box else None,
            centre_hz=emission.centre_hz if emission else None,
            lower_hz=box.lower if box else None,
            upper_hz=box.upper if box else None,
            encoder_sha256=encoder,
            window=window,
            hop=hop,
        )
        rows = embedder.embed(block.samples, past, block.rate_hz, near_hz(kept))
        lower, upper = sigmf.edges(kept.bandwidth_hz, kept.centre_hz)
        note = Annotation(
            sample_start=past,
            sample_count=len(block.samples) - past,
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

    def read_all(self) -> tuple[list[Label], list[Broken]]:
        """Every label, oldest first, and those that cannot be read."""
        labels, broken = [], []
        for path in sorted(self.folder.glob("*.sigmf-meta")):
            with suppress(FileNotFoundError):  # taken back meanwhile
                try:
                    labels.append(read_label(path))
                except ConfigError as error:
                    broken.append(Broken(id=one_line(path.stem), reason=one_line(str(error))))
        return labels, broken

    def list(self) -> list[Label]:
        """Every label that can be read, oldest first."""
        return self.read_all()[0]

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
                with suppress(ValueError, EOFError):  # damaged: they are made again
                    return np.asarray(np.load(self._path(label.id, "npy"), allow_pickle=False), np.float32)
            return embedder.embed(self.samples(label), label.past, label.rate_hz, near_hz(label))
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
        return Label.model_validate(parse_json(path.read_bytes(), "it")["annotations"][0]["wavetell:label"])
    except (ConfigError, ValueError, KeyError, IndexError, TypeError) as error:
        raise ConfigError(f"{path} is not a label of ours: {str(error).splitlines()[0]}") from None
