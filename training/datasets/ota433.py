"""Real bursts in the layout of rtl_433's test recordings: labels.csv beside raw recordings.

labels.csv has the columns file, modulation (empty where it is not known), first_burst_s and snr_db. Between
bursts there is only noise, so frames are taken from the first burst on, and only those whose power lies above
the middle, in dB, between the noise and the burst.
"""

import csv
from pathlib import Path

import numpy as np

from hardware.recording import read_recording
from streaming.errors import FormatError
from training.datasets.recordings import all_samples, cut
from training.frames import Frames

COLUMNS = {"file", "modulation", "sample_rate_hz", "first_burst_s", "snr_db"}


def read_ota433(folder: Path, samples: int, most: int = 50) -> Frames:
    """Up to `most` frames of each labelled recording; classes in order of their names."""
    with (folder / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or not rows[0].keys() >= COLUMNS:
        raise FormatError(f"{folder / 'labels.csv'}: expected the columns {', '.join(sorted(COLUMNS))}")
    rows = [row for row in rows if row["modulation"]]
    classes = tuple(sorted({row["modulation"] for row in rows}))
    iq, label, snr = [], [], []
    for row in rows:
        if Path(row["file"]).name != row["file"]:
            raise FormatError(f"{folder / 'labels.csv'}: {row['file']!r} is not a file of this folder")
        try:
            rate, first, snr_db = (float(row[key]) for key in ("sample_rate_hz", "first_burst_s", "snr_db"))
        except ValueError:
            raise FormatError(f"labels.csv: {row['file']} lacks a number for rate, burst or SNR") from None
        signal = all_samples(read_recording(folder / row["file"]))
        frames = bursts(signal, samples, int(first * rate), snr_db)[:most]
        iq.append(frames)
        label += [classes.index(row["modulation"])] * len(frames)
        snr += [snr_db] * len(frames)
    if not label:
        raise FormatError(f"{folder}: no labelled recording has a burst of {samples} samples")
    return Frames(np.concatenate(iq), np.array(label, np.int64), np.array(snr, np.float32), classes)


def bursts(
    signal: np.ndarray[tuple[int], np.dtype[np.complex64]], samples: int, first: int, snr_db: float
) -> np.ndarray[tuple[int, int], np.dtype[np.complex64]]:
    """The frames from sample `first` on that lie in a burst."""
    noise = (
        float(np.median(np.square(np.abs(cut(signal, samples))).mean(1))) if len(signal) >= samples else 0.0
    )
    frames = cut(signal[first:], samples)
    return np.asarray(frames[np.square(np.abs(frames)).mean(1) > noise * 10 ** (snr_db / 20)])
