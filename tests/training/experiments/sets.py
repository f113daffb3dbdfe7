"""Small files in the formats of MIGOU-MOD and RadioML 2018.01A."""

import pickle

import h5py
import numpy as np

from training.datasets.radioml2018 import CLASSES
from training.experiments.cases import FILES

MIGOU = ("8PSK", "BPSK", "QPSK", "QAM16", "QAM64", "CPFSK", "GFSK", "AM-DSB", "AM-SSB", "PAM4", "WBFM")


def write_migou(folder, frames=60):
    """{(modulation, distance): (n, 2, 128)}."""
    rng = np.random.default_rng(0)
    cells = {
        (name, distance): rng.standard_normal((frames, 2, 128)).astype(np.float32)
        for name in MIGOU
        for distance in ("ota_1m", "ota_6m")
    }
    path = folder / FILES["migou"]
    path.write_bytes(pickle.dumps(cells, protocol=2))
    return path


def write_deepsig(folder, frames=2, samples=64):
    """X, Y and Z in the order of the published file; its frames have 1,024 samples."""
    rng = np.random.default_rng(1)
    snr = np.arange(-20, 32, 2)
    label = np.repeat(np.arange(len(CLASSES)), len(snr) * frames)
    path = folder / FILES["deepsig"]
    with h5py.File(path, "w") as file:
        file["X"] = rng.standard_normal((len(label), samples, 2)).astype(np.float32)
        file["Y"] = np.eye(len(CLASSES), dtype=np.int64)[label]
        file["Z"] = np.tile(np.repeat(snr, frames), len(CLASSES))[:, None]
    return path
