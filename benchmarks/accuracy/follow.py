"""How fast the answer follows a change of modulation that the front end cannot see.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.follow [BUNDLE] [--families] [--snr 10] [--out OUT]

One class of PSK or QAM gives way to another at the same bandwidth, centre and level. The delay counts, in
samples at the model's rate, from that sample to the end of the first right answer that no wrong one follows
within a window. Two ways to forget the old signal: as the pipeline does it (`streaming.band.evidence` finds
the change in the newest samples), and where the change is known, which no detector can beat. `steady` is the
share of right answers before the change.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from streaming.band.embedding import EmissionEmbedder
from streaming.band.evidence import Evidence, Judge, Question
from streaming.band.frontend import Band, BandSettings, Piece
from streaming.block import Block, Samples
from streaming.bundle import Bundle, load_bundle
from streaming.engine import open_engine
from streaming.errors import ConfigError
from streaming.head import Head
from streaming.pipeline import choose_head
from training.progress import Progress
from training.signals.classes import FAMILIES
from training.signals.conditions import Conditions
from training.signals.emission import Emission
from training.signals.stream import Part, Stream

RATE_HZ = 250e3
SILENT, BEFORE, AFTER = 50_000, 10_240, 8_192  # samples: of noise; of each class, at the model's rate
WAYS = ("as it runs", "change known")


@dataclass(frozen=True)
class Trial:
    """The pieces of one emission in which another class begins at sample `change` of the source."""

    names: tuple[str, str]
    pieces: list[Piece]
    change: float

    @property
    def step(self) -> float:
        """Samples of the source to one at the model's rate."""
        return self.pieces[0].step


@dataclass(frozen=True)
class Answer:
    """A label, and the source's sample up to which it was given."""

    end: float
    label: str | None  # None: unknown


def make_trial(fraction: float, names: tuple[str, str], snr_db: float, seed: int) -> Trial | None:
    """Both classes with the same pulse, symbol rate and level; None where the front end lost the emission or
    saw the change itself."""
    conditions = Conditions(snr_db=(snr_db, snr_db), offset=0.0, multipath=0.0, imbalance_db=0.0, dc=0.0)
    first, second = (Emission(name, conditions, np.random.default_rng([seed, 7])) for name in names)
    second.scale *= np.sqrt(first.power / second.power)
    silence = Emission("noise", conditions, np.random.default_rng([seed, 8]))
    step = fraction / first.bandwidth
    before, after = round(BEFORE * step), round(AFTER * step)
    plan = [Part(silence, SILENT), Part(first, before), Part(second, after)]
    x = Stream(iter(plan), conditions, seed).next(sum(part.samples for part in plan))
    band, tracks = Band(BandSettings(fraction=fraction)), dict[int, list[Piece]]()
    for item in [*band.push(Block(x, 0, RATE_HZ)), *band.flush()]:
        if isinstance(item, Piece):
            tracks[item.track] = [*([] if item.begins else tracks[item.track]), item]
    change = SILENT + before
    whole = [
        p for p in tracks.values() if p[0].start < change - before / 2 and end_of(p) > change + after / 2
    ]
    return Trial(names, whole[0], change) if whole else None


def end_of(pieces: Sequence[Piece]) -> float:
    """Where pieces end, in the source's samples."""
    return pieces[-1].start + len(pieces[-1].samples) * pieces[-1].step


def ask(pieces: Sequence[Piece], judge: Judge | None) -> list[Question]:
    """The questions about an emission."""
    evidence = Evidence(0, judge)
    return [question for piece in pieces for question in evidence.push(piece, RATE_HZ)]


def cut(trial: Trial) -> list[Piece]:
    """The pieces, with a restart at the change."""
    out = list[Piece]()
    for piece in trial.pieces:
        at = round((trial.change - piece.start) / piece.step)
        if 0 < at < len(piece.samples):
            start = piece.start + at * piece.step
            out.append(replace(piece, samples=piece.samples[:at], ends=False))
            out.append(replace(piece, samples=piece.samples[at:], start=start, begins="change"))
        else:
            out.append(piece)
    return out


def delay(answers: Sequence[Answer], truth: str, change: float, window: float) -> float:
    """Samples of the source from the change to the end of the first right answer that no wrong one follows
    within a window; infinite where there is none."""
    late = [answer for answer in answers if answer.end > change]
    for i, answer in enumerate(late):
        following = [other.label for other in late[i:] if other.end <= answer.end + window]
        if set(following) == {truth}:
            return answer.end - change
    return float("inf")


