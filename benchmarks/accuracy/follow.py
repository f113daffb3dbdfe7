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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streaming.block import Block, Samples
from streaming.bundle import Bundle, load_bundle
from streaming.changes import Changes
from streaming.engine import Engine, Hops, open_engine
from streaming.features import Features
from streaming.frontend import FrontEndSettings
from streaming.head import Head
from streaming.intake import Stretch, open_intake
from streaming.pipeline import choose_head
from streaming.window import Window
from training.datasets.radio_signals import make_signals
from training.datasets.synthetic import constellation
from training.progress import Progress
from training.signals.classes import FAMILIES
from training.signals.conditions import Conditions
from training.signals.emission import Emission
from training.signals.stream import Part, Stream

RATE_HZ = 250e3
BEFORE, AFTER = 10_240, 8_192  # samples at the model's rate
STEADY_DB = (10.0, 30.0)
RELAY = 4  # windows after which a state is old enough to take over

Labels = NDArray[np.int64]  # (hops,), of the window that ends with each hop; -1 where there is no answer


@dataclass(frozen=True)
class Trial:
    """A signal at the model's rate and level; `change` is where the other class begins."""

    names: tuple[str, str]
    samples: Samples
    change: float
    step: float  # source samples to one
    rate_hz: float


@dataclass(frozen=True)
class Heard:
    """A stretch of a signal, and what the encoder made of its hops."""

    samples: Samples
    hops: Hops

    def part(self, first: int, last: int | None = None) -> "Heard":
        """From one hop to another."""
        maximum, total = self.hops
        each = len(self.samples) // len(total)
        end = None if last is None else last * each
        return Heard(self.samples[first * each : end], Hops(maximum[first:last], total[first:last]))


def through(bundle: Bundle, x: Samples, change: int, names: tuple[str, str], rate_hz: float) -> Trial | None:
    """What the intake makes of it; None where the front end saw the change itself, or no signal."""
    intake = open_intake(bundle.meta.front_end)
    items = [*intake.push(Block(x, 0, rate_hz)), *intake.flush()]
    signals: list[list[Stretch]] = []
    for item in items:
        if isinstance(item, Stretch):
            if item.begins:
                signals.append([])
            signals[-1].append(item)
    for parts in signals:
        first, samples = parts[0], np.concatenate([part.samples for part in parts])
        at = (change - first.start) / first.step
        if at > BEFORE // 2 and len(samples) - at > AFTER // 2:
            return Trial(names, samples, at, first.step, rate_hz)
    return None


def on_the_air(bundle: Bundle, names: tuple[str, str], snr_db: float, seed: int) -> Trial | None:
    """Both classes with the same pulse, symbol rate and level, through receiver and front end."""
    conditions = Conditions(snr_db=(snr_db, snr_db), offset=0.0, multipath=0.0, imbalance_db=0.0, dc=0.0)
    first, second = (Emission(name, conditions, np.random.default_rng([seed, 7])) for name in names)
    second.scale *= np.sqrt(first.power / second.power)
    silence = Emission("noise", conditions, np.random.default_rng([seed, 8]))
    assert isinstance(bundle.meta.front_end, FrontEndSettings)
    step = bundle.meta.front_end.fraction / first.bandwidth
    before, after = round(BEFORE * step), round(AFTER * step)
    plan = [Part(silence, 50_000), Part(first, before), Part(second, after), Part(silence, 20_000)]
    x = Stream(iter(plan), conditions, seed).next(sum(part.samples for part in plan))
    return through(bundle, x, 50_000 + before, names, RATE_HZ)


def on_paper(bundle: Bundle, names: tuple[str, str], snr_db: float, seed: int) -> Trial | None:
    """The paper's signal: one sample per symbol, a small offset, noise."""
    rng = np.random.default_rng([seed, 9])
    symbols = [
        rng.choice(constellation(name), count) for name, count in zip(names, (BEFORE, AFTER), strict=True)
    ]
    phase = rng.uniform(0, 1 / 32) + 1e-4 * np.arange(BEFORE + AFTER)
    noise = rng.standard_normal((BEFORE + AFTER, 2)) @ [1, 1j] * np.sqrt(10 ** (-snr_db / 10) / 2)
    x = (np.concatenate(symbols) * np.exp(2j * np.pi * phase) + noise).astype(np.complex64)
    return through(bundle, x, BEFORE, names, RATE_HZ)


