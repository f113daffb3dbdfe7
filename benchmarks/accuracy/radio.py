"""The model `radio` on held-out emissions of both generators, and with few labels.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.radio [BUNDLE] [--each 30] [--out runs/radio/accuracy]

Emissions have seeds, and so settings, of their own; each lasts 0.25 s, goes through the band front end and is
answered once (`training.datasets.held_out`): *narrow*, 2 to 16 samples per symbol, and *wide*, as wide as
the air. What the front end does not find is counted and left out of the other figures. Few-label rows fit
new heads on 5, 10 and 50 wide emissions per class, in the model's embedding. Prints tables and writes
OUT.json and OUT.png.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from streaming.bundle import Bundle, load_bundle
from streaming.bundle_meta import EvaluationRow, SnrPoint
from streaming.pipeline import choose_head
from training.datasets.emissions import HEARD
from training.datasets.held_out import KINDS, HeldOut, Kind
from training.evaluation.radio_evaluate import HIGH_DB, Embedded, embed_all, judge, share, summary
from training.heads.fit import Identity, fit_live
from training.heads.radio_fit import SEARCH
from training.signals.classes import FAMILIES

FEW = (5, 10, 50)
LABELS = 1_000_003  # second word of the few labels' seeds


def few_labels(
    bundle: Bundle, labelled: Embedded, tests: dict[Kind, Embedded], each: int
) -> list[dict[str, Any]]:
    """Classes and families right from 10 dB on, on each set, with `each` labels per class."""
    like = choose_head(bundle, "", "live")
    label = labelled.number % len(HEARD)
    keep = np.concatenate([np.flatnonzero(label == k)[:each] for k in range(len(HEARD))])
    identity = Identity("few", HEARD, "live", like.window, like.hop, like.encoder_sha256)
    head = fit_live(bundle, labelled.rows[keep], label[keep], identity, replace(SEARCH, folds=min(5, each)))
    family = np.array([FAMILIES[name] for name in HEARD])
    rows = []
    for kind, test in tests.items():
        high = test.snr_db >= HIGH_DB
        truth = (test.number % len(HEARD))[high]
        said = head.head.probabilities(test.rows[high, :-1]).argmax(1)
        right = {"class_high": share(said == truth), "family_high": share(family[said] == family[truth])}
        rows.append({"labels": each, "set": kind} | right)
    return rows


def percent(value: dict[str, float]) -> str:
    """With its interval."""
    return f"{value['percent']:5.1f} % ({value['low']:.1f}-{value['high']:.1f})"


def as_text(result: dict[str, Any]) -> str:
    """The tables."""
    lines = list[str]()
    for kind, s in result["sets"].items():
        lines += [f"{kind}: {s['emissions']} emissions; from {HIGH_DB:g} dB:"]
        lines += [f"  family {percent(s['family_high'])}   class {percent(s['class_high'])}"]
        lines += [f"  family with unknown counted as wrong {percent(s['named_high'])}"]
        lines += [f"  called unknown {percent(s['unknown_high'])}, at all SNRs {percent(s['unknown'])}"]
        lines += [f"  not found {percent(s['missed_high'])}, at all SNRs {percent(s['missed'])}"]
        lines += [f"  ECE of the class {points(s['ece_class'])}, of the family {points(s['ece_family'])}"]
        lines += ["", "SNR, dB     family   class"]
        for row in s["by_snr"]:
            span = f"{row['from_db']:4g} to {row['to_db']:2g}"
            lines += [f"{span} {row['family']['percent']:8.1f}{row['class']['percent']:8.1f}"]
        lines += ["", f"from {HIGH_DB:g} dB       family   class   answers"]
        for name, row in s["by_class_high"].items():
            answers = ", ".join(f"{said} {n}" for said, n in [*s["confusion_high"][name].items()][:5])
            shares = f"{row['family']['percent']:10.1f}{row['class']['percent']:8.1f}"
            lines += [f"{name:<12}{shares}   {answers}"]
        lines += [""]
    lines += [f"labels per class   family from {HIGH_DB:g} dB     class from {HIGH_DB:g} dB"]
    for row in result["few"]:
        shares = "".join(f"{percent(row[what]):>22}" for what in ("family_high", "class_high"))
        lines += [f"{row['labels']:>4} {row['set']:<8}{shares}"]
    return "\n".join(lines)


def points(error: float) -> str:
    """A calibration error."""
    return f"{100 * error:.1f} points"


def draw(result: dict[str, Any], path: Path) -> None:
    """Accuracy by SNR, and by labels."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for kind, s in result["sets"].items():
        middle = [(row["from_db"] + row["to_db"]) / 2 for row in s["by_snr"]]
        for what in ("family", "class"):
            shares = [row[what]["percent"] for row in s["by_snr"]]
            left.plot(middle, shares, marker="o", label=f"{kind}, {what}")
        mine = [row for row in result["few"] if row["set"] == kind]
        few = [row["family_high"]["percent"] for row in mine]
        right.plot([row["labels"] for row in mine], few, marker="o", label=kind)
    left.set(xlabel="SNR in the occupied bandwidth, dB", ylabel="right, %", ylim=(0, 100))
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


def evaluate(bundle: Bundle, model: str, each: int, labels: int, seed: int) -> dict[str, Any]:
    """All figures, with so many emissions and few labels per class."""
    count, head = len(HEARD), choose_head(bundle, "", "live")
    tests = {
        kind: embed_all(model, HeldOut(kind, HEARD, seed).make, each * count, f"{kind} emissions")
        for kind in KINDS
    }
    labelled = HeldOut("wide", HEARD, seed, LABELS).make
    few = embed_all(model, labelled, labels * count, "labelled emissions")
    return {
        "bundle": bundle.sha256,
        "seed": seed,
        "sets": {
            kind: summary(
                judge(head, test.rows, [HEARD[i % count] for i in test.number.tolist()], test.snr_db),
                test.missed_db,
            )
            for kind, test in tests.items()
        },
        "few": [row for each in FEW if each <= labels for row in few_labels(bundle, few, tests, each)],
    }


def main() -> None:
    """Evaluate, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", nargs="?", default="radio")
    parser.add_argument("--each", type=int, default=30, help="test emissions per class and set")
    parser.add_argument("--labels", type=int, default=max(FEW), help="labels per class, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/radio/accuracy"))
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write the bundle with its accuracy by SNR")
    args = parser.parse_args()
    bundle = load_bundle(args.bundle)
    result = evaluate(bundle, args.bundle, args.each, args.labels, args.seed)
    print(as_text(result))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.with_suffix(".json").write_text(json.dumps(result, indent=1))
    draw(result, args.out.with_suffix(".png"))
    if args.keep:
        meta = replace(bundle.meta, evaluation=as_evaluation(result["sets"]["wide"]["by_snr"]))
        replace(bundle, meta=meta).save(args.keep)
    print(f"written to {args.out}.json and {args.out}.png")


if __name__ == "__main__":
    main()
