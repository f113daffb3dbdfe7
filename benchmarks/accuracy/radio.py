"""The model `radio` on the generator's held-out signals: by SNR, class and family, with few labels, unknowns.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.radio [BUNDLE] [--each 30] [--out runs/radio/accuracy]

Test signals are fresh emissions behind the front end, seeds of their own, one window each. Few-label rows fit
new heads on 5, 10 and 50 of the labels that the shipped head was fitted on, beside cumulants with the same
SVM and a supervised network of the same shape. Unknown: each family left out of fitting in turn. Prints a
table and writes OUT.json and OUT.png.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import torch
from numpy.typing import NDArray

from streaming.bundle import load_bundle
from streaming.bundle_meta import EvaluationRow, SnrPoint
from training.datasets.partition import label_budget
from training.datasets.radio_signals import Signals
from training.evaluation.cumulants import cumulants
from training.evaluation.radio_evaluate import (
    HIGH_DB,
    Embeddings,
    judge,
    share,
    summary,
    test_signals,
    unseen,
)
from training.evaluation.radio_rival import rival_says, train_rival
from training.heads.fit import Identity, feature_weights, fit_head
from training.heads.radio_fit import SEARCH, WINDOW, embed_signals, labelled_signals, open_set_signals
from training.pretraining.recipes import RECIPES
from training.signals.classes import FAMILIES

FEW = (5, 10, 50)
ALARMS = ("flagged", "false alarms", "flagged_high", "false alarms_high", "flagged_at_5")
STEPS = {5: 100, 10: 150, 50: 250}  # of the supervised network


def few_labels(fit: Signals, test: Signals, e_fit: Embeddings, e_test: Embeddings) -> list[dict[str, Any]]:
    """Class and family accuracy at 10 dB and above for each number of labels per class."""
    high, rows = test.snr_db >= HIGH_DB, []
    features = cumulants(fit.iq[:, -WINDOW:]), cumulants(test.iq[:, -WINDOW:])
    family = np.array([FAMILIES[name] for name in fit.classes])
    identity = Identity("few", fit.classes, "live", WINDOW, WINDOW, "")

    def row(method: str, each: int, said: NDArray[np.int64]) -> dict[str, Any]:
        right, of = said == test.label, family[said] == family[test.label]
        return {
            "method": method,
            "labels": each,
            "class_high": share(right[high]),
            "family_high": share(of[high]),
        }

    for each in FEW:
        keep = label_budget(fit.label, each * len(fit.classes), 0)
        labels = fit.label[keep]
        search = replace(SEARCH, folds=min(5, each))
        for method, (a, b) in {"radio": (e_fit, e_test), "cumulants": features}.items():
            counting = feature_weights(a.shape[1]) if method == "radio" else None
            head = fit_head(a[keep], labels, identity, search, counting).head
            rows.append(row(method, each, head.probabilities(b).argmax(1)))
        recipe = RECIPES["radio"]
        network = train_rival(recipe.shape, recipe.start, fit.iq[keep], labels, steps=STEPS[each], seed=0)
        rows.append(row("supervised network", each, rival_says(network, test.iq[:, -WINDOW:])))
    return rows


def percent(value: dict[str, float]) -> str:
    """With its interval."""
    return f"{value['percent']:5.1f} % ({value['low']:.1f}-{value['high']:.1f})"


def as_text(result: dict[str, Any]) -> str:
    """The tables."""
    s, lines = result["summary"], []
    lines += [f"{s['signals']} signals; at {HIGH_DB:g} dB and above:"]
    lines += [f"  family {percent(s['family_high'])}   class {percent(s['class_high'])}"]
    lines += [
        f"  ECE of the class {100 * s['ece_class']:.1f} points, of the family {100 * s['ece_family']:.1f}"
    ]
    lines += [f"  known signals called unknown {percent(s['refused'])}", "", "SNR, dB     family   class"]
    for row in s["by_snr"]:
        span = f"{row['from_db']:4g} to {row['to_db']:2g}"
        lines += [f"{span} {row['family']['percent']:8.1f}{row['class']['percent']:8.1f}"]
    lines += ["", f"from {HIGH_DB:g} dB       family   class   unknown when its family was left out"]
    for name, row in s["by_class_high"].items():
        flagged = result["unseen"].get(name, {}).get("flagged_high", float("nan"))
        lines += [f"{name:<12}{row['family']['percent']:10.1f}{row['class']['percent']:8.1f}{flagged:10.1f}"]
    lines += ["", "unknown, mean over classes, where their family was left out"]
    for which, scope in (
        ("unseen", "and all outliers that resemble it"),
        ("unseen_like_kept", "but not what resembles it"),
    ):
        found = {what: np.mean([row[what] for row in result[which].values()]) for what in ALARMS}
        lines += [
            f"  {scope}: {found['flagged']:.1f} % (false alarms {found['false alarms']:.1f} %), from "
            f"{HIGH_DB:g} dB {found['flagged_high']:.1f} % ({found['false alarms_high']:.1f} %), "
            f"{found['flagged_at_5']:.1f} % where that is 5 %"
        ]
    lines += ["", "labels per class              family from 10 dB   class from 10 dB"]
    for row in result["few"]:
        shares = "".join(f"{percent(row[what]):>22}" for what in ("family_high", "class_high"))
        lines += [f"{row['labels']:>4} {row['method']:<20}{shares}"]
    return "\n".join(lines)


def draw(result: dict[str, Any], path: Path) -> None:
    """Accuracy by SNR, and by labels."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    rows = result["summary"]["by_snr"]
    middle = [(row["from_db"] + row["to_db"]) / 2 for row in rows]
    for what in ("family", "class"):
        left.plot(middle, [row[what]["percent"] for row in rows], marker="o", label=what)
    left.set(xlabel="SNR in the occupied bandwidth, dB", ylabel="right, %", ylim=(0, 100))
    for method in dict.fromkeys(row["method"] for row in result["few"]):
        mine = [row for row in result["few"] if row["method"] == method]
        right.plot(
            [row["labels"] for row in mine],
            [row["family_high"]["percent"] for row in mine],
            marker="o",
            label=method,
        )
    right.set(xlabel="labels per class", ylabel="families right from 10 dB, %", xscale="log", ylim=(0, 100))
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=120)


