"""Few labels of real recordings on top of a model: right families of recordings from other sources.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.devices FOLDER [BUNDLE] [--labels 5 10] [--out OUT]

FOLDER has a labels.csv, as for `wavetell evaluate --recordings`. Its sources (devices, repositories) are
dealt into five folds at random. The recordings of each fold are answered by a head that was fitted, in the
model's embedding, on a few recordings per class of the other folds' sources, beside the shipped head's own
support vectors: classes without a label keep what simulation taught. One decision per recording, on its
strongest emission; unknown and nothing found count as wrong. The row with 0 labels is the shipped head.
Prints a table and writes OUT.json.
"""

import argparse
import json
import multiprocessing as mp
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardware import open_source
from streaming.bundle import Bundle, load_bundle
from streaming.head import Head
from streaming.pipeline import choose_head
from training.datasets.held_out import energy, last_questions
from training.evaluation.accuracy import Accuracy
from training.evaluation.exam.emissions import CARRIER
from training.evaluation.exam.labels import Truth, families_of, read_label
from training.evaluation.exam.recordings import read_labels
from training.evaluation.exam.sets import opened
from training.evaluation.radio_evaluate import Rows, embedder_of
from training.heads.fit import Identity, fit_live
from training.heads.search import Search
from training.progress import Progress
from training.signals.classes import NOISE

FOLDS = 5
SEARCH = Search(C=(10.0,), gamma=(1.0,), folds=3, refuse=0.0, penalties=(3.0,))


@dataclass(frozen=True)
class Heard:
    """A recording's truth, and the embedding of its strongest emission; None where nothing was found."""

    source: str
    truth: Truth
    row: Rows | None  # (entries,)


def strongest(model: str, address: str) -> Rows | None:
    """The embedding of the emission that the exam would choose (`training.evaluation.exam.recordings`)."""
    with open_source(address) as source:
        questions = last_questions(source.blocks())
    if not questions:
        return None
    head = choose_head(opened(model)[0], "", "live")
    rows = embedder_of(model).push([(question.samples, question.box.snr_db) for question in questions])
    names, _ = head.name_all(rows)
    found = [i for i, name in enumerate(names) if name.label != NOISE]
    best = max(found, key=lambda i: (names[i].family != CARRIER, energy(questions[i])), default=None)
    return None if best is None else rows[best]


def taught(bundle: Bundle, head: Head, labelled: Sequence[Heard]) -> Head:
    """A head that knows these recordings, too."""
    own = np.repeat(np.array(head.classes), head.counts)  # of the support vectors
    names = [one.truth.label for one in labelled if one.truth.label]
    rows = [one.row for one in labelled if one.row is not None]
    vectors = np.pad(head.vectors * head.scale + head.mean, ((0, 0), (0, 1)))  # without odds of an outlier
    classes = tuple(dict.fromkeys([*head.classes, *names]))
    labels = np.array([classes.index(name) for name in [*own.tolist(), *names]])
    identity = Identity("taught", classes, "live", head.window, head.hop, head.encoder_sha256)
    together = np.concatenate([vectors, *[row[None] for row in rows]]).astype(np.float32)
    fitted = fit_live(bundle, together, labels, identity, SEARCH).head
    families = tuple(families_of(head).get(name) or read_label(name).family for name in fitted.classes)
    return replace(fitted, families=families, certain=head.certain, outlier_limit=head.outlier_limit)


def choose(recordings: Sequence[Heard], each: int, rng: np.random.Generator) -> list[Heard]:
    """At most `each` recordings of every class."""
    chosen = list[Heard]()
    for i in rng.permutation(len(recordings)).tolist():
        one = recordings[i]
        same = sum(other.truth.label == one.truth.label for other in chosen)
        if one.row is not None and one.truth.label and same < each:
            chosen.append(one)
    return chosen


def right(head: Head, one: Heard) -> bool:
    """Whether the head names the recording's family."""
    if one.row is None:
        return one.truth.family == NOISE
    ((name,), _) = head.name_all(one.row[None])
    return name.family == one.truth.family


def split(bundle: Bundle, head: Head, recordings: Sequence[Heard], each: int, seed: int) -> NDArray[np.bool_]:
    """Whether each recording is named rightly by a head that has heard nothing of its source."""
    rng = np.random.default_rng(seed)
    sources = sorted({one.source for one in recordings})
    fold = dict(zip(sources, rng.permutation(len(sources)) % FOLDS, strict=True))
    out = np.zeros(len(recordings), np.bool_)
    for number in range(FOLDS):
        others = [one for one in recordings if fold[one.source] != number]
        fitted = taught(bundle, head, choose(others, each, rng))
        for i, one in enumerate(recordings):
            if fold[one.source] == number:
                out[i] = right(fitted, one)
    return out


def as_row(each: int, found: Sequence[NDArray[np.bool_]]) -> dict[str, Any]:
    """Per cent over all splits; the interval counts every recording once."""
    mean, count = float(np.mean(found)), len(found[0])
    low, high = Accuracy(round(mean * count), count).interval
    shares = [100 * float(np.mean(one)) for one in found]
    return {"labels": each, "percent": 100 * mean, "low": 100 * low, "high": 100 * high, "splits": shares}


def main() -> None:
    """Evaluate, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("bundle", nargs="?", default="radio")
    parser.add_argument("--labels", type=int, nargs="*", default=[5, 10], help="recordings per class")
    parser.add_argument("--splits", type=int, default=3, help="random choices of folds and labels")
    parser.add_argument("--out", type=Path, default=Path("runs/radio/devices"))
    args = parser.parse_args()
    bundle = load_bundle(args.bundle)
    head = choose_head(bundle, "", "live")
    labelled, _ = read_labels(args.folder, families_of(head))
    cores = len(os.sched_getaffinity(0))
    with (
        ProcessPoolExecutor(cores, mp.get_context("spawn")) as pool,
        Progress("listening", len(labelled)) as progress,
    ):
        rows = list[Rows | None]()
        for row in pool.map(partial(strongest, args.bundle), [one.address for one in labelled]):
            rows.append(row)
            progress.to(len(rows))
    recordings = [Heard(one.source, one.truth, row) for one, row in zip(labelled, rows, strict=True)]
    table = [as_row(0, [np.array([right(head, one) for one in recordings])])]
    for each in args.labels:
        splits = [split(bundle, head, recordings, each, seed) for seed in range(args.splits)]
        table.append(as_row(each, splits))
    print(f"{len(recordings)} recordings of {len({one.source for one in recordings})} sources")
    print(f"{'labels per class':<20}right family, % (95 % interval)   splits")
    for line in table:
        span = f"{line['percent']:.1f} ({line['low']:.1f}-{line['high']:.1f})"
        print(f"{line['labels']:<20}{span:<34}" + ", ".join(f"{share:.1f}" for share in line["splits"]))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    result = {"bundle": bundle.sha256, "folder": str(args.folder), "rows": table}
    args.out.with_suffix(".json").write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
