"""Test a model on recordings of your own, or on fresh frames beside what it must beat and what nothing can.

With --recordings FOLDER the model listens to every recording as it would live. Either FOLDER/labels.csv names
the modulation of each (columns file and modulation; family, snr_db, source, grade and sample_rate_hz where
known), and there is one decision per recording, on its strongest emission. Or the recordings are SigMF with
annotated boxes, and the emissions found are matched to them in time and frequency.

Without it the clients are the paper's four, with fresh test frames of their own classes. Beside the model's
heads stand the same heads on an untrained encoder and on cumulants, fitted on as many labels, and the
likelihood limit, with the frames' level (limit) and without it (level-free), which is what a method can reach
that divides each frame by its RMS. Where the model's heads see the level, cumulants do in one more row. The
limits have frames of their own and are the same for every seed.
Accuracy counts the likeliest class; `refused` is the share that the head would call unknown.

examples:
  wavetell evaluate radio --recordings captures --workers 2
  wavetell evaluate radio --recordings captures --sources even --json
  wavetell evaluate paper-synthetic
  wavetell evaluate runs/model.safetensors --test 5000 --out runs/report
  wavetell evaluate runs/model.safetensors --keep runs/model.safetensors
  wavetell evaluate runs/model.safetensors --clients paper-cfo --rows model,cumulants --json
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from service.commands.fit import PAPER
from streaming.errors import ConfigError
from training.datasets.synthetic import paper_clients

ROWS = ("model", "live", "untrained", "cumulants", "cumulants-level", "limit", "level-free", "known")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("model", metavar="MODEL", help="a bundle's name or file")
    parser.add_argument(
        "--recordings", type=Path, metavar="FOLDER", help="judge on these recordings instead of fresh frames"
    )
    parser.add_argument(
        "--sources",
        choices=["even", "odd"],
        help="every second source of the recordings alone: choose on one half, judge on the other",
    )
    parser.add_argument("--workers", type=int, default=1, help="processes that listen to recordings [1]")
    parser.add_argument("--clients", default="paper", choices=list(PAPER), help="whose frames")
    parser.add_argument("--test", type=int, default=5_000, help="test frames a client")
    parser.add_argument(
        "--labels", type=int, default=2_800, help="labels a client for the rows that are fitted here"
    )
    parser.add_argument(
        "--live", type=int, default=400, metavar="PAST", help="samples of past of the row `live`"
    )
    parser.add_argument(
        "--limit", type=int, help="frames a client for the likelihood limit; default: for 0.4 points"
    )
    parser.add_argument(
        "--rows", help=f"which rows, with commas: {','.join(ROWS)}; default: all there are heads for"
    )
    parser.add_argument("--unnormalised", action="store_true", help="the paper's 16-QAM with points +-1, +-3")
    parser.add_argument(
        "--seed", type=int, default=0, help="of the test frames, and of the labels fitted here"
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write CSV and pictures there")
    parser.add_argument(
        "--keep", type=Path, metavar="FILE", help="write the model with these rows in it, for the dashboard"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> None:
    """Judge on recordings or on fresh frames."""
    if args.recordings:
        judge_recordings(args)
    else:
        judge_frames(args)


def judge_recordings(args: argparse.Namespace) -> None:
    """Listen to every recording, print what was found beside what is there."""
    from training.evaluation.exam import run as exam

    if args.workers < 1:
        raise ConfigError(f"--workers is {args.workers}; it must be at least 1")
    if not args.recordings.is_dir():
        raise ConfigError(f"there is no folder {args.recordings}")
    judge = exam.judge_labels if (args.recordings / "labels.csv").exists() else exam.judge_boxes
    for line in judge(args.model, args.recordings, args.sources, args.workers, args.json):
        print(line, flush=True)


def judge_frames(args: argparse.Namespace) -> None:
    """Make every row, print them, write the files."""
    from streaming.bundle import load_bundle
    from streaming.checked import as_json
    from training.evaluation import evaluate, limit, report

    bundle = load_bundle(args.model)
    live = "client-1-live" in bundle.heads
    missing = {"live": not live, "cumulants-level": not any(head.level for head in bundle.heads.values())}
    names = args.rows.split(",") if args.rows else [row for row in ROWS if not missing.get(row)]
    for name in names:
        if name not in ROWS:
            raise ConfigError(f"there is no row {name!r}; there are {', '.join(ROWS)}")
    if args.test < 1 or (args.limit is not None and args.limit < limit.FEWEST):
        raise ConfigError(f"--test must be at least 1 and --limit at least {limit.FEWEST}")
    clients = paper_clients(args.labels, args.test, 0, PAPER[args.clients], not args.unnormalised)
    make: dict[str, Callable[[], report.AnyRow]] = {
        "model": lambda: evaluate.model_row(bundle, clients, args.seed),
        "live": lambda: evaluate.model_row(bundle, clients, args.seed, "live", args.live),
        "untrained": lambda: evaluate.untrained_row(bundle.encoder, clients, args.seed),
        "cumulants": lambda: evaluate.cumulant_row(clients, args.seed),
        "cumulants-level": lambda: evaluate.cumulant_row(clients, args.seed, level=True),
        "limit": lambda: limit.limit_row(clients, "raw", args.limit),
        "level-free": lambda: limit.limit_row(clients, "rms", args.limit),
        "known": lambda: evaluate.known_row(clients, args.seed),
    }
    rows = [make[name]() for name in names]
    if args.out:
        report.write_csv(rows, args.out)
        report.write_pictures(rows, args.out)
    if args.keep:
        meta = replace(bundle.meta, evaluation=report.as_evaluation(rows))
        bundle = replace(bundle, meta=meta)
        bundle.save(args.keep)
    if args.json:
        settings = {"model": args.model, "sha256": bundle.sha256, "clients": args.clients, "seed": args.seed}
        print(json.dumps(settings | {"rows": as_json(report.as_evaluation(rows))}))
    else:
        print(report.as_text(rows))