def as_evaluation(by_snr: list[dict[str, Any]]) -> dict[str, EvaluationRow]:
    """Rows for the bundle, which the dashboard draws, in the form of `wavetell evaluate --keep`."""

    def row(what: str) -> EvaluationRow:
        middles = ((each["from_db"] + each["to_db"]) / 2 for each in by_snr)
        shares = (each[what]["percent"] / 100 for each in by_snr)
        return EvaluationRow(tuple(SnrPoint(s, a) for s, a in zip(middles, shares, strict=True)))

    return {"model": row("class"), "model, families": row("family")}


def main() -> None:
    """Evaluate, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", nargs="?", default="radio")
    parser.add_argument("--each", type=int, default=30, help="test signals of a class")
    parser.add_argument("--labels", type=int, default=100, help="labels per class of the shipped head")
    parser.add_argument("--seed", type=int, default=0, help="of the labels, as given to wavetell fit")
    parser.add_argument("--out", type=Path, default=Path("runs/radio/accuracy"))
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write the bundle with its accuracy by SNR")
    args = parser.parse_args()
    torch.set_num_threads(1)
    bundle = load_bundle(args.bundle)
    head = bundle.heads["live"]
    fit, test = labelled_signals(args.labels, args.seed), test_signals(args.each, args.seed, head.classes)
    e_fit, e_test = (embed_signals(bundle.encoder, part.iq, head.hop, head.window) for part in (fit, test))
    names = [test.classes[i] for i in test.label.tolist()]
    data = open_set_signals(args.seed, fit.classes, args.out.parent)
    tested = (e_test, test.label, test.snr_db)
    result = {
        "bundle": bundle.sha256,
        "seed": args.seed,
        "missed": int(test.missed.sum()),
        "summary": summary(judge(head, e_test, names, test.snr_db)),
        "unseen": unseen(head, data, tested, test.classes),
        "unseen_like_kept": unseen(head, data, tested, test.classes, like=False),
        "few": few_labels(fit, test, e_fit, e_test),
    }
    print(as_text(result))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.with_suffix(".json").write_text(json.dumps(result, indent=1))
    draw(result, args.out.with_suffix(".png"))
    if args.keep:
        meta = replace(bundle.meta, evaluation=as_evaluation(result["summary"]["by_snr"]))
        replace(bundle, meta=meta).save(args.keep)
    print(f"written to {args.out}.json and {args.out}.png")


if __name__ == "__main__":
    main()
