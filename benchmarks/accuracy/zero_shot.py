"""How well emissions of real recordings are named by what was learnt from simulation alone.

    band front end -> features of the strongest emission -> projection -> SVM on few simulated emissions

One decision per recording: of the emissions that are neither noise nor a bare carrier the one with the most
energy. Nothing is fitted to the recordings. Simulated emissions are made once and kept in the folder --work.

    python -m benchmarks.accuracy.zero_shot ../shared/data/ota433 ../shared/data/air --work runs/zero-shot
"""

import argparse
import csv
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from hardware import open_source
from streaming.block import merge
from streaming.features import describe
from streaming.projection import Projection
from training.datasets.emissions import OFTEN, OUTLIER, find
from training.datasets.examples import Examples, Maker, make_examples
from training.evaluation.accuracy import Accuracy
from training.heads.projection import Training, fit_projection
from training.signals.classes import FAMILIES, NOISE

STRONGEST = 8  # emissions of a recording that are looked at
LEAST = 1e-4  # of the strongest one's energy
LABELS_SEED = 2


@dataclass(frozen=True)
class Namer:
    """What was learnt: features to class probabilities."""

    projection: Projection
    machine: SVC
    classes: tuple[str, ...]

    def probabilities(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """(n, COUNT) to (n, classes), evened decisions of the machine."""
        votes = self.machine.decision_function(self.projection.push(features)[:, :-1])
        votes = np.exp(votes - votes.max(1, keepdims=True))
        return np.asarray(votes / votes.sum(1, keepdims=True))


def main() -> None:
    """Learn, judge, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, help="recordings with labels.csv (file,modulation)")
    parser.add_argument("--work", type=Path, required=True, help="where simulated emissions are kept")
    parser.add_argument("--known", type=int, default=36_000, help="simulated emissions for the projection")
    parser.add_argument("--outliers", type=int, default=6_000)
    parser.add_argument("--labels", type=int, default=100, help="labelled emissions per class for the SVM")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    namer = learn(args)
    for folder in args.folders:
        for line in judge(folder, namer):
            print(line)


def learn(args: argparse.Namespace) -> Namer:
    """From simulated emissions alone."""
    known = make_examples(Maker(OFTEN, args.seed), args.known, args.work, "emissions")
    outliers = make_examples(Maker((OUTLIER,), args.seed + 1), args.outliers, args.work, "outliers")
    projection = fit_projection(
        known.features, known.label, known.names, outliers.features, args.seed, Training(epochs=args.epochs)
    )
    few = Maker(known.names, args.seed + LABELS_SEED)
    labelled: Examples = make_examples(few, args.labels * len(known.names), args.work, "labelled emissions")
    rows = projection.push(labelled.features)[:, :-1]
    machine = SVC(C=1.0, decision_function_shape="ovr").fit(rows, labelled.label)
    return Namer(projection, machine, known.names)


def judge(folder: Path, namer: Namer) -> Iterator[str]:
    """A line per wrong recording, and one for all."""
    with (folder / "labels.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["modulation"]]
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(partial(features_of, folder), [row["file"] for row in rows], chunksize=4))
    families, classes = list[bool](), list[bool]()
    for row, (features, energy) in zip(rows, found, strict=True):
        said = decide(namer, features, energy) if len(energy) else "nothing found"
        truth = row["modulation"]
        right = FAMILIES.get(said) == FAMILIES[truth]
        families.append(right)
        classes.append(said == truth)
        if not right:
            yield f"  {row['file']:<40} {truth:<12} {said}"
    family, of_class = (Accuracy.of(np.array(right)) for right in (families, classes))
    yield f"{folder.name}, {len(rows)} recordings: right family {family}, right class {of_class}"


def features_of(folder: Path, name: str) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Features (n, COUNT) and energies (n,) of the strongest emissions of a recording."""
    with open_source(f"file:{folder / name}") as source:
        block = merge(list(source.blocks()))
    tracks = sorted(find(block.samples, block.rate_hz), key=lambda one: -one.energy)[:STRONGEST]
    rows = [describe(one.samples, one.box.snr_db) for one in tracks]
    return np.array(rows, np.float32), np.array([one.energy for one in tracks])


def decide(namer: Namer, features: NDArray[np.float32], energy: NDArray[np.float64]) -> str:
    """The likeliest class of the likeliest family of the strongest emission that is not a spur."""
    probabilities = namer.probabilities(features)
    family = np.array([FAMILIES[name] for name in namer.classes])
    best = ""
    for row, strength in zip(probabilities, energy.tolist(), strict=True):
        together = {of: float(row[family == of].sum()) for of in dict.fromkeys(family.tolist())}
        likeliest = max(together, key=together.__getitem__)
        said = namer.classes[int(np.where(family == likeliest, row, -1).argmax())]
        best = best or said
        if likeliest not in (NOISE, "carrier") and strength >= LEAST * energy[0]:
            return said
    return best


if __name__ == "__main__":
    main()
