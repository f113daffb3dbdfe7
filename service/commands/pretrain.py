"""Pretrain an encoder without labels: federated averaging over several clients, on this machine.

The clients are the paper's four, or with --recipe radio four stations that hear realistic streams.

Writes the encoder as a bundle, and beside it loss and accuracy as CSV and as a picture. A run that was
stopped, even by a power cut, goes on with --resume to the same result, bit for bit.

examples:
  wavetell pretrain --out runs/mine.safetensors
  wavetell pretrain --recipe paper --steps 200 --out runs/paper.safetensors
  wavetell pretrain --recipe paper --proximal 0.1 --activation softplus --out runs/proximal.safetensors
  wavetell pretrain --out runs/mine.safetensors --resume
  wavetell pretrain --recipe radio --out runs/radio-encoder.safetensors
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from streaming.errors import ConfigError
from training.datasets.synthetic import Client, Heterogeneity, paper_clients

if TYPE_CHECKING:
    from training.pretraining.recipes import Recipe

CHANGES = ("proximal", "activation", "level")
HETEROGENEITY: dict[str, Heterogeneity] = {"paper": "labels", "paper-snr": "snr", "paper-cfo": "cfo"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    parser.add_argument("--recipe", default="wavetell", help="wavetell (default), paper or radio")
    parser.add_argument(
        "--clients", default="paper", choices=list(HETEROGENEITY), help="whose of the paper's"
    )
    parser.add_argument("--unnormalised", action="store_true", help="the paper's 16-QAM with points +-1, +-3")
    parser.add_argument("--proximal", type=float, help="mu of the proximal term; default: the recipe's")
    parser.add_argument(
        "--activation", choices=["leaky_relu", "relu", "softplus"], help="default: the recipe's"
    )
    parser.add_argument(
        "--level",
        choices=["rms", "raw"],
        help="divide frames by their RMS or not; default: the recipe's",
    )
    parser.add_argument("--rounds", type=int, help="rounds of averaging; default: the recipe's")
    parser.add_argument("--steps", type=int, help="steps a client and round; default: the recipe's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="clients trained side by side, one core each")
    parser.add_argument("--out", type=Path, default=Path("runs/encoder.safetensors"), metavar="FILE")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was stopped")


def run(args: argparse.Namespace) -> None:
    """Pretrain."""
    import torch

    from streaming.bundle import Bundle
    from streaming.bundle_meta import Meta, Provenance
    from training.datasets.emissions import FRONT_END
    from training.pretraining.curves import write_curves
    from training.pretraining.probe import probe
    from training.pretraining.radio import STATIONS, Station
    from training.pretraining.radio_probe import probe_radio
    from training.pretraining.recipes import find_recipe
    from training.pretraining.rounds import Run, federate, finished, open_run
    from training.progress import Progress

    if args.workers < 1 or args.seed < 0:
        raise ConfigError("--workers must be at least 1 and --seed at least 0")
    recipe = find_recipe(args.recipe)
    recipe = changed(recipe, args)
    radio = args.recipe == "radio"
    paper = paper_clients(heterogeneity=HETEROGENEITY[args.clients], unit_power=not args.unnormalised)
    clients: Sequence[Client | Station] = STATIONS if radio else paper
    out: Path = args.out
    state = open_run(out.with_suffix(".run"), recipe, clients, args.seed, args.resume)

    torch.set_num_threads(1)  # more would add in another order, and give other bits

    def look(state: Run) -> dict[str, dict[str, float]]:
        if radio:
            return {"accuracies": probe_radio(finished(state, frames=200), args.seed)}
        return {"accuracies": probe(finished(state, frames=1_000), paper, args.seed, recipe.level)}

    with Progress("pretraining", total=recipe.rounds * recipe.steps * len(clients)) as progress:
        federate(state, args.workers, progress.to, look)
    whose = "" if radio else f"--clients {args.clients} "
    asked = [f"--{name} {getattr(args, name)} " for name in CHANGES if getattr(args, name) is not None] + [
        "--unnormalised "
    ] * args.unnormalised
    command = (
        f"wavetell pretrain --recipe {args.recipe} {whose}{''.join(asked)}"
        f"--rounds {recipe.rounds} --steps {recipe.steps} --seed {args.seed}"
    )
    meta = Meta(provenance=Provenance(command))
    if radio:
        meta = replace(meta, front_end=FRONT_END)
    frames = 2_000 if radio else 10_000
    Bundle(finished(state, frames=frames), meta=meta, name=out.stem).save(out)
    paths = [out, *write_curves(state.history, out.with_suffix(""))]
    last = state.history[-1]["accuracies"]
    if args.json:
        print(json.dumps({"files": list(map(str, paths)), "round": state.round, "accuracies": last}))
        return
    for path in paths:
        print(path)
    print(f"probe after round {state.round}: {100 * sum(last.values()) / len(last):.1f} % right")


def changed(recipe: "Recipe", args: argparse.Namespace) -> "Recipe":
    """The recipe with what the flags ask for."""
    shape = replace(recipe.shape, activation=args.activation or recipe.shape.activation)
    return replace(
        recipe,
        rounds=args.rounds or recipe.rounds,
        steps=args.steps or recipe.steps,
        level=args.level or recipe.level,
        proximal=recipe.proximal if args.proximal is None else args.proximal,
        shape=shape,
    )
