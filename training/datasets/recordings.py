"""Labelled stretches of recordings, and frames cut out of them."""

from dataclasses import dataclass

import numpy as np

from hardware.recording import Recording
from hardware.samples import sample_bytes, to_complex
from streaming.block import Samples


@dataclass(frozen=True)
class LabelledStretch:
    """What was labelled: the samples from `start` to `end` of a recording."""

    label: str
    recording: Samples  # all of it: what came before the stretch may be needed
    start: int
    end: int
    rate_hz: float | None
    snr_db: float = float("nan")

    @property
    def samples(self) -> Samples:
        """The samples of the stretch alone."""
        return self.recording[self.start : self.end]


def all_samples(recording: Recording) -> Samples:
    """Every sample of a recording, in the file's order."""
    each = sample_bytes(recording.datatype)
    parts = []
    for capture in recording.captures:
        raw = np.fromfile(recording.path, np.uint8, capture.samples * each, offset=capture.first_byte)
        parts.append(to_complex(raw, recording.datatype))
    return np.concatenate(parts)


def cut(samples: Samples, length: int) -> Samples:
    """Consecutive frames (n, length); an incomplete last frame is left out."""
    n = len(samples) // length
    return samples[: n * length].reshape(n, length)
