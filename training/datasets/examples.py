"""Examples of simulated emissions: the features of their evidence, and of parts of it, with a label.

Answers are asked for early, too: therefore the parts. Examples are made one by one on every core and kept in
parts in a folder: a run that was stopped goes on, and a second request for the same examples is answered from
there.
"""

import hashlib
import io
import multiprocessing as mp
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streaming.agc import normalise
from streaming.block import Samples
from streaming.features import COUNT, describe
from streaming.files import write_whole
from training.datasets.emissions import part, whole_evidence
from training.progress import Progress

PARTS_OF_EACH = 2  # further examples of each emission: parts of its evidence
PARTS = 20  # files that examples are written in
SEGMENT = 8_192  # samples of each emission that are kept as they are


@dataclass(frozen=True)
class Examples:
    """Features (n, COUNT) of emissions; `number` is the emission, `label` counts in `names`."""

    features: NDArray[np.float32]
    label: NDArray[np.int64]
    number: NDArray[np.int64]
    snr_db: NDArray[np.float32]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Maker:
    """Makes the examples of the i-th emission; a process of its own can do it."""

    names: tuple[str, ...]  # in rotation
    seed: int

    def make(self, i: int) -> "Made | None":
        """What is kept of it; None where it was not found."""
        rng = np.random.default_rng([self.seed, i])
        made = whole_evidence(self.names[i % len(self.names)], rng)
        if made is None:
            return None
        samples, snr_db = made
        views = [samples, *(part(samples, rng) for _ in range(PARTS_OF_EACH))]
        features = np.stack([describe(view, snr_db) for view in views])
        return Made(features, snr_db, segment(samples, rng))


@dataclass(frozen=True)
class Made:
    """Of one emission: the features (n, COUNT) of it and of parts of it, its SNR, dB, and some samples."""

    features: NDArray[np.float32]
    snr_db: float
    segment: NDArray[np.float16]  # (SEGMENT, 2), I and Q at unit power, zeros where it is shorter


def segment(samples: Samples, rng: np.random.Generator) -> NDArray[np.float16]:
    """As many consecutive samples as are kept, from anywhere."""
    first = int(rng.integers(0, max(0, len(samples) - SEGMENT) + 1))
    kept = np.zeros(SEGMENT, np.complex64)
    kept[: min(SEGMENT, len(samples))] = normalise(samples[first : first + SEGMENT])
    return kept.view(np.float32).reshape(SEGMENT, 2).astype(np.float16)


def make_examples(maker: Maker, count: int, folder: Path, what: str) -> Examples:
    """The examples of a maker's first `count` emissions, as far as they were found."""
    name = hashlib.sha256(f"{maker} {count}".encode()).hexdigest()[:12]
    paths = [folder / f"emissions-{name}-{part}.npz" for part in range(PARTS)]
    cores = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(cores, mp.get_context("spawn")) as pool, Progress(what, count) as progress:
        for number, path in enumerate(paths):
            wanted = range(number, count, PARTS)
            if not path.exists():
                write_part(path, wanted, pool.map(maker.make, wanted, chunksize=8))
            progress.to(count * (number + 1) // PARTS)
    parts = []
    for path in paths:
        with np.load(path, allow_pickle=False) as kept:
            parts.append((kept["features"], kept["number"], kept["snr_db"]))
    features, numbers, snr_db = (np.concatenate(same) for same in zip(*parts, strict=True))
    names = tuple(dict.fromkeys(maker.names))
    label = np.array([names.index(name) for name in maker.names])[numbers % len(maker.names)]
    return Examples(features, label, numbers, snr_db, names)


def write_part(path: Path, numbers: range, made: Iterator[Made | None]) -> None:
    """Write what was found of these numbers."""
    found = [(number, one) for number, one in zip(numbers, made, strict=True) if one]
    raw = io.BytesIO()
    np.savez(
        raw,
        number=np.array([number for number, one in found for _ in one.features], np.int64),
        features=np.concatenate([np.empty((0, COUNT), np.float32), *(one.features for _, one in found)]),
        snr_db=np.array([one.snr_db for _, one in found for _ in one.features], np.float32),
        segments=np.stack([np.zeros((SEGMENT, 2), np.float16), *(one.segment for _, one in found)])[1:],
    )
    write_whole(path, raw.getvalue())
