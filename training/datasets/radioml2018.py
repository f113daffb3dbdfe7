"""RadioML 2018.01A: 20 GB of HDF5, streamed: X (n, 1024, 2) float32, Y (n, 24) one-hot, Z (n, 1) SNR in dB.

Rows are ordered by class, then by SNR, 4,096 frames each. The `classes.txt` that ships with the set is in the
wrong order; the one below is right.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardware.closing import Closing
from streaming.errors import FormatError
from training.datasets.frames import Frames, join

# fmt: off
CLASSES = (
    "OOK", "4ASK", "8ASK", "BPSK", "QPSK", "8PSK", "16PSK", "32PSK", "16APSK", "32APSK", "64APSK", "128APSK",
    "16QAM", "32QAM", "64QAM", "128QAM", "256QAM", "AM-SSB-WC", "AM-SSB-SC", "AM-DSB-WC", "AM-DSB-SC", "FM",
    "GMSK", "OQPSK",
)
# fmt: on
ROWS = 4096  # frames read at once


class RadioMl2018(Closing):
    """The open file; labels and SNRs are in memory, frames are read when asked for."""

    def __init__(self, path: Path) -> None:
        import h5py

        self.path = path
        try:
            self.file: Any = h5py.File(path, "r")
        except OSError as error:
            raise FormatError(f"{path.name}: not a readable HDF5 file ({error})") from None
        shapes = {name: self.file[name].shape if name in self.file else None for name in "XYZ"}
        n = shapes["Y"][0] if shapes["Y"] else 0
        x = shapes["X"]
        if (
            shapes["Y"] != (n, len(CLASSES))
            or shapes["Z"] != (n, 1)
            or not x
            or len(x) != 3
            or (x[0], x[2]) != (n, 2)
        ):
            self.file.close()
            raise FormatError(
                f"{path.name}: X, Y, Z have shapes {shapes}; expected (n, N, 2), (n, 24), (n, 1)"
            )
        self.label = np.concatenate(
            [self.file["Y"][i : i + 65536].argmax(1) for i in range(0, n, 65536)] or [[]]
        )
        self.label = self.label.astype(np.int64)
        self.snr_db = self.file["Z"][:, 0].astype(np.float32)

    def __len__(self) -> int:
        return len(self.label)

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def read(self, rows: NDArray[np.int64] | None = None) -> Frames:
        """These rows, or all, in rising order (HDF5 reads them so)."""
        return join(list(self.stream(rows)))

    def stream(self, rows: NDArray[np.int64] | None = None) -> Iterator[Frames]:
        """The rows in pieces that fit in memory."""
        rows = np.arange(len(self)) if rows is None else np.unique(rows)
        for i in range(0, len(rows), ROWS):
            part = rows[i : i + ROWS]
            low, high = int(part[0]), int(part[-1]) + 1
            # a whole range is read ten times as fast as a list of rows
            dense = high - low < 4 * len(part)
            x = self.file["X"][low:high][part - low] if dense else self.file["X"][part]
            iq = np.ascontiguousarray(x, np.float32).view(np.complex64)[..., 0]
            yield Frames(iq, self.label[part], self.snr_db[part], CLASSES)