class Follower:
    """A model that answers; by family where only that counts."""

    def __init__(self, bundle: Bundle, head: Head, families: bool) -> None:
        self.head = head
        self.embedder = EmissionEmbedder(bundle, open_engine(bundle.encoder, head.hop), head.window)
        self.group = {name: FAMILIES[name] if families else name for name in head.classes}

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """What the head says to each."""
        rows = self.embedder.push([(question.samples, question.box.snr_db) for question in questions])
        chosen, _ = self.head.answer(rows)
        labels = [self.group[self.head.classes[i]] if i >= 0 else None for i in chosen.tolist()]
        return [Answer(question.end, label) for question, label in zip(questions, labels, strict=True)]

    def judge(self, samples: Samples, snr_db: float) -> tuple[str, float]:
        """The likeliest family and its probability, as the pipeline asks for it."""
        names = self.head.names
        probabilities = self.head.probabilities(self.embedder.push([(samples, snr_db)]))[0]
        together = names.family_probabilities(probabilities)
        return names.known_families[int(together.argmax())], float(together.max())

    def measure(self, trial: Trial, way: str) -> dict[str, Any]:
        """The delay of one trial, and the answers before the change that are right."""
        questions = ask(trial.pieces, self.judge) if way == WAYS[0] else ask(cut(trial), None)
        answers = self.answer(questions)
        was, now = (self.group[name] for name in trial.names)
        late = delay(answers, now, trial.change, self.head.window * trial.step)
        steady = [answer.label == was for answer in answers if answer.end <= trial.change]
        return {
            "way": way,
            "from": trial.names[0],
            "to": trial.names[1],
            "samples": late / trial.step,
            "ms": late / RATE_HZ * 1e3,
            "steady": float(np.mean(steady)),
        }


def quantile(values: Sequence[float], share: float) -> float:
    """Of values that may be infinite."""
    return float(np.sort(values)[min(len(values) - 1, int(share * len(values)))])


def as_text(rows: Sequence[dict[str, Any]]) -> str:
    """One way per line."""
    lines = [f"{'':<20}{'median':>9}{'90 %':>9}{'median ms':>11}{'never':>8}{'steady':>9}"]
    for way in WAYS:
        mine = [row for row in rows if row["way"] == way]
        late = [row["samples"] for row in mine]
        ms = quantile([row["ms"] for row in mine], 0.5)
        lines.append(
            f"{way:<20}{quantile(late, 0.5):>9,.0f}{quantile(late, 0.9):>9,.0f}{ms:>11.1f}"
            f"{100 * np.mean(np.isinf(late)):>7.0f}%{100 * np.mean([row['steady'] for row in mine]):>8.1f}%"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", nargs="?", default="radio")
    parser.add_argument("--snr", type=float, default=10.0, help="dB")
    parser.add_argument("--trials", type=int, default=4, help="of each pair")
    parser.add_argument("--classes", nargs="*", help="only these")
    parser.add_argument(
        "--families", action="store_true", help="only changes of the family, and only it counts"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/follow"))
    args = parser.parse_args()
    bundle = load_bundle(args.bundle)
    front_end = bundle.meta.front_end
    if not isinstance(front_end, BandSettings):
        raise ConfigError(f"model {bundle.name} does not run behind the band front end")
    head = choose_head(bundle, "", "live")
    model = Follower(bundle, head, args.families)
    names = [name for name in args.classes or head.classes if FAMILIES.get(name) in ("PSK", "QAM")]
    pairs = [
        pair
        for pair in permutations(names, 2)
        if not args.families or FAMILIES[pair[0]] != FAMILIES[pair[1]]
        for _ in range(args.trials)
    ]
    rows, lost = list[dict[str, Any]](), 0
    with Progress("following", len(pairs)) as progress:
        for n, pair in enumerate(pairs):
            trial = make_trial(front_end.fraction, pair, args.snr, args.seed * 10_000 + n % args.trials)
            rows += [model.measure(trial, way) for way in WAYS] if trial else []
            lost += trial is None
            progress.to(n + 1)
    print(
        f"{bundle.name}, head {head.name}: {args.snr:g} dB, {len(pairs) - lost} changes; {lost} more seen by "
        "the front end itself or lost; delays in samples at the model's rate"
    )
    print(as_text(rows))
    args.out.mkdir(parents=True, exist_ok=True)
    finite = [row | {k: row[k] if np.isfinite(row[k]) else None for k in ("samples", "ms")} for row in rows]
    result = {"sha256": bundle.sha256, "snr_db": args.snr, "seed": args.seed, "rows": finite}
    path = args.out / f"{bundle.name}-{args.snr:g}dB{'-families' if args.families else ''}.json"
    path.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
