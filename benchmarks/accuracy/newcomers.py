"""Signals of none of the model's families, written apart from it: how many are called unknown.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.newcomers [BUNDLE] [--set exam] [--each 30] [--out OUT]

`benchmarks/accuracy/unheard` has two sets of types that are on the air or in the literature, by an author
who knew the model's families but neither its outliers nor its features. *practice* may be used for choosing,
*exam*, which has no type in common with it, only for judging what is chosen. Signals go through the
generator's channel and receiver, the band front end and the evidence, one answer each, as the *narrow* known
emissions of `benchmarks.accuracy.radio` do. The open-set detector is compared with the baseline of calling
unknown whatever has a low probability of every class. Prints a table and writes OUT-SET.json and OUT-SET.png.
Never for fitting.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.unheard import exam, practice
from streaming.block import Samples
from streaming.bundle import load_bundle
from streaming.head import Head
from streaming.pipeline import choose_head
from training.datasets.emissions import HEARD
from training.datasets.held_out import HeldOut
from training.datasets.narrow import CONDITIONS, Recording, on_stream
from training.evaluation.accuracy import Accuracy
from training.evaluation.radio_evaluate import EDGES_DB, HIGH_DB, Embedded, Flags, Real, embed_all
from training.signals.emission import Emission

SETS = {"practice": practice.NEWCOMERS, "exam": exam.NEWCOMERS}
SEED = 1_000_004  # second word of a seed: what the signals are for
SAMPLES = 131_072  # made of a signal; what is longer repeats it
FALSE_ALARMS = 0.05  # share of known emissions called unknown at which types are compared


class Played:
    """A signal that was made before, again and again."""

    symbol_rate, centre = np.nan, 0.0

    def __init__(self, samples: Samples) -> None:
        self.samples, self.at = samples, 0

    def make(self, count: int) -> Samples:
        """The next samples."""
        places = np.arange(self.at, self.at + count)
        self.at += count
        return np.take(self.samples, places, mode="wrap")


def newcomer(make: Callable[[np.random.Generator, int], Samples], rng: np.random.Generator) -> Emission:
    """An emission of a type."""
    return Emission("newcomer", CONDITIONS, rng, Played(make(rng, SAMPLES)))


@dataclass(frozen=True)
class Newcomers:
    """Signals of a set, the types in rotation; a process of its own can make each."""

    types: str  # of SETS
    seed: int

    def make(self, i: int) -> Recording:
        """The i-th."""
        makes = list(SETS[self.types].values())
        rng = np.random.default_rng([self.seed, SEED, i])
        return on_stream(newcomer(makes[i % len(makes)], rng), rng)


@dataclass(frozen=True)
class Heard:
    """Signals as a head takes them."""

    odds: Real  # (n,), of an outlier
    doubt: Real  # (n,), that it is the likeliest class
    likeliest: list[str]
    snr_db: Real

    @property
    def high(self) -> Flags:
        """From 10 dB on."""
        return np.asarray(self.snr_db >= HIGH_DB)


def hear(head: Head, embedded: Embedded) -> Heard:
    """The outlier odds of signals, and the head's answers."""
    probabilities = head.probabilities(embedded.rows)
    likeliest = [head.classes[best] for best in probabilities.argmax(1).tolist()]
    return Heard(
        embedded.rows[:, -1].astype(np.float64), 1 - probabilities.max(1), likeliest, embedded.snr_db
    )


def mean_of_types(found: Flags, label: NDArray[np.int64], among: Flags) -> dict[str, float]:
    """Per cent, every type counting the same, with the 95 % interval for other types of the kind."""
    shares = [float(np.mean(found[among & (label == k)])) for k in np.unique(label[among]).tolist()]
    middle, half = float(np.mean(shares)), 1.96 * float(np.std(shares, ddof=1)) / len(shares) ** 0.5
    return {
        "percent": 100 * middle,
        "low": 100 * max(0.0, middle - half),
        "high": 100 * min(1.0, middle + half),
    }


