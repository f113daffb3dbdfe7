"""How good a head of the model `radio` is: by SNR, class and family, how well calibrated, what is unknown.

Emissions are made, found and embedded on every core; see `training.datasets.held_out`.
"""

import multiprocessing as mp
import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streaming.band.embedding import EmissionEmbedder
from streaming.head import Head
from streaming.pipeline import choose_head
from streaming.prediction import UNKNOWN
from training.datasets.held_out import evidence_of
from training.datasets.narrow import Recording
from training.evaluation.accuracy import Accuracy
from training.evaluation.exam.sets import opened
from training.progress import Progress
from training.signals.classes import FAMILIES

EDGES_DB = (0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0)
HIGH_DB = 10.0  # the accuracy of families is judged from here on
BINS = 15  # of probability, for the calibration error
Rows = NDArray[np.float32]
Real = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Embedded:
    """Emissions of a set that were found, as a model embeds them; `missed_db` are the SNRs of the others."""

    rows: Rows  # (n, entries)
    number: NDArray[np.int64]  # (n,), in the set
    snr_db: Real  # (n,)
    missed_db: Real  # (m,)


def embed_all(model: str, make: Callable[[int], Recording], count: int, what: str) -> Embedded:
    """The first `count` emissions of a set; `make` must be something that a process can be sent."""
    cores = len(os.sched_getaffinity(0))
    found, missed = list[tuple[Rows, int, float]](), list[float]()
    with ProcessPoolExecutor(cores, mp.get_context("spawn")) as pool, Progress(what, count) as progress:
        made = pool.map(partial(embed_one, model, make), range(count), chunksize=4)
        for number, (row, snr_db) in enumerate(made):
            if row is None:
                missed.append(snr_db)
            else:
                found.append((row, number, snr_db))
            progress.to(number + 1)
    rows, numbers, snrs_db = zip(*found, strict=True)
    return Embedded(np.stack(rows), np.array(numbers), np.array(snrs_db), np.array(missed))


def embed_one(model: str, make: Callable[[int], Recording], number: int) -> tuple[Rows | None, float]:
    """The embedding of one emission, None where it was not found, and its SNR."""
    recording = make(number)
    evidence = evidence_of(recording)
    row = None if evidence is None else embedder_of(model).push([evidence])[0]
    return row, recording.snr_db


@cache
def embedder_of(model: str) -> EmissionEmbedder:
    """The model's embedder, once per process."""
    bundle, engine = opened(model)
    return EmissionEmbedder(bundle, engine, choose_head(bundle, "", "live").window)


@dataclass(frozen=True)
class Judged:
    """Answers beside the truth; refusals count by their likeliest class."""

    truth: NDArray[np.str_]  # (n,)
    said: NDArray[np.str_]  # (n,)
    family: NDArray[np.str_]  # (n,), the likeliest
    sure: Real  # (n,), probability of what was said
    family_sure: Real  # (n,)
    refused: Flags  # (n,)
    snr_db: Real  # (n,)

    @property
    def right(self) -> Flags:
        """Of the class."""
        return np.asarray(self.truth == self.said)

    @property
    def family_right(self) -> Flags:
        """Of the family."""
        return np.asarray(np.array([FAMILIES[name] for name in self.truth.tolist()]) == self.family)


def judge(head: Head, rows: Rows, truth: Sequence[str], snr_db: Real) -> Judged:
    """The head's answers for these embeddings."""
    chosen, probabilities = head.answer(rows)
    together = head.names.family_probabilities(probabilities)
    return Judged(
        np.array(truth),
        np.array(head.classes)[probabilities.argmax(1)],
        np.array(head.names.known_families)[together.argmax(1)],
        probabilities.max(1),
        together.max(1),
        np.asarray(chosen < 0),
        snr_db,
    )


def summary(judged: Judged, missed_db: Real) -> dict[str, Any]:
    """All figures, as JSON; those that end in `high` are from 10 dB on."""
    high = judged.snr_db >= HIGH_DB
    names = list(dict.fromkeys(judged.truth.tolist()))
    return {
        "emissions": len(judged.truth) + len(missed_db),
        "class_high": share(judged.right[high]),
        "family_high": share(judged.family_right[high]),
        "named_high": share((judged.family_right & ~judged.refused)[high]),
        "unknown": share(judged.refused),
        "unknown_high": share(judged.refused[high]),
        "missed": share(np.repeat([True, False], [len(missed_db), len(judged.truth)])),
        "missed_high": share(np.repeat([True, False], [int(np.sum(missed_db >= HIGH_DB)), int(high.sum())])),
        "ece_class": expected_error(judged.sure, judged.right),
        "ece_family": expected_error(judged.family_sure, judged.family_right),
        "by_snr": [
            {"from_db": low, "to_db": up} | both(judged, m)
            for low, up in pairwise(EDGES_DB)
            if (m := (judged.snr_db >= low) & (judged.snr_db < up)).any()
        ],
        "by_class_high": {
            name: both(judged, m) for name in names if (m := high & (judged.truth == name)).any()
        },
        "confusion_high": {
            name: dict(Counter(np.where(judged.refused, UNKNOWN, judged.said)[m].tolist()).most_common())
            for name in names
            if (m := high & (judged.truth == name)).any()
        },
    }


def both(judged: Judged, among: Flags) -> dict[str, dict[str, float]]:
    """Right classes and families among some."""
    return {"class": share(judged.right[among]), "family": share(judged.family_right[among])}


def share(right: Flags) -> dict[str, float]:
    """Per cent, with its 95 % interval."""
    accuracy = Accuracy.of(right)
    low, high = accuracy.interval
    return {"percent": 100 * accuracy.share, "low": 100 * low, "high": 100 * high}


def expected_error(sure: Real, right: Flags) -> float:
    """ECE = sum over bins of (n_b / n) |mean probability - share right|, bins of equal width."""
    number = np.minimum((sure * BINS).astype(int), BINS - 1)
    gaps = [
        abs(float(np.sum(sure[number == b]) - np.sum(right[number == b]))) for b in np.unique(number).tolist()
    ]
    return float(sum(gaps) / len(sure))
