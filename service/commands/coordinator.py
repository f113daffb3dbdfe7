"""Coordinate a federation: stations train on their own recordings, and send only updates of the encoder.

Without an action it serves, and goes on where it was stopped or killed. The recipe, the terms and the seed
are fixed when the folder is new. The coordinator sees the updates of single stations.

examples:
  wavetell coordinator add north-tower          (prints the station's token, once)
  wavetell coordinator --quorum 3 --deadline 1800
  wavetell coordinator list
  wavetell coordinator audit
  wavetell coordinator revoke north-tower
  wavetell coordinator --recipe radio --start radio --rounds 0      (rounds without an end)
  wavetell coordinator rollback 12              (model 12 is the newest again, for all stations)
  wavetell coordinator --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --tls-clients stations-ca.pem
"""

import argparse
import json
import logging
from dataclasses import replace
from pathlib import Path

from service.settings import add_settings, settings
from streaming.bundle import load_bundle
from streaming.errors import ConfigError
from training.federation.manifest import METHODS, Terms

DEFAULT = Terms()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument(
        "action", nargs="?", default="serve", choices=["serve", "add", "list", "revoke", "audit", "rollback"]
    )
    parser.add_argument("name", metavar="STATION", nargs="?", default="", help="or the model, for rollback")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--folder", type=Path, default=Path("runs/federation"), help="where it lives")
    group = parser.add_argument_group("a new federation")
    group.add_argument("--run-name", default="main", metavar="NAME", help="what it is called [main]")
    group.add_argument(
        "--recipe", default="wavetell", help="wavetell (default), paper, or radio for what is heard"
    )
    group.add_argument("--rounds", type=int, help="models to make, 0 for no end; default: the recipe's")
    group.add_argument("--steps", type=int, help="steps a station and round; default: the recipe's")
    group.add_argument("--seed", type=int, default=0)
    group.add_argument("--quorum", type=int, default=DEFAULT.quorum, help="updates a round needs")
    group.add_argument("--deadline", type=float, default=DEFAULT.deadline_s, metavar="S")
    group.add_argument("--grace", type=float, default=DEFAULT.grace_s, metavar="S", help="after the quorum")
    group.add_argument("--method", choices=METHODS, default=DEFAULT.method, help="how updates are averaged")
    group.add_argument("--start", default="", metavar="MODEL", help="begin with this model's encoder")
    group.add_argument("--proximal", type=float, help="pull to a round's first model [the recipe's]")
    group.add_argument("--replay", type=int, default=0, metavar="N", help="simulated frames at each station")
    add_privacy(group)
    parser.add_argument("--port", type=int, default=8434, help="port it listens on; 0 chooses one [8434]")
    parser.add_argument(
        "--tls-clients", default="", metavar="FILE", help="whose certificates stations must show"
    )
    add_settings(parser, "host", "data", "tls_cert", "tls_key", "allow_names", "max_rate", "max_connections")


def add_privacy(group: argparse._ArgumentGroup) -> None:
    """Flags of differential privacy; `wavetell simulate` has them, too."""
    group.add_argument("--epsilon", type=float, help="differential privacy of a station, for all rounds")
    group.add_argument("--delta", type=float, default=DEFAULT.delta, help="its delta [1e-5]")
    group.add_argument("--clip", type=float, default=1.0, help="with --epsilon: most norm of an update")


def private(terms: Terms, args: argparse.Namespace, rounds: int) -> Terms:
    """The terms with as much noise as --epsilon asks for."""
    if args.epsilon is None:
        return terms
    if args.rounds == 0:
        raise ConfigError("--epsilon is spent by every round; it needs --rounds with an end")
    from training.federation.privacy import noise_for

    noise = noise_for(args.epsilon, args.delta, rounds)
    return replace(terms, noise=noise, clip=args.clip, delta=args.delta)


def run(args: argparse.Namespace) -> None:
    """Serve, or look after the stations."""
    from training.federation.coordinator.rounds import ask_to_roll_back
    from training.federation.coordinator.stations import Stations
    from training.federation.coordinator.store import Store

    if args.action == "serve":
        serve(args)
        return
    store = Store(args.folder)  # a coordinator may be running on it
    stations = Stations(store)
    if args.action == "list":
        for row in stations.all():
            state = "revoked" if row["revoked"] else "active"
            print(
                json.dumps({"name": row["name"], "state": state})
                if args.json
                else f"{row['name']:<24} {state}"
            )
    elif args.action == "audit":
        for row in store.query("SELECT * FROM audit ORDER BY id"):
            print(json.dumps(row))
    elif args.action == "rollback":
        if not args.name.isdecimal():
            raise ConfigError("wavetell coordinator rollback needs a model's number; see the page")
        ask_to_roll_back(store, int(args.name))
    elif not args.name:
        raise ConfigError(f"wavetell coordinator {args.action} needs a station's name")
    elif args.action == "add":
        token = stations.add(args.name)
        print(json.dumps({"name": args.name, "token": token}) if args.json else token)
    else:
        stations.revoke(args.name)


def serve(args: argparse.Namespace) -> None:
    """Serve until stopped."""
    from service.federation.server import BACKLOG, coordinator_rules, make_coordinator_server
    from service.web.connections import bind
    from service.web.security import Tokens
    from training.federation.coordinator.rounds import Coordinator
    from training.federation.coordinator.store import Store

    values = settings(args)
    store = Store(args.folder)
    is_new = not store.query("SELECT 1 FROM run")
    store.close()
    if is_new:
        from training.federation.station.learner import make_manifest
        from training.pretraining.recipes import find_recipe

        recipe = find_recipe(args.recipe)
        recipe = replace(recipe, rounds=args.rounds or recipe.rounds, steps=args.steps or recipe.steps)
        if args.rounds == 0:
            recipe = replace(recipe, rounds=1, schedule="constant")  # there is no end to slow down for
        proximal = recipe.proximal if args.proximal is None else args.proximal
        recipe = replace(recipe, proximal=proximal, replay=args.replay)
        terms = private(Terms(args.quorum, args.deadline, args.grace, args.method), args, recipe.rounds)
        start = load_bundle(args.start) if args.start else None
        manifest, model = make_manifest(args.run_name, recipe, args.seed, start)
        if args.rounds == 0:
            manifest = replace(manifest, rounds=0)
        Coordinator.create(args.folder, manifest, terms, model).close()
    listener = bind(values, BACKLOG)
    coordinator = Coordinator(args.folder)
    rules = coordinator_rules(coordinator, values, Tokens(Path(values.data).expanduser() / "tokens.json"))
    server = make_coordinator_server(
        coordinator, rules, values, args.tls_clients, logging.INFO if args.verbose else logging.WARNING
    )
    scheme, port = "https" if values.tls_cert else "http", listener.getsockname()[1]
    where = f"[{values.host}]" if ":" in values.host else values.host
    url, name = f"{scheme}://{where}:{port}/", coordinator.manifest.run
    as_json = json.dumps({"url": url, "run": name})
    print(as_json if args.json else f"wavetell: {url} coordinates {name}", flush=True)
    server.run([listener])
