"""Run the paper's experiments: every table and figure, every method, with one command each.

Cells (one method, one case, one seed) are kept in OUT/SCALE/cache: a run that was stopped goes on, and tables
share their cells. Each experiment writes CSV, Markdown and pictures to OUT/SCALE. MIGOU and DeepSig cannot be
downloaded from here: put migou_dataset_19.08_400000x128.pkl and GOLD_XYZ_OSC.0001_1024.hdf5 into --data.
`stations` judges federated pretraining on real recordings: --data names a folder with ota433 and air.

scales:
  paper   the paper's protocol in full: days a method
  night   60 rounds, or 10 of 200 steps
  hour    10 rounds, or 10 of 10 steps: all methods on the synthetic set in about 40 CPU minutes a seed
  smoke   does it run?

examples:
  wavetell experiment --list
  wavetell experiment accuracy --scale hour --seeds 3
  wavetell experiment labels --methods fedavg,fedrep,cumulants
  wavetell experiment accuracy --methods fedssl-amc --proximal 0.1 --activation softplus
  wavetell experiment all --scale smoke
  wavetell experiment stations --seeds 3 --data ../shared/data --json
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streaming.errors import ConfigError

if TYPE_CHECKING:
    from training.experiments.cells import Cell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("name", nargs="?", metavar="NAME", help="an experiment, or all")
    parser.add_argument("--list", action="store_true", help="name the experiments and methods")
    parser.add_argument("--scale", default="hour", help="paper, night, hour (default) or smoke")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="how many seeds")
    parser.add_argument("--first-seed", type=int, default=0, metavar="N", help="the first of them")
    parser.add_argument("--methods", help="only these, with commas")
    parser.add_argument("--columns", help="only these columns of the table, with commas")
    add_changes(parser)
    add_station_changes(parser)
    parser.add_argument("--report", action="store_true", help="write what is there, run nothing")
    parser.add_argument("--workers", type=int, default=2, help="cells run side by side, one core each")
    parser.add_argument("--data", type=Path, default=Path("data"), metavar="FOLDER", help="measured sets")
    parser.add_argument("--out", type=Path, default=Path("runs/experiments"), metavar="FOLDER")


def add_changes(parser: argparse.ArgumentParser) -> None:
    """Settings that the paper leaves open, for every column that does not set them itself."""
    parser.add_argument("--proximal", type=float, help="mu of FedSSL-AMC's and wavetell's pretraining")
    parser.add_argument(
        "--activation", choices=["leaky_relu", "relu", "softplus"], help="of the causal encoder"
    )
    parser.add_argument("--level", choices=["rms", "raw"], help="whether frames are divided by their RMS")
    parser.add_argument("--clients", choices=["labels", "snr", "cfo"], help="how synthetic clients differ")
    parser.add_argument("--unnormalised", action="store_true", help="the paper's 16-QAM with points +-1, +-3")


def add_station_changes(parser: argparse.ArgumentParser) -> None:
    """Settings of the federations' own experiments."""
    group = parser.add_argument_group("stations and privacy")
    group.add_argument("--stations", type=int, default=1_000, metavar="N", help="with privacy: how many")
    group.add_argument("--start", default="radio", metavar="MODEL", help="first encoder; none: a new one")
    group.add_argument("--replay", type=int, metavar="N", help="simulated frames that each station adds")


def budget_changes(args: argparse.Namespace) -> tuple[tuple[str, Any], ...]:
    """What the flags change of every budget."""
    asked = {name: getattr(args, name) for name in ("level", "proximal", "activation")}
    return tuple((name, value) for name, value in asked.items() if value is not None)


def case_changes(args: argparse.Namespace) -> tuple[tuple[str, Any], ...]:
    """What the flags change of every synthetic case."""
    asked = [("heterogeneity", args.clients)] if args.clients else []
    return tuple(asked + ([("unit_power", False)] if args.unnormalised else []))


def run(args: argparse.Namespace) -> None:
    """Run one experiment, or all."""
    from training import experiments
    from training.methods import METHODS

    if args.list:
        for name, about in (experiments.EXPERIMENTS | experiments.FEDERATED).items():
            print(json.dumps({"name": name, "about": about}) if args.json else f"{name:<20} {about}")
        print(json.dumps({"methods": list(METHODS)}) if args.json else "methods: " + ", ".join(METHODS))
        return
    if args.name is None:
        raise ConfigError("name an experiment; wavetell experiment --list shows them")
    if args.name in experiments.FEDERATED:
        {"stations": run_stations, "privacy": run_privacy, "inversion": run_inversion}[args.name](args)
        return
    settings = experiments.Settings(
        out=args.out,
        scale=experiments.find_scale(args.scale),
        seeds=args.seeds,
        first_seed=args.first_seed,
        data=args.data,
        workers=args.workers,
        methods=tuple(args.methods.split(",")) if args.methods else (),
        columns=tuple(args.columns.split(",")) if args.columns else (),
        changes=budget_changes(args),
        case=case_changes(args),
        report=args.report,
        progress=ProgressLines(),
        say=lambda text: print(text, file=sys.stderr),
    )
    for path in experiments.run(args.name, settings):
        print(json.dumps({"path": str(path)}) if args.json else path)


def run_stations(args: argparse.Namespace) -> None:
    """Stations with real recordings: a JSON object, or a table."""
    from training.experiments.cells import commit
    from training.experiments.stations import REPLAY, Trial, run_trial
    from training.experiments.stations.report import as_markdown

    start = "" if args.start == "none" else args.start
    replay = REPLAY if args.replay is None else args.replay
    trial = Trial(args.scale, start, args.proximal or 0.0, replay)
    folder = args.out / trial.name
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    found = run_trial(trial, args.data, folder, seeds, lambda text: print(text, file=sys.stderr, flush=True))
    found = {"trial": trial.name, "seeds": list(seeds), "commit": commit()} | found
    print(json.dumps(found) if args.json else as_markdown(found))


def run_privacy(args: argparse.Namespace) -> None:
    """Accuracy against epsilon: a JSON object a seed and epsilon."""
    from training.experiments.privacy import Crowd, measure

    for seed in range(args.first_seed, args.first_seed + args.seeds):
        crowd = Crowd(args.stations, seed=seed)
        for row in measure(crowd, 1e-5, lambda text: print(text, file=sys.stderr, flush=True)):
            print(json.dumps({"seed": seed, "stations": args.stations} | row), flush=True)


def run_inversion(args: argparse.Namespace) -> None:
    """How often an attacker guesses what a station mostly hears: a JSON object a seed."""
    from training.experiments.inversion import Attack, run_attack

    for seed in range(args.first_seed, args.first_seed + args.seeds):
        found = run_attack(Attack(seed=seed))
        print(json.dumps({"seed": seed} | {name: str(right) for name, right in found.items()}), flush=True)


class ProgressLines:
    """Says how far the cells are, and when they will be done."""

    def __init__(self) -> None:
        self.started, self.first, self.said = time.monotonic(), 0, 0.0

    def __call__(self, done: int, total: int, cell: "Cell | None") -> None:
        """So many cells are there, this one was the last."""
        now = time.monotonic()
        if cell is None:
            self.started, self.first = now, done
            return
        if now - self.said < 2.0 and done < total:
            return
        self.said = now
        left = (total - done) * (now - self.started) / max(done - self.first, 1)
        text = f"{done}/{total} cells, last {cell.method} seed {cell.seed}, about {left / 60:.0f} min left"
        print(text, file=sys.stderr, flush=True)
