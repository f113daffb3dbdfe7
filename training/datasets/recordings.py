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
    recording: Samples  # what was recorded around it in one go: what came before may be needed
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
    return np.concatenate(segments(recording))


def segments(recording: Recording) -> list[Samples]:
    """The same, cut where samples were lost or the frequency changed."""
    found: list[list[Samples]] = []
    before = None
    for capture in recording.captures:
        size = capture.samples * sample_bytes(recording.datatype)
        raw = np.fromfile(recording.path, np.uint8, size, offset=capture.first_byte)
        if before != (capture.index, capture.freq_hz):
            found.append([])
        found[-1].append(to_complex(raw, recording.datatype))
        before = (capture.index + capture.samples, capture.freq_hz)
    return [np.concatenate(parts) for parts in found]


def cut(samples: Samples, length: int) -> Samples:
    """Consecutive frames (n, length); an incomplete last frame is left out."""
    n = len(samples) // length
    return samples[: n * length].reshape(n, length)
