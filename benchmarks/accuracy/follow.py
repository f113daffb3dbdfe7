"""How fast the answer follows a change of modulation that the front end cannot see.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.follow [BUNDLE] [--snr 10] [--trials 4] [--out OUT]

One class gives way to another at the same bandwidth, centre and level. The delay counts from that sample to
the end of the first of as many right answers in a row as a window has hops. Ways to forget the old signal:
not at all; where the change is known (`known`, which no detector can beat) or found (`streaming.changes`),
the window alone is emptied, or the encoder, too; and a second encoder state, started every few windows, takes
over from the first (`relay`). The pipeline does `found, window` with models that have features, and nothing
with others. What a way costs where nothing changes is the accuracy before the change, and that on long
signals of every class (`--steady`).
"""

import argparse
import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy.forgetting import BEFORE, WAYS, Follower, Labels, Trial, on_paper, on_the_air
from streaming.bundle import load_bundle
from streaming.engine import open_engine
from streaming.frontend import FrontEndSettings
from streaming.pipeline import choose_head
from training.datasets.radio_signals import make_signals
from training.progress import Progress
from training.signals.classes import FAMILIES
from training.signals.conditions import Conditions

STEADY_DB = (10.0, 30.0)


def delay(labels: Labels, truth: int, change: float, hop: int, stable: int) -> float:
    """Samples from the change to the end of the first of `stable` right answers in a row; inf where none."""
    ends = (1 + np.arange(len(labels))) * hop
    right = (labels == truth) & (ends > change)
    runs = np.convolve(right, np.ones(stable), "valid") == stable
    return float(ends[int(np.argmax(runs))] - change) if runs.any() else float("inf")


