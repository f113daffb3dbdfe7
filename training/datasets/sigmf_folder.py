"""A folder of SigMF recordings whose annotations name the signal; annotated stretches are cut into frames."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hardware.recording import read_recording
from streaming.errors import FormatError
from training.datasets.frames import Frames
from training.datasets.recordings import LabelledStretch, cut, segments


def read_sigmf_folder(folder: Path, samples: int) -> Frames:
    """Frames of this many samples from every annotation with a label; classes in order of their names."""
    pieces = [(stretch.label, cut(stretch.samples, samples)) for stretch in sigmf_stretches(folder)]
    pieces = [(label, frames) for label, frames in pieces if len(frames)]
    if not pieces:
        raise FormatError(f"{folder}: no annotation with a label is {samples:,} samples long")
    classes = tuple(sorted({label for label, _ in pieces}))
    label = np.concatenate([np.full(len(frames), classes.index(name)) for name, frames in pieces])
    iq = np.concatenate([frames for _, frames in pieces])
    return Frames(iq, label.astype(np.int64), np.full(len(iq), np.nan, np.float32), classes)


def sigmf_stretches(folder: Path) -> Iterator[LabelledStretch]:
    """Every annotation with a label; one over a gap or a retune is several stretches."""
    from hardware.sigmf_file import find_pair

    for meta in sorted(folder.rglob("*.sigmf-meta")):
        annotations = find_pair(meta).metadata.annotations
        if not any(note.get("core:label") for note in annotations):
            continue
        recording = read_recording(meta)
        parts = segments(recording)
        edges = np.cumsum([0, *map(len, parts)]).tolist()
        for note in annotations:
            start = int(note["core:sample_start"])
            end = start + int(note.get("core:sample_count", edges[-1] - start))
            if end > edges[-1]:
                raise FormatError(f"{meta}: an annotation ends at sample {end:,} of {edges[-1]:,}")
            for signal, first in zip(parts, edges, strict=False):
                inside = max(start - first, 0), min(end - first, len(signal))
                if note.get("core:label") and inside[0] < inside[1]:
                    yield LabelledStretch(str(note["core:label"]), signal, *inside, recording.rate_hz)
