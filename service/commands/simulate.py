"""Run a federation in one process, for experiments: the same code as over HTTP, without sockets.

Prints one JSON object a round, and with --probe the accuracy of each model. A run that was stopped goes on.

examples:
  wavetell simulate --rounds 3 --steps 60 --probe
  wavetell simulate --stations 8 --precision int8,float32
  wavetell simulate --attack flip --attackers 1 --method median --probe
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

from service.commands.coordinator import add_privacy, private
from streaming.errors import ConfigError
from training.federation.manifest import METHODS, PRECISIONS, Terms


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument(
        "--stations", type=int, default=4, help="how many; they repeat the paper's four clients"
    )
    parser.add_argument("--recipe", default="wavetell", help="wavetell (default) or paper")
    parser.add_argument("--rounds", type=int, help="default: the recipe's")
    parser.add_argument("--steps", type=int, help="steps a station and round; default: the recipe's")
    parser.add_argument("--frames", type=int, default=140_000, help="unlabelled frames a station")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--precision", default="float32", help=f"{', '.join(PRECISIONS)}; several are taken in turn"
    )
    parser.add_argument("--method", choices=METHODS, default="mean", help="how updates are averaged")
    parser.add_argument(
        "--attack", choices=["flip", "noise"], help="what dishonest stations do to their updates"
    )
    parser.add_argument(
        "--attackers", type=int, default=1, help="with --attack: how many stations are dishonest"
    )
    add_privacy(parser.add_argument_group("privacy"))
    parser.add_argument("--probe", action="store_true", help="measure the accuracy of every model")
    parser.add_argument("--folder", type=Path, default=Path("runs/simulation"))


def run(args: argparse.Namespace) -> None:
    """Run it to its end."""
    from service.federation.page import mean
    from training.federation.coordinator.rounds import Coordinator
    from training.federation.simulate import ATTACKS, simulate
    from training.federation.station.learner import accuracy
    from training.pretraining.recipes import find_recipe

    names = args.precision.split(",")
    precisions = [precision for name in names for precision in PRECISIONS if precision == name]
    if len(precisions) != len(names):
        raise ConfigError(f"--precision is {args.precision!r}; it may name {', '.join(PRECISIONS)}")
    recipe = find_recipe(args.recipe)
    recipe = replace(recipe, rounds=args.rounds or recipe.rounds, steps=args.steps or recipe.steps)
    attackers = range(args.attackers if args.attack else 0)
    reported = 0  # generation

    def report(coordinator: Coordinator) -> None:
        nonlocal reported
        rounds = coordinator.store.query(
            "SELECT * FROM rounds WHERE state = 'PUBLISHED' ORDER BY number DESC LIMIT 1"
        )
        if not rounds or rounds[0]["generation"] == reported:
            return
        reported = rounds[0]["generation"]
        updates = coordinator.store.query("SELECT * FROM updates WHERE round = ?", (rounds[0]["number"],))
        line = {"round": rounds[0]["number"], "loss": mean(updates, "loss", "{:.4f}")}
        line |= {"refused": [u["station"] for u in updates if u["state"] == "refused"]}
        line |= {"bytes_up": sum(u["bytes"] for u in updates)}
        epsilon = coordinator.epsilon(reported)
        line |= {} if epsilon is None else {"epsilon": round(epsilon, 3)}
        if args.probe:
            model = coordinator.models.open(coordinator.models.of(reported)["float32"]).arrays()
            line["accuracy"] = round(accuracy(coordinator.manifest, model), 4)
        print(json.dumps(line), flush=True)

    simulate(
        args.folder,
        recipe,
        args.stations,
        args.seed,
        args.frames,
        private(Terms(quorum=args.stations, method=args.method), args, recipe.rounds),
        precisions,
        {i: ATTACKS[args.attack] for i in attackers},
        report,
    ).close()
