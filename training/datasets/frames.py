"""Labelled frames: equally long stretches of I/Q, each with its class and, where it is known, its SNR."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.errors import InputError


@dataclass(frozen=True)
class Frames:
    """Frames of one data set; `classes[label[i]]` names frame i, `snr_db` is NaN where nobody knows it."""

    iq: Samples  # (n, N)
    label: NDArray[np.int64]  # (n,)
    snr_db: NDArray[np.float32]  # (n,)
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.iq)

    def take(self, index: NDArray[np.int64] | slice) -> Self:
        """These frames, in this order."""
        parts = {f.name: getattr(self, f.name)[index] for f in fields(self) if f.name != "classes"}
        return replace(self, **parts)

    def counts(self) -> NDArray[np.int64]:
        """Frames of each class."""
        return np.bincount(self.label, minlength=len(self.classes)).astype(np.int64)


def join(parts: Sequence[Frames]) -> Frames:
    """Frames of several sets with the same classes, one after the other."""
    if len({part.classes for part in parts}) != 1:
        raise InputError("the sets to join have different classes; they must have the same")
    return Frames(
        np.concatenate([part.iq for part in parts]),
        np.concatenate([part.label for part in parts]),
        np.concatenate([part.snr_db for part in parts]),
        parts[0].classes,
    )
