"""RadioML 2016.10a and b: a pickle {(modulation, SNR in dB): (n, 2, 128)} of I and Q; and MIGOU-MOD.

MIGOU-MOD's second key is the distance, `ota_1m` or `ota_6m`, for which its authors give mean SNRs of 37 and
22 dB. Its scale is not documented; frames are divided by their RMS before they are encoded, as everywhere.
"""

from pathlib import Path

import numpy as np

from streaming.errors import FormatError
from training.datasets.frames import Frames
from training.datasets.unpickle import load_arrays

MIGOU_SNR_DB = {"ota_1m": 37.0, "ota_6m": 22.0}


def read_radioml2016(path: Path) -> Frames:
    """All frames, class by class and SNR by SNR; classes in order of their names."""
    cells = load_arrays(path)
    for key, array in cells.items():
        named = isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], str)
        if not named or array.ndim != 3 or array.shape[1] != 2:
            raise FormatError(
                f"{path.name}: entry {key!r} has shape {array.shape}; expected (name, SNR): (n, 2, N)"
            )
    if len({array.shape[2] for array in cells.values()}) != 1:
        raise FormatError(f"{path.name}: frames differ in length")
    classes = tuple(sorted({str(key[0]) for key in cells}))
    iq, label, snr = [], [], []
    for (name, condition), array in sorted(cells.items(), key=lambda item: (item[0][0], str(item[0][1]))):
        iq.append((array[:, 0] + 1j * array[:, 1]).astype(np.complex64))
        label.append(np.full(len(array), classes.index(name)))
        snr.append(np.full(len(array), snr_db(condition, path), np.float32))
    return Frames(np.concatenate(iq), np.concatenate(label).astype(np.int64), np.concatenate(snr), classes)


def snr_db(condition: object, path: Path) -> float:
    """The SNR that a key's second part means."""
    if isinstance(condition, str):
        if condition not in MIGOU_SNR_DB:
            raise FormatError(f"{path.name}: condition {condition!r}; expected an SNR, ota_1m or ota_6m")
        return MIGOU_SNR_DB[condition]
    if isinstance(condition, int | float | np.integer | np.floating):
        return float(condition)
    raise FormatError(f"{path.name}: condition {condition!r} is not an SNR")
