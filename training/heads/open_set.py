"""What the sense for strangers of the model `radio` is shown: measures of many signals, known and strange.

Beside strangers that are signals there are *crosses*, which are none: measures of two known signals of
different families, mixed. They need nobody who imagines what a stranger may be like.

Signals are made one by one on every core, measured and dropped. Parts of the whole are kept in a folder: a
run that was stopped goes on, and whoever asks again for the same gets it at once.
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
from training.signals.outliers import Stranger, make_stranger

SHOWN = 1_000_003  # second word of a seed: what the signals are for
HELD = 5  # every so many-th known signal is held back for the limit
LIKE = "~"  # before a family that a stranger is not made of
PARTS = 10  # files that the whole is made in
RIVALS = 12  # from which the other parent of a cross is chosen
SHORT, SHORTEST = 0.2, 256  # share of signals of which less than a window is measured, and the least of it
Measured = NDArray[np.float32]


@dataclass(frozen=True)
class Shown:
    """Features of known signals and of strangers."""

    known: Measured  # (n, COUNT)
    family: NDArray[np.str_]  # (n,)
    held: NDArray[np.bool_]  # (n,), not to be fitted on: for the limit alone
    strange: Measured  # (m, COUNT)
    kin: tuple[str, ...]  # (m,), families that a stranger is made of, and with "~" those it is like; commas

    def without(self, family: str, like: bool = True) -> "Shown":
        """As if nobody had heard of this family: without strangers made of it, and without those like it."""
        out = {family, LIKE + family} if like else {family}
        known = self.family != family
        keep = [i for i, kin in enumerate(self.kin) if out.isdisjoint(kin.split(","))]
        kin = tuple(self.kin[i] for i in keep)
        return Shown(self.known[known], self.family[known], self.held[known], self.strange[keep], kin)


@dataclass(frozen=True)
class Maker:
    """Makes one signal after the other; a process of its own can do it."""

    classes: tuple[str, ...]
    samples: int
    window: int  # the most that is measured of a signal
    conditions: Conditions
    seed: int
    known: int  # signals; classes take turns
    strange: int  # signals behind them

    def __post_init__(self) -> None:
        if len(self.classes) % HELD == 0:
            raise ConfigError(f"{len(self.classes)} classes: of some all would be held back, of some none")

    def make(self, i: int) -> tuple[Measured, str]:
        """Features of the i-th signal, and a stranger's kin."""
        draw = self.stranger
        if i < self.known:
            draw = partial(Emission, self.classes[i % len(self.classes)], self.conditions)
        word = int(np.random.SeedSequence([self.seed, SHOWN]).generate_state(1, np.uint32)[0])
        signal, emission, _ = first_found(draw, self.samples, self.conditions, word, i)
        kin, made = "", emission.modulator
        if isinstance(made, Stranger):
            kin = ",".join([*sorted(made.of), *(LIKE + family for family in sorted(made.like))])
        return extract(signal[-self.length(i) :]), kin

    def stranger(self, rng: np.random.Generator) -> Emission:
        """An emission of no class."""
        return Emission("stranger", self.conditions, rng, make_stranger(self.classes, rng))

    def length(self, i: int) -> int:
        """How many samples are measured: a window, or less, since bursts are often shorter."""
        rng = np.random.default_rng([self.seed, SHOWN, i])
        return int(log_uniform(rng, SHORTEST, self.window)) if rng.random() < SHORT else self.window


def crosses(known: Measured, family: NDArray[np.str_], rng: np.random.Generator) -> Measured:
    """A cross (n, COUNT) for each known signal and the nearest of RIVALS others that is of another family.

    In turn it is their mean, has half of what is measured from the one, or all but one thing from the other.
    """
    count = len(known)
    z = (known - known.mean(0)) / (known.std(0) + 1e-6)
    others = rng.integers(count, size=(RIVALS, count))
    apart = np.stack([np.square(z - z[other]).sum(1) for other in others])
    apart[family[others] == family] = np.inf
    other = others[apart.argmin(0), np.arange(count)]
    way, things = np.arange(count)[:, None] % 3, int(ABOUT.max()) + 1
    order = rng.random((count, things)).argsort(1)
    taken = (order < np.where(way == 1, things // 2, 1))[:, ABOUT]
    share = np.where(way == 0, rng.uniform(0.25, 0.75, (count, 1)), taken)
    return np.asarray(share * known + (1 - share) * known[other], np.float32)


def make_shown(maker: Maker, folder: Path) -> Shown:
    """All signals of a maker."""
    total = maker.known + maker.strange
    name = hashlib.sha256(repr(maker).encode()).hexdigest()[:12]
    paths = [folder / f"sense-{name}-{part}.npz" for part in range(PARTS)]
    cores, done = len(os.sched_getaffinity(0)), 0
    with (
        ProcessPoolExecutor(cores, mp.get_context("spawn")) as pool,
        Progress("signals for the sense", total) as progress,
    ):
        for part, path in enumerate(paths):
            numbers, rows = range(part, total, PARTS), list[tuple[Measured, str]]()
            for row in [] if path.exists() else pool.map(maker.make, numbers, chunksize=20):
                rows.append(row)
                progress.to(done + len(rows))
            if rows:
                raw = io.BytesIO()
                np.savez(raw, measured=np.stack([row for row, _ in rows]), kin=[kin for _, kin in rows])
                write_whole(path, raw.getvalue())
            done += len(numbers)
    measured = np.empty((total, COUNT), np.float32)
    kin = [""] * total
    for part, path in enumerate(paths):
        with np.load(path, allow_pickle=False) as kept:
            measured[part::PARTS], kin[part::PARTS] = kept["measured"], kept["kin"].tolist()
    family = [FAMILIES[maker.classes[i % len(maker.classes)]] for i in range(maker.known)]
    n = maker.known
    held = np.arange(n) % HELD == 0  # of every class alike, since their number is no multiple of it
    return Shown(measured[:n], np.array(family), held, measured[n:], tuple(kin[n:]))
