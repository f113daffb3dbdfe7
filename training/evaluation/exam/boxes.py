"""Recordings with annotated boxes: SigMF, one annotation per emission or per burst.

A box is an annotation with `core:sample_start`, `core:sample_count`, `core:freq_lower_edge` and
`core:freq_upper_edge`; its label is `core:label`, its SNR `wavetell:snr_db` or any extension's `snr_db` or
`snr`. Boxes are cut at the edges of the band and at the recording's end. Annotations without a box in the
band are counted and left out, `noise` is not counted at all. A recording without annotations has nothing in
it. A `spur`, a tone that the receiver itself makes, need not be found, and it is no mistake to find it.

A bare carrier has no width: boxes narrower than 1 / 2,048 of the band, true and found, count as that wide.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hardware.recording import Capture, read_recording
from streaming.errors import FormatError
from training.evaluation.exam.labels import read_label
from training.evaluation.exam.matching import TrueBox
from training.evaluation.exam.sets import Recording
from training.signals.classes import NOISE
from training.signals.stream import SPUR

FIELDS = ("core:sample_start", "core:sample_count", "core:freq_lower_edge", "core:freq_upper_edge")
NARROWEST = 2_048  # to the band


@dataclass(frozen=True)
class BoxedRecording(Recording):
    """A recording and what is in it."""

    boxes: tuple[TrueBox, ...]
    narrowest_hz: float  # what is narrower counts as this wide
    left_out: int = 0  # annotations without a box in the band


def read_boxes(folder: Path, families: Mapping[str, str]) -> list[BoxedRecording]:
    """Every SigMF recording in the folder and below."""
    files = sorted(path for ending in ("*.sigmf-meta", "*.sigmf") for path in folder.rglob(ending))
    found = [read_boxed(folder, path, families) for path in files]
    if not any(recording.boxes for recording in found):
        raise FormatError(
            f"{folder} has no labels.csv, and none of its {len(files)} SigMF recordings has an annotated box"
        )
    return found


def read_boxed(folder: Path, path: Path, families: Mapping[str, str]) -> BoxedRecording:
    """One recording."""
    from hardware.sigmf_file import find_dataset  # its schema checker takes long to load

    recording = read_recording(path)
    metadata = find_dataset(path).metadata
    notes = [
        note for note in metadata.annotations if read_label(str(note.get("core:label", ""))).family != NOISE
    ]
    infos = metadata.captures or [{}]
    first = int(infos[0].get("core:sample_start", 0))
    if recording.rate_hz is None:
        raise FormatError(f"{path} does not say core:sample_rate")
    try:
        boxes = [read_box(note, first, recording.captures, recording.rate_hz, families) for note in notes]
    except (TypeError, ValueError) as error:
        raise FormatError(f"{path} has an annotation that cannot be read: {error}") from None
    known = tuple(box for box in boxes if box)
    name = str(path.relative_to(folder))
    narrowest_hz = recording.rate_hz / NARROWEST
    return BoxedRecording(name, f"file:{path.absolute()}", name, known, narrowest_hz, len(notes) - len(known))


def read_box(
    note: Mapping[str, Any], first: int, captures: list[Capture], rate_hz: float, families: Mapping[str, str]
) -> TrueBox | None:
    """An annotation as a box, None where it has none within the band."""
    if any(note.get(field) is None for field in FIELDS):
        return None
    start, count, *edges = (float(note[field]) for field in FIELDS)
    if not np.isfinite([start, count, *edges]).all():
        raise ValueError(f"a box of {start:g}, {count:g}, {edges[0]:g}, {edges[1]:g}")
    capture, begin = placed(round(start) - first, captures)
    _, last = placed(round(start + max(count, 1)) - first - 1, captures)
    lower_hz, upper_hz = (edge - (capture.freq_hz or 0.0) for edge in edges)
    if count < 1 or not -rate_hz / 2 < upper_hz or not lower_hz < rate_hz / 2 or lower_hz > upper_hz:
        return None
    lower_hz, upper_hz = max(lower_hz, -rate_hz / 2), min(upper_hz, rate_hz / 2)
    label = note.get("core:label")
    truth = read_label(str(label), families) if label else None
    return TrueBox(begin, last + 1, lower_hz, upper_hz, truth, read_snr(note), expected=label != SPUR)


def placed(sample: int, captures: list[Capture]) -> tuple[Capture, int]:
    """The capture of the file's sample, and where that lies in the stream, lost samples included.

    Beyond the end it is the last sample.
    """
    for capture in captures:
        if sample < capture.samples:
            return capture, capture.index + max(sample, 0)
        sample -= capture.samples
    return capture, capture.index + capture.samples - 1


def read_snr(note: Mapping[str, Any]) -> float | None:
    """The SNR that the annotation states: wavetell's, or the first number that another extension has."""
    names = ["wavetell:snr_db", *(key for key in note if key.rpartition(":")[2].lower() in ("snr_db", "snr"))]
    return next((float(note[name]) for name in names if isinstance(note.get(name), int | float)), None)
