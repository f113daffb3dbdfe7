"""Training data of the open-set detector of `radio`: features of simulated known signals and of outliers.

Outliers are of two sorts: simulated signals of no class (`training.signals.outliers`), and *feature mixup*,
which mixes the features of two known signals of different families and needs no guess at what an outlier may
look like.

Signals are made one by one on every core; only their features are kept. Parts of the whole are kept in a
folder: a run that was stopped goes on, and a second request for the same data is answered from there.
"""

import hashlib
import io
import multiprocessing as mp
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streaming.errors import ConfigError
from streaming.features import ABOUT, COUNT, extract
from streaming.files import write_whole
from training.datasets.radio_signals import first_found
from training.progress import Progress
from training.signals.classes import FAMILIES, log_uniform
from training.signals.conditions import Conditions
from training.signals.emission import Emission
from training.signals.outliers import Outlier, make_outlier

OPEN_SET = 1_000_003  # second word of a seed: what the signals are for
HELD = 5  # every fifth known signal is held out for the limit
LIKE = "~"  # before a family that an outlier is not made of
PARTS = 10  # files that the data are written in
RIVALS = 12  # signals from which the partner of a mixup is chosen
SHORT, SHORTEST = 0.2, 256  # share of signals shorter than a window, and the shortest
Rows = NDArray[np.float32]


@dataclass(frozen=True)
class OpenSetData:
    """Features of known signals and of outliers."""

    known: Rows  # (n, COUNT)
    family: NDArray[np.str_]  # (n,)
    held: NDArray[np.bool_]  # (n,), held out from fitting, for the limit
    outliers: Rows  # (m, COUNT)
    related: tuple[str, ...]  # (m,), families an outlier is made of, with "~" those it resembles; by commas

    def without(self, family: str, like: bool = True) -> "OpenSetData":
        """The data without a family, outliers made of it and, where `like`, those that resemble it."""
        out = {family, LIKE + family} if like else {family}
        known = self.family != family
        keep = [i for i, names in enumerate(self.related) if out.isdisjoint(names.split(","))]
        of = tuple(self.related[i] for i in keep)
        return OpenSetData(self.known[known], self.family[known], self.held[known], self.outliers[keep], of)


@dataclass(frozen=True)
class Maker:
    """Makes one signal after the other; a process of its own can do it."""

    classes: tuple[str, ...]
    samples: int
    window: int  # samples that features are extracted from, at most
    conditions: Conditions
    seed: int
    known: int  # signals, the classes in rotation
    outliers: int  # signals after them

    def __post_init__(self) -> None:
        if len(self.classes) % HELD == 0:
            raise ConfigError(f"{len(self.classes)} classes: of some all would be held out, of some none")

    def make(self, i: int) -> tuple[Rows, str]:
        """Features of the i-th signal, and the families that an outlier is related to."""
        draw = self.outlier
        if i < self.known:
            draw = partial(Emission, self.classes[i % len(self.classes)], self.conditions)
        word = int(np.random.SeedSequence([self.seed, OPEN_SET]).generate_state(1, np.uint32)[0])
        signal, emission, _ = first_found(draw, self.samples, self.conditions, word, i)
        related, made = "", emission.modulator
        if isinstance(made, Outlier):
            related = ",".join([*sorted(made.of), *(LIKE + family for family in sorted(made.like))])
        return extract(signal[-self.length(i) :]), related

    def outlier(self, rng: np.random.Generator) -> Emission:
        """An emission of no class."""
        return Emission("outlier", self.conditions, rng, make_outlier(self.classes, rng))

    def length(self, i: int) -> int:
        """Samples that features are extracted from: a window, or less, since bursts are often shorter."""
        rng = np.random.default_rng([self.seed, OPEN_SET, i])
        return int(log_uniform(rng, SHORTEST, self.window)) if rng.random() < SHORT else self.window


def feature_mixup(known: Rows, family: NDArray[np.str_], rng: np.random.Generator) -> Rows:
    """A mixture (n, COUNT) of each known signal and the nearest of RIVALS others that is of another family.

    In rotation it is a weighted mean, has half of the feature groups from each, or all but one from the
    other.
    """
    count = len(known)
    z = (known - known.mean(0)) / (known.std(0) + 1e-6)
    others = rng.integers(count, size=(RIVALS, count))
    apart = np.stack([np.square(z - z[other]).sum(1) for other in others])
    apart[family[others] == family] = np.inf
    other = others[apart.argmin(0), np.arange(count)]
    way, groups = np.arange(count)[:, None] % 3, int(ABOUT.max()) + 1
    order = rng.random((count, groups)).argsort(1)
    taken = (order < np.where(way == 1, groups // 2, 1))[:, ABOUT]
    share = np.where(way == 0, rng.uniform(0.25, 0.75, (count, 1)), taken)
    return np.asarray(share * known + (1 - share) * known[other], np.float32)


def make_data(maker: Maker, folder: Path) -> OpenSetData:
    """All signals of a maker."""
    total = maker.known + maker.outliers
    name = hashlib.sha256(repr(maker).encode()).hexdigest()[:12]
    paths = [folder / f"open-set-{name}-{part}.npz" for part in range(PARTS)]
    cores, done = len(os.sched_getaffinity(0)), 0
    with (
        ProcessPoolExecutor(cores, mp.get_context("spawn")) as pool,
        Progress("signals for the open-set detector", total) as progress,
    ):
        for part, path in enumerate(paths):
            numbers, rows = range(part, total, PARTS), list[tuple[Rows, str]]()
            for row in [] if path.exists() else pool.map(maker.make, numbers, chunksize=20):
                rows.append(row)
                progress.to(done + len(rows))
            if rows:
                raw = io.BytesIO()
                np.savez(raw, features=np.stack([row for row, _ in rows]), related=[of for _, of in rows])
                write_whole(path, raw.getvalue())
            done += len(numbers)
    features = np.empty((total, COUNT), np.float32)
    related = [""] * total
    for part, path in enumerate(paths):
        with np.load(path, allow_pickle=False) as kept:
            features[part::PARTS], related[part::PARTS] = kept["features"], kept["related"].tolist()
    family = [FAMILIES[maker.classes[i % len(maker.classes)]] for i in range(maker.known)]
    n = maker.known
    held = np.arange(n) % HELD == 0  # the same share of every class: their number is not a multiple of it
    return OpenSetData(features[:n], np.array(family), held, features[n:], tuple(related[n:]))
