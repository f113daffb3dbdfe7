"""Frames cut out of recordings."""

import numpy as np

from hardware.recording import Recording
from hardware.samples import sample_bytes, to_complex
from streaming.block import Samples


def all_samples(recording: Recording) -> Samples:
    """Every sample of a recording, in the file's order."""
    each = sample_bytes(recording.datatype)
    parts = []
    for capture in recording.captures:
        raw = np.fromfile(recording.path, np.uint8, capture.samples * each, offset=capture.first_byte)
        parts.append(to_complex(raw, recording.datatype))
    return np.concatenate(parts)


def cut(samples: Samples, length: int) -> Samples:
    """Consecutive frames (n, length); a rest that is no whole frame is left out."""
    n = len(samples) // length
    return samples[: n * length].reshape(n, length)
