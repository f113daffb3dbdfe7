"""The front end alone on real recordings and on plain noise.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.air ../shared/data/ota433  bursts found, OOK or 2FSK
    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.air --noise 600            false alarms in 600 s of noise

OOK is distinguished from 2FSK by three features of each recording's strongest signal, with a logistic
regression fitted on ten devices per class and tested on unseen devices: the baseline for a model.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hardware.samples import to_complex
from streaming.block import Block, Samples
from streaming.follower import Piece
from streaming.frontend import FrontEnd, FrontEndSettings
from training.signals.conditions import Conditions
from training.signals.stream import Stream, in_turn

NEAR_S = 5e-3  # a burst is found if one begins this near to where rtl_433 found it
DEVICES, SPLITS = 10, 50  # labelled devices per class, random choices of them


def signals(samples: Samples, rate_hz: float) -> list[list[Piece]]:
    """The pieces of each signal in a recording."""
    front = FrontEnd(FrontEndSettings())
    found: list[list[Piece]] = []
    for item in front.push(Block(samples, 0, rate_hz)) + front.flush():
        if isinstance(item, Piece):
            if item.begins:
                found.append([])
            found[-1].append(item)
    return found


def features(pieces: list[Piece]) -> list[float]:
    """How much of the time it is off, how uneven its level is, how far its frequency swings."""
    x = np.concatenate([piece.samples for piece in pieces])
    level = np.abs(x)
    on = level > 0.5 * np.quantile(level, 0.9)
    increment = np.angle(x[1:] * x[:-1].conj())[on[1:] & on[:-1]]
    return [1 - float(on.mean()), float(level.std() / level.mean()), float(increment.std())]


def strength(pieces: list[Piece]) -> float:
    """Energy over the noise, up to a factor: the long and strong signal is the recording's."""
    samples = sum(len(piece.samples) * piece.step for piece in pieces)
    last = pieces[-1].estimate
    return float(samples * 10 ** (last.snr_db / 10) * last.bandwidth)


def classify(x: NDArray[np.float64], is_fsk: NDArray[np.bool_], device: NDArray[np.str_]) -> list[float]:
    """Accuracy on unseen devices, for each random choice of labelled ones."""
    rng, scores = np.random.default_rng(1), []
    for _ in range(SPLITS):
        chosen = np.concatenate(
            [rng.permutation(np.unique(device[is_fsk == c]))[:DEVICES] for c in (False, True)]
        )
        fit = np.isin(device, chosen)
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(x[fit], is_fsk[fit])
        scores.append(float(np.mean(model.predict(x[~fit]) == is_fsk[~fit])))
    return scores


def recordings(folder: Path) -> None:
    """Print what was found in ota433."""
    with open(folder / "labels.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["modulation"]]
    near, table = 0, []
    for row in rows:
        rate_hz = float(row["sample_rate_hz"])
        found = signals(to_complex((folder / row["file"]).read_bytes(), "cu8"), rate_hz)
        begins = np.array([pieces[0].start for pieces in found]) / rate_hz
        near += bool(np.any(np.abs(begins - float(row["first_burst_s"])) < NEAR_S))
        table.append(features(max(found, key=strength)))
    print(f"first burst found within {NEAR_S * 1e3:g} ms: {near} of {len(rows)}")
    is_fsk = np.array([row["modulation"] == "2FSK" for row in rows])
    scores = classify(np.array(table), is_fsk, np.array([row["device"] for row in rows]))
    low, high = np.quantile(scores, [0.05, 0.95])
    print(
        f"OOK from 2FSK, {DEVICES} labelled devices per class, unseen devices: "
        f"{100 * np.mean(scores):.1f} % (90 % of {SPLITS} splits: {100 * low:.1f}..{100 * high:.1f})"
    )


def noise(seconds: float, rate_hz: float = 250e3) -> None:
    """Print the signals found where there are none."""
    conditions = Conditions()
    stream = Stream(in_turn(["noise"], round(seconds * rate_hz), conditions, 1), conditions, 1, level=0.0)
    front, index, begun = FrontEnd(FrontEndSettings()), 0, 0
    while len(samples := stream.next(2**18)):
        out = front.push(Block(samples, index, rate_hz))
        begun += sum(isinstance(item, Piece) and item.begins is not None for item in out)
        index += len(samples)
    print(f"noise for {index / rate_hz:g} s at {rate_hz / 1e3:g} kS/s: {begun} signals found")


def main() -> None:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--noise", type=float, metavar="SECONDS")
    args = parser.parse_args()
    if args.folder:
        recordings(args.folder)
    if args.noise:
        noise(args.noise)


if __name__ == "__main__":
    main()
