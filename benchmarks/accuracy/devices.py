"""The model `radio` on real bursts: OOK or 2FSK, in recordings of devices without a label.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.devices ../shared/data/ota433 [BUNDLE] [--out OUT]

Each recording's strongest signal goes through front end, engine and window as live; a head is fitted on ten
labelled devices per class and gives one decision for each recording of all other devices: the class with the
largest mean probability over its windows. Fifty random choices of the labelled devices, those of
`benchmarks.accuracy.air`, whose three features and logistic regression are the baseline. Prints a table,
writes OUT.json and OUT.png.
"""

import argparse
import csv
import json
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.air import DEVICES, SPLITS, classify, features, signals, strength
from hardware.samples import to_complex
from streaming.bundle import Bundle, load_bundle
from streaming.engine import Engine, open_engine
from streaming.features import Features
from streaming.follower import Piece
from streaming.window import Window
from training.evaluation.accuracy import Accuracy
from training.heads.fit import Identity, feature_weights, fit_head
from training.heads.search import Search

CLASSES = ("OOK", "2FSK")
WINDOW, HOP = 1_024, 64  # short bursts have only a few hundred samples at the model's rate
MOST = 8  # windows of a recording that a head is fitted on
SEARCH = Search(C=(0.1, 1.0, 10.0), gamma=(0.25, 1.0), refuse=0.0)


@dataclass(frozen=True)
class Recording:
    """One recording's truth and its windows' embeddings."""

    device: str
    label: int
    embeddings: NDArray[np.float32]  # (windows, outputs + features)


def embed(bundle: Bundle, engine: Engine, pieces: list[Piece]) -> NDArray[np.float32]:
    """Every full window of a signal, or the last one of a signal that is too short for any."""
    samples = np.concatenate([piece.samples for piece in pieces])
    stream, window = engine.stream(), Window(bundle.encoder, HOP, WINDOW)
    missing = max(0, HOP - len(samples))
    samples = np.pad(samples, (0, missing), mode="wrap") if missing else samples
    rows = np.concatenate([window.push(stream.push(samples)), Features(HOP, WINDOW).push(samples)], 1)
    stream.close()
    return rows[window.warm] if window.warm.any() else rows[-1:]


def decide(recordings: list[Recording], chosen: NDArray[np.str_]) -> list[tuple[int, bool]]:
    """The number of each recording of an unlabelled device, and whether its decision is right."""
    known = [r for r in recordings if r.device in chosen]
    picked = [r.embeddings[np.linspace(0, len(r.embeddings) - 1, MOST).astype(int)] for r in known]
    labels = np.repeat(np.array([r.label for r in known], np.int64), MOST)
    identity = Identity("devices", CLASSES, "live", WINDOW, HOP, "")
    head = fit_head(
        np.concatenate(picked), labels, identity, SEARCH, feature_weights(picked[0].shape[1])
    ).head
    return [
        (i, int(head.probabilities(r.embeddings).mean(0).argmax()) == r.label)
        for i, r in enumerate(recordings)
        if r.device not in chosen
    ]


def main() -> None:
    """Evaluate, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("bundle", nargs="?", default="radio")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--out", type=Path, default=Path("runs/radio/devices"))
    args = parser.parse_args()
    bundle = load_bundle(args.bundle)
    engine = open_engine(bundle.encoder, HOP)
    with open(args.folder / "labels.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["modulation"]]
    recordings, table = list[Recording](), list[list[float]]()
    for row in rows:
        raw = to_complex((args.folder / row["file"]).read_bytes(), "cu8")
        pieces = max(signals(raw, float(row["sample_rate_hz"])), key=strength)
        recordings.append(
            Recording(row["device"], CLASSES.index(row["modulation"]), embed(bundle, engine, pieces))
        )
        table.append(features(pieces))
    label = np.array([r.label for r in recordings])
    device = np.array([r.device for r in recordings])
    floor = classify(np.array(table), label == 1, device)
    rng, scores, wrong = np.random.default_rng(1), list[float](), np.zeros(len(recordings))
    tested = np.zeros(len(recordings))
    for _ in range(args.splits):
        chosen = np.concatenate([rng.permutation(np.unique(device[label == c]))[:DEVICES] for c in (0, 1)])
        found = decide(recordings, chosen)
        scores.append(float(np.mean([right for _, right in found])))
        for i, right in found:
            tested[i] += 1
            wrong[i] += not right
    report(args.out, bundle, [scores, floor], wrong / np.maximum(tested, 1), rows)


def report(
    out: Path,
    bundle: Bundle,
    scores: list[list[float]],
    wrong: NDArray[np.float64],
    rows: list[dict[str, str]],
) -> None:
    """Print the table; write JSON and picture."""
    result: dict[str, object] = {
        "bundle": bundle.sha256,
        "recordings": len(rows),
        "labelled devices": DEVICES,
    }
    for name, values in zip(("radio", "three features"), scores, strict=True):
        low, high = np.quantile(values, [0.05, 0.95])
        mean = float(np.mean(values))
        wilson = Accuracy(round(mean * len(rows)), len(rows)).interval  # as if each recording counted once
        result[name] = {
            "percent": 100 * mean,
            "splits_5_95": [100 * float(low), 100 * float(high)],
            "interval_95": [100 * wilson[0], 100 * wilson[1]],
        }
        print(
            f"{name:<16}{100 * mean:5.1f} % of unseen devices' recordings (95 % interval over {len(rows)} "
            f"recordings {100 * wilson[0]:.1f}-{100 * wilson[1]:.1f}; 90 % of {len(values)} splits "
            f"{100 * low:.1f}..{100 * high:.1f})"
        )
    worst = [int(i) for i in np.argsort(-wrong)[:8] if wrong[i] > 0]
    result["worst"] = [
        {"file": rows[i]["file"], "device": rows[i]["device"], "wrong": float(wrong[i])} for i in worst
    ]
    print("most often wrong: " + ", ".join(f"{rows[i]['device']} ({100 * wrong[i]:.0f} %)" for i in worst))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.with_suffix(".json").write_text(json.dumps(result, indent=1))
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    axes.boxplot([[100 * s for s in values] for values in scores], orientation="horizontal")
    axes.set_yticks([1, 2], ["radio", "three features"])
    axes.set(xlabel="recordings of unseen devices classified right, %")
    figure.savefig(out.with_suffix(".png"), dpi=120)


if __name__ == "__main__":
    main()
