"""Whose frames: the clients of one column of a table, at a scale and with a seed.

Synthetic frames are made here. Measured ones come from the sets' own files, divided among clients class by
class from Dirichlet(alpha); where the paper asks for more frames than a set holds (2,500 for each of four
clients of DeepSig's 4,096 per class and SNR), the clients get what there is.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from streaming.errors import ConfigError
from training.datasets import open_dataset
from training.datasets.frames import Frames
from training.datasets.partition import clustered, split
from training.datasets.radioml2018 import RadioMl2018
from training.datasets.synthetic import Heterogeneity, make_frames, paper_clients, scaled
from training.evaluation.evaluate import fresh_frames, labelled_frames, word
from training.experiments.scale import Scale
from training.methods.base import ClientFrames
from training.methods.precision import Precision
from training.pretraining.rounds import UNLABELLED

FILES = {"migou": "migou_dataset_19.08_400000x128.pkl", "deepsig": "GOLD_XYZ_OSC.0001_1024.hdf5"}
VALIDATION = 1_000_003  # third word of a seed; see training.evaluation.evaluate
FOUR = (1, 1, 1, 1)
FEWEST = 16  # frames below which a client of a measured set is left out
CELL, CELL_LABELLED = 2_500, 0.2  # DeepSig: frames per client, class and SNR, and the share with labels
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Case:
    """The clients of one column."""

    set: Literal["synthetic", "migou", "deepsig"] = "synthetic"
    labels: int = 2_800  # a client
    unlabelled: int = 140_000
    heterogeneity: Heterogeneity = "labels"
    unit_power: bool = True
    precision: tuple[Precision, ...] = ("float32",) * 4
    alpha: float = 0.1  # of measured sets
    clusters: tuple[int, ...] = FOUR  # clients in each

    @property
    def measured(self) -> bool:
        """Whether the frames are in a file."""
        return self.set != "synthetic"


@dataclass(frozen=True)
class Opened:
    """Clients, and the frames that they are tested on."""

    clients: list[ClientFrames]
    tests: list[Frames]


def missing(case: Case, data: Path) -> Path | None:
    """The file that the case needs and that is not there."""
    path = data / FILES[case.set] if case.measured else None
    return path if path is not None and not path.exists() else None


def open_case(case: Case, scale: Scale, seed: int, data: Path) -> Opened:
    """Make or read all frames."""
    path = missing(case, data)
    if path is not None:
        raise ConfigError(f"the set {case.set} is not there; put {path.name} into {path.parent}/")
    if case.set == "synthetic":
        return synthetic(case, scale, seed)
    return migou(case, scale, seed, data) if case.set == "migou" else deepsig(case, scale, seed, data)


def synthetic(case: Case, scale: Scale, seed: int) -> Opened:
    """The paper's four clients."""
    labels, unlabelled = max(28, round(case.labels * scale.labels)), round(case.unlabelled * scale.unlabelled)
    drawn = paper_clients(labels, scale.test, unlabelled, case.heterogeneity, case.unit_power)
    clients = []
    for i, client in enumerate(drawn):
        apart = make_frames(client.signal, scaled(client.test, scale.validation), word(seed, i, VALIDATION))
        clients.append(
            ClientFrames(
                client.name,
                nameless(make_frames(client.signal, client.unlabelled, word(seed, i, UNLABELLED))),
                plain(labelled_frames(client, i, seed)),
                plain(apart),
                case.precision[i],
                client.signal,
                client.test,
            )
        )
    return Opened(clients, [plain(fresh_frames(client, i, seed)) for i, client in enumerate(drawn)])


def migou(case: Case, scale: Scale, seed: int, data: Path) -> Opened:
    """MIGOU-MOD: so many labelled and unlabelled frames per client."""
    frames = whole(data / FILES["migou"])
    wanted = (round(case.labels * scale.labels), scale.test, scale.validation)
    most = sum(wanted) + round(case.unlabelled * scale.unlabelled)
    parts = []
    for i, rows in enumerate(clustered(frames.label, case.clusters, case.alpha, seed, most)):
        if len(rows) >= FEWEST:
            sizes = [min(size, len(rows) // 4) for size in wanted]
            parts.append(divided(f"client-{i + 1}", frames, rows, sizes, seed))
    return joined(parts)


def deepsig(case: Case, scale: Scale, seed: int, data: Path) -> Opened:
    """DeepSig 2018.01A: a fifth of a client's frames have labels; only what is needed is read."""
    parts = []
    with RadioMl2018(data / FILES["deepsig"]) as file:
        for i, rows in enumerate(clustered(file.label, case.clusters, case.alpha, seed)):
            kept = capped(rows, file.label, file.snr_db, max(4, round(CELL * scale.unlabelled)))
            if len(kept) >= FEWEST:
                labelled = round(CELL_LABELLED * len(kept))
                sizes = [labelled, min(scale.test, labelled), min(scale.validation, labelled // 2)]
                mine = file.read(kept)
                parts.append(divided(f"client-{i + 1}", mine, np.arange(len(mine)), sizes, seed))
    return joined(parts)


def joined(parts: list[tuple[ClientFrames, Frames]]) -> Opened:
    """Clients and their test frames."""
    return Opened([client for client, _ in parts], [test for _, test in parts])


def capped(rows: Rows, label: Rows, snr_db: NDArray[np.float32], most: int) -> Rows:
    """At most so many rows of each class and SNR."""
    cell = label[rows] * 1_000 + snr_db[rows].astype(np.int64)
    return np.concatenate([rows[cell == c][:most] for c in np.unique(cell)])


def divided(
    name: str, frames: Frames, rows: Rows, sizes: list[int], seed: int
) -> tuple[ClientFrames, Frames]:
    """A client with these numbers of labelled, test and validation frames, and its test frames."""
    labelled, test, validation = sizes
    rest, mine, apart = split(rows, labelled, test + validation, seed)
    client = ClientFrames(name, nameless(frames.take(rest)), frames.take(mine), frames.take(apart[test:]))
    return client, frames.take(apart[:test])


@lru_cache(maxsize=1)
def whole(path: Path) -> Frames:
    """All frames of a file, read once."""
    return open_dataset(path)


def plain(frames: Frames) -> Frames:
    """Frames without what only their maker knows."""
    return Frames(frames.iq, frames.label, frames.snr_db, frames.classes)


def nameless(frames: Frames) -> Frames:
    """Frames without labels."""
    return Frames(frames.iq, np.full(len(frames), -1), frames.snr_db, frames.classes)