def judge(head: Head, known: Heard, new: Heard, label: NDArray[np.int64], names: list[str]) -> dict[str, Any]:
    """All figures: with the head's own limit, and where false alarms are exactly 5 %."""
    assert head.outlier_limit is not None
    refused = new.odds > head.outlier_limit
    rows = {}
    for k, name in enumerate(names):
        own = label == k
        passed = [new.likeliest[i] for i in np.flatnonzero(own & new.high & ~refused).tolist()]
        rows[name] = {
            "flagged": 100 * Accuracy.of(refused[own]).share,
            "flagged_high": 100 * Accuracy.of(refused[own & new.high]).share,
            "taken_for": dict(Counter(passed).most_common(3)),
        }
    everything, false = np.ones(len(label), np.bool_), known.odds > head.outlier_limit
    result: dict[str, Any] = {"types": rows}
    for which, mine, theirs in (("all", everything, known.odds > -np.inf), ("high", new.high, known.high)):
        at_5 = {}
        for how, ours, others in (("open set", known.odds, new.odds), ("doubt", known.doubt, new.doubt)):
            limit = np.quantile(ours[theirs], 1 - FALSE_ALARMS)
            at_5[how] = mean_of_types(np.asarray(others > limit), label, mine)
        result[which] = {
            "flagged": mean_of_types(refused, label, mine),
            "false_alarms": 100 * float(np.mean(false[theirs])),
            "at_5": at_5,
        }
    return result


def as_text(result: dict[str, Any]) -> str:
    """One type per line, then the means."""
    lines = [f"called unknown, %{'all SNRs':>18}{'from 10 dB':>12}   else, from 10 dB, taken for"]
    for name, row in result["types"].items():
        taken = ", ".join(f"{label} {count}" for label, count in row["taken_for"].items())
        lines.append(f"{name:<24}{row['flagged']:>10.0f}{row['flagged_high']:>12.0f}   {taken}")
    for which, title in (
        ("all", f"{EDGES_DB[0]:g} to {EDGES_DB[-1]:g} dB"),
        ("high", f"from {HIGH_DB:g} dB"),
    ):
        row = result[which]
        lines.append(
            f"\n{title}: {span(row['flagged'])} called unknown, of known signals {row['false_alarms']:.1f} %"
            f"\n  where those are 5 %: {span(row['at_5']['open set'])};"
            f" by the likeliest class's probability alone {span(row['at_5']['doubt'])}"
        )
    return "\n".join(lines)


def span(value: dict[str, float]) -> str:
    """With its interval."""
    return f"{value['percent']:.1f} % ({value['low']:.1f}-{value['high']:.1f})"


def draw(result: dict[str, Any], path: Path) -> None:
    """One bar per type."""
    from matplotlib.figure import Figure

    rows = sorted(result["types"].items(), key=lambda item: float(item[1]["flagged_high"]))
    figure = Figure(figsize=(7, 1 + 0.22 * len(rows)), layout="constrained")
    axes = figure.subplots()
    axes.barh([name for name, _ in rows], [row["flagged_high"] for _, row in rows])
    axes.set(xlabel=f"called unknown from {HIGH_DB:g} dB, %", xlim=(0, 100))
    axes.grid(alpha=0.3, axis="x")
    figure.savefig(path, dpi=120)


def main() -> None:
    """Evaluate a model on one set, print and write the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", nargs="?", default="radio")
    parser.add_argument("--set", default="exam", choices=SETS, help="whose types")
    parser.add_argument("--each", type=int, default=30, help="signals of a type, and of a known class")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/newcomers"))
    args = parser.parse_args()
    bundle = load_bundle(args.bundle)
    head, names = choose_head(bundle, "", "live"), list(SETS[args.set])
    new = embed_all(args.bundle, Newcomers(args.set, args.seed).make, args.each * len(names), "newcomers")
    narrow = HeldOut("narrow", HEARD, args.seed).make
    known = embed_all(args.bundle, narrow, args.each * len(HEARD), "known emissions")
    result = judge(head, hear(head, known), hear(head, new), new.number % len(names), names)
    print(
        f"{bundle.name} ({bundle.sha256[:8]}), {len(new.rows)} signals of {len(names)} types of {args.set}; "
        f"{len(new.missed_db)} more were not found"
    )
    print(as_text(result))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    stem = f"{args.out}-{args.set}"
    Path(f"{stem}.json").write_text(json.dumps({"bundle": bundle.sha256, **result}, indent=1))
    draw(result, Path(f"{stem}.png"))
    print(f"written to {stem}.json and {stem}.png")


if __name__ == "__main__":
    main()
