"""Real bursts in the layout of rtl_433's test recordings: labels.csv beside raw recordings.

labels.csv has the columns file, modulation (empty where it is not known), first_burst_s and snr_db. Between
bursts there is only noise, so frames are taken from the first burst on, and only those whose power lies above
the middle, in dB, between the noise and the burst.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hardware.recording import read_recording
from streaming.block import Samples
from streaming.errors import FormatError
from training.datasets.frames import Frames
from training.datasets.recordings import LabelledStretch, all_samples, cut

COLUMNS = {"file", "modulation", "sample_rate_hz", "first_burst_s", "snr_db"}


def read_ota433(folder: Path, samples: int, most: int = 50) -> Frames:
    """Up to `most` frames of each labelled recording; classes in order of their names."""
    found = [
        (stretch.label, bursts(stretch, samples)[:most], stretch.snr_db)
        for stretch in ota433_stretches(folder)
    ]
    classes = tuple(sorted({name for name, _, _ in found}))
    label = [classes.index(name) for name, frames, _ in found for _ in frames]
    snr = [snr_db for _, frames, snr_db in found for _ in frames]
    if not label:
        raise FormatError(f"{folder}: no labelled recording has a burst of {samples} samples")
    iq = np.concatenate([frames for _, frames, _ in found])
    return Frames(iq, np.array(label, np.int64), np.array(snr, np.float32), classes)


def ota433_stretches(folder: Path) -> Iterator[LabelledStretch]:
    """Every labelled recording, from its first burst on."""
    with (folder / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or not rows[0].keys() >= COLUMNS:
        raise FormatError(f"{folder / 'labels.csv'}: expected the columns {', '.join(sorted(COLUMNS))}")
    for row in [row for row in rows if row["modulation"]]:
        if Path(row["file"]).name != row["file"]:
            raise FormatError(f"{folder / 'labels.csv'}: {row['file']!r} is not a file of this folder")
        try:
            rate, first, snr_db = (float(row[key]) for key in ("sample_rate_hz", "first_burst_s", "snr_db"))
        except ValueError:
            raise FormatError(f"labels.csv: {row['file']} lacks a number for rate, burst or SNR") from None
        signal = all_samples(read_recording(folder / row["file"]))
        yield LabelledStretch(row["modulation"], signal, int(first * rate), len(signal), rate, snr_db)


def bursts(stretch: LabelledStretch, samples: int) -> Samples:
    """The frames (n, samples) of the stretch that lie in a burst."""
    every = cut(stretch.recording, samples)
    noise = float(np.median(np.square(np.abs(every)).mean(1))) if len(every) else 0.0
    frames = cut(stretch.samples, samples)
    return np.asarray(frames[np.square(np.abs(frames)).mean(1) > noise * 10 ** (stretch.snr_db / 20)])