def steady(labels: Labels, truth: int, trial: Trial, model: Follower) -> list[bool]:
    """Whether each answer of the last half before the change is right."""
    last = int(trial.change / model.hop)
    return list(labels[last // 2 : last] == truth)


def measure(model: Follower, trials: Sequence[Trial], stable: int) -> list[dict[str, Any]]:
    """One row for each way and trial."""
    rows = []
    with Progress("following", len(trials)) as progress:
        for n, trial in enumerate(trials):
            (heard,) = model.encode([trial.samples])
            was, now = (model.group[model.head.classes.index(name)] for name in trial.names)
            for way, labels_of in WAYS.items():
                labels = labels_of(model, trial, heard)
                late = delay(labels, now, trial.change, model.hop, stable)
                rows.append(
                    {
                        "way": way,
                        "from": trial.names[0],
                        "to": trial.names[1],
                        "samples": late,
                        "ms": late * trial.step / trial.rate_hz * 1e3,
                        "steady": float(np.mean(steady(labels, was, trial, model))),
                    }
                )
            progress.to(n + 1)
    return rows


def steady_all(model: Follower, each: int, seed: int) -> dict[str, dict[str, float]]:
    """Right and unknown answers, per cent, on long signals of every class: what looking for changes costs."""
    classes, conditions = model.head.classes, Conditions(snr_db=STEADY_DB)
    made = make_signals(
        classes, [each] * len(classes), samples=BEFORE + 2_048, conditions=conditions, seed=seed
    )
    heard = model.encode(list(made.iq))
    truth = model.group[made.label][:, None]
    out = {}
    for way in ("nothing forgotten", "found, window"):
        blank = Trial(("", ""), made.iq[0], 0.0, 1.0, 1.0)
        labels = np.stack([WAYS[way](model, blank, one) for one in heard])[:, model.full - 1 :]
        right, unknown = float(np.mean(labels == truth)), float(np.mean(labels < 0))
        out[way] = {"right": 100 * right, "unknown": 100 * unknown, "signals": len(heard)}
    return out


def quantile(values: Sequence[float], share: float) -> float:
    """Of values that may be infinite."""
    return float(np.sort(values)[min(len(values) - 1, int(share * len(values)))])


def as_text(rows: Sequence[dict[str, Any]]) -> str:
    """One way per line."""
    lines = [f"{'':<28}{'median':>9}{'90 %':>9}{'median ms':>11}{'never':>8}{'steady':>9}"]
    for way in WAYS:
        mine = [row for row in rows if row["way"] == way]
        late = [row["samples"] for row in mine]
        ms = quantile([row["ms"] for row in mine], 0.5)
        lines.append(
            f"{way:<28}{quantile(late, 0.5):>9,.0f}{quantile(late, 0.9):>9,.0f}{ms:>11.1f}"
            f"{100 * np.mean(np.isinf(late)):>7.0f}%{100 * np.mean([row['steady'] for row in mine]):>8.1f}%"
        )
    return "\n".join(lines)


def by_pair(rows: Sequence[dict[str, Any]]) -> str:
    """The median delay of each pair, as it is and by each way."""
    pairs = sorted({(row["from"], row["to"]) for row in rows})
    lines = [f"{'from':<12}{'to':<12}" + "".join(f"{way[:18]:>20}" for way in WAYS)]
    for pair in pairs:
        cells = [
            quantile([r["samples"] for r in rows if r["way"] == way and (r["from"], r["to"]) == pair], 0.5)
            for way in WAYS
        ]
        lines.append(f"{pair[0]:<12}{pair[1]:<12}" + "".join(f"{cell:>20,.0f}" for cell in cells))
    return "\n".join(lines)


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """The share of changes that were followed within a delay."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for way in WAYS:
        late = np.sort([row["samples"] for row in rows if row["way"] == way])
        shares = 100 * (1 + np.arange(len(late))) / len(late)
        seen = np.isfinite(late)
        axes.step([0, *late[seen]], [0, *shares[seen]], where="post", label=way)
    axes.set(xlabel="samples at the model's rate since the change", ylabel="followed, %", ylim=(0, 100))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", nargs="?", default="paper-synthetic")
    parser.add_argument("--snr", type=float, default=10.0, help="dB")
    parser.add_argument("--trials", type=int, default=4, help="of each pair")
    parser.add_argument("--classes", nargs="*", help="only these")
    parser.add_argument(
        "--families", action="store_true", help="only changes of the family, and only it counts"
    )
    parser.add_argument("--steady", type=int, default=0, help="long signals of each class that do not change")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/follow"))
    return parser.parse_args()


def main() -> None:
    """Measure, print, draw."""
    args = read_arguments()
    bundle = load_bundle(args.bundle)
    head = choose_head(bundle, "", "live")
    model = Follower(bundle, head, open_engine(bundle.encoder, head.hop))
    tuned = isinstance(bundle.meta.front_end, FrontEndSettings)
    families = ("PSK", "QAM")
    names = [name for name in args.classes or head.classes if FAMILIES.get(name) in families]
    make = on_the_air if tuned else on_paper
    if args.families:
        model.by_family()
    made = [
        make(bundle, pair, args.snr, args.seed * 10_000 + i)
        for pair in permutations(names, 2)
        if not args.families or FAMILIES[pair[0]] != FAMILIES[pair[1]]
        for i in range(args.trials)
    ]
    trials = [trial for trial in made if trial]
    rows = measure(model, trials, head.window // head.hop)
    print(
        f"{bundle.name}, head {head.name}: window {head.window}, hop {head.hop}; {args.snr:g} dB, "
        f"{len(rows) // len(WAYS)} changes; {len(made) - len(trials)} seen by the front end itself or lost"
    )
    print(as_text(rows), "", by_pair(rows), sep="\n")
    unchanged = steady_all(model, args.steady, args.seed) if args.steady and tuned else {}
    for way, row in unchanged.items():
        shares = f"{row['right']:.1f} % right, {row['unknown']:.1f} % unknown"
        print(f"{way:<28}{shares} on {row['signals']} signals that do not change, from {STEADY_DB[0]:g} dB")
    args.out.mkdir(parents=True, exist_ok=True)
    stem = args.out / f"{bundle.name}-{args.snr:g}dB{'-families' if args.families else ''}"
    settings = {"sha256": bundle.sha256, "snr_db": args.snr, "seed": args.seed, "steady": unchanged}
    finite = [
        row | {k: v if np.isfinite(v) else None for k, v in row.items() if k in ("samples", "ms")}
        for row in rows
    ]
    Path(f"{stem}.json").write_text(json.dumps(settings | {"rows": finite}, indent=1))
    draw(rows, Path(f"{stem}.png"))


if __name__ == "__main__":
    main()