class Follower:
    """A model and the ways it may forget."""

    def __init__(self, bundle: Bundle, head: Head, engine: Engine) -> None:
        self.bundle, self.head, self.engine = bundle, head, engine
        self.hop, self.full = head.hop, head.window // head.hop
        self.group = np.arange(len(head.classes))  # of each class: answers within one are the same

    def by_family(self) -> None:
        """Count an answer as right where its family is."""
        families = [FAMILIES.get(name, name) for name in self.head.classes]
        self.group = np.array([families.index(family) for family in families])

    def encode(self, pieces: Sequence[Samples]) -> list[Heard]:
        """Each from an empty state, without an incomplete last hop."""
        pieces = [piece[: len(piece) // self.hop * self.hop] for piece in pieces]
        streams = [self.engine.stream() for _ in pieces]
        hops = self.engine.push(list(zip(streams, pieces, strict=True)))
        for stream in streams:
            stream.close()
        return [Heard(*pair) for pair in zip(pieces, hops, strict=True)]

    def labels(self, heard: Heard, growing: bool) -> Labels:
        """The class of each hop's window since the hops began; none before it is full, unless it may grow."""
        window = Window(self.bundle.encoder, self.hop, self.head.window)
        rows = window.push(heard.hops)
        if self.bundle.meta.has_features:
            features = Features(self.hop, self.head.window)
            rows = np.concatenate([rows, features.push(heard.samples)], 1)
        chosen = self.head.answer(rows)[0]
        found = np.where(chosen >= 0, self.group[chosen], -1)
        if not growing:
            found[: self.full - 1] = -1
        return found

    def changes(self, heard: Heard) -> list[int]:
        """The hops, counted from 1, at which the pipeline's detector says so."""
        return [1 + row for row in Changes(self.hop).push(heard.hops.total / self.hop)]


def as_is(model: Follower, trial: Trial, heard: Heard) -> Labels:
    """Nothing is forgotten."""
    return model.labels(heard, growing=False)


def cut(model: Follower, heard: Heard, at: Sequence[int]) -> Labels:
    """The window emptied at these hops; what is left of it grows again."""
    edges = [0, *at, len(heard.hops.total)]
    return np.concatenate([model.labels(heard.part(a, b), growing=a > 0) for a, b in pairwise(edges)])


def known_window(model: Follower, trial: Trial, heard: Heard) -> Labels:
    """The window emptied at the change."""
    return cut(model, heard, [round(trial.change / model.hop)])


def known_both(model: Follower, trial: Trial, heard: Heard) -> Labels:
    """Encoder and window emptied at the change."""
    at = round(trial.change / model.hop)
    (fresh,) = model.encode([trial.samples[at * model.hop :]])
    return np.concatenate([model.labels(heard, False)[:at], model.labels(fresh, True)])


def found_window(model: Follower, trial: Trial, heard: Heard) -> Labels:
    """The window emptied but for the newest hops, once a change is found."""
    labels, recent = model.labels(heard, False), Changes(model.hop).recent
    for at in model.changes(heard):
        labels[at - 1 :] = model.labels(heard.part(at - recent), True)[recent - 1 :]
    return labels


def found_both(model: Follower, trial: Trial, heard: Heard) -> Labels:
    """Encoder and window emptied once a change is found, and given the newest hops again."""
    labels, recent = model.labels(heard, False), Changes(model.hop).recent
    for at in model.changes(heard):
        (fresh,) = model.encode([trial.samples[(at - recent) * model.hop :]])
        labels[at - 1 :] = model.labels(fresh, True)[recent - 1 :]
    return labels


def relay(model: Follower, trial: Trial, heard: Heard) -> Labels:
    """A fresh state each RELAY windows; each answers from its RELAY-th window to its 2 RELAY-th."""
    labels, span = model.labels(heard, False), RELAY * model.full
    starts = list(range(span, len(labels) - span, span))
    ends = [(start + 2 * span) * model.hop for start in starts]
    pieces = [trial.samples[s * model.hop : e] for s, e in zip(starts, ends, strict=True)]
    for start, fresh in zip(starts, model.encode(pieces) if pieces else [], strict=True):
        late = model.labels(fresh, True)[span:]
        labels[start + span : start + span + len(late)] = late
    return labels


WAYS: dict[str, Callable[[Follower, Trial, Heard], Labels]] = {
    "nothing forgotten": as_is,
    "known, window": known_window,
    "known, encoder and window": known_both,
    "found, window": found_window,
    "found, encoder and window": found_both,
    "relay": relay,
}


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


def main() -> None:
    """Measure, print, draw."""
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
    args = parser.parse_args()
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
