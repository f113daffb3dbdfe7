"""Data sets in the formats they are published in, and which file is in which."""

from collections.abc import Iterator
from pathlib import Path

from streaming.errors import ConfigError
from training.datasets.frames import Frames
from training.datasets.recordings import LabelledStretch


def open_dataset(path: str | Path, samples: int = 128) -> Frames:
    """All frames of a data set.

    ``samples`` is the length of the frames that recordings are cut into; sets of frames have their own.
    """
    path = Path(path)
    if not path.exists():
        raise ConfigError(f"there is no data set {str(path)!r}")
    if path.is_dir() and (path / "labels.csv").exists():
        from training.datasets.ota433 import read_ota433

        return read_ota433(path, samples)
    if path.is_dir():
        from training.datasets.sigmf_folder import read_sigmf_folder

        return read_sigmf_folder(path, samples)
    if path.suffix in (".hdf5", ".h5"):
        from training.datasets.radioml2018 import RadioMl2018

        with RadioMl2018(path) as data:
            return data.read()
    if path.suffix in (".pkl", ".dat", ".pickle"):
        from training.datasets.radioml2016 import read_radioml2016

        return read_radioml2016(path)
    raise ConfigError(f"{path.name}: expected .hdf5, .pkl, .dat or a folder of recordings")


def open_stretches(path: str | Path) -> Iterator[LabelledStretch]:
    """The labelled stretches of a folder of recordings, with all that was recorded before them."""
    path = Path(path)
    if not path.is_dir():
        raise ConfigError(f"{str(path)!r} is not a folder of recordings; a model with a front end needs one")
    if (path / "labels.csv").exists():
        from training.datasets.ota433 import ota433_stretches

        return ota433_stretches(path)
    from training.datasets.sigmf_folder import sigmf_stretches

    return sigmf_stretches(path)
