"""Take part in a federation: train on own unlabelled recordings, and send updates of the encoder.

What leaves this machine are differences of the encoder's weights, the number of frames and the loss; never
samples, labels or a head. Training runs at low priority. Whatever happens to the network, the coordinator or
this process, the same command goes on where it was.

The token is what `wavetell coordinator add` printed, in the environment as WAVETELL_STATION_TOKEN or in a
file; a service that asks for one gets WAVETELL_SERVICE_TOKEN.

With --each-round, each round's model is judged by the station's own labels: it is taken into use where its
held-out accuracy does not fall, or where the coordinator has rolled the federation back. Only that number
leaves the station. It is meant for federations whose rounds go on (`wavetell coordinator --rounds 0`).

examples:
  wavetell join https://coordinator:8434 --station north-tower --recordings ~/recordings
  wavetell join https://coordinator:8434 --station north-tower --recordings ~/recordings \\
      --labelled ~/labelled --service http://127.0.0.1:8433
  wavetell join https://coordinator:8434 --station north-tower --stream ID --service http://127.0.0.1:8433
  wavetell join http://127.0.0.1:8434 --station client-1 --client 1 --precision int8 --token-file token
"""

import argparse
import json
import os
import ssl
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from streaming.bundle import load_bundle
from streaming.errors import ConfigError
from streaming.files import write_whole
from streaming.prediction import utc_text
from training.federation.manifest import PRECISIONS, Manifest
from training.federation.station.background import Background
from training.federation.station.buffer import fetch_buffer
from training.federation.station.client import HttpExchange
from training.federation.station.deploy import put_to_use
from training.federation.station.judging import CANDIDATE, take_into_use
from training.federation.station.lesson import Data, Recordings, Synthetic, Wanted
from training.federation.station.loop import Result, Station

HEARD = ("round", "state", "deadline", "quorum", "last", "rolled_back")  # kept for the dashboard


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("url", metavar="URL", help="the coordinator's address")
    parser.add_argument(
        "--station", required=True, metavar="NAME", help="what the coordinator calls this station"
    )
    parser.add_argument("--run-name", default="main", metavar="NAME", help="which federation [main]")
    parser.add_argument("--token-file", type=Path, metavar="FILE")
    data = parser.add_mutually_exclusive_group(required=True)
    data.add_argument("--recordings", type=Path, metavar="FOLDER", help="recordings to learn from")
    data.add_argument("--stream", metavar="ID", help="with --service: learn from this live stream's buffer")
    data.add_argument("--client", type=int, metavar="N", help="be the paper's client N, on synthetic frames")
    parser.add_argument(
        "--frames", type=int, default=140_000, metavar="N", help="frames to learn from, at most"
    )
    parser.add_argument("--probe", action="store_true", help="with --client: report each model's accuracy")
    parser.add_argument("--precision", choices=PRECISIONS, default="float32", help="of what is exchanged")
    parser.add_argument("--folder", type=Path, help="where state is kept [runs/STATION]")
    parser.add_argument("--nice", type=int, default=15, help="how far training stands back (0-19) [15]")
    parser.add_argument(
        "--seconds", type=float, default=20.0, metavar="S", help="with --stream: of its buffer [20]"
    )
    own = parser.add_argument_group("afterwards")
    own.add_argument("--service", default="", metavar="URL", help="switch this running service to the model")
    own.add_argument("--labelled", default="", metavar="DATA", help="labels for a head; see wavetell fit")
    own.add_argument("--labels", type=int, default=0, metavar="N", help="with --client: labels for a head")
    own.add_argument(
        "--each-round",
        action="store_true",
        help="with --labelled: judge every round's model, and switch where held-out accuracy does not fall",
    )
    own.add_argument("--head", default="own", metavar="NAME", help="what the head is called [own]")
    own.add_argument("--out", type=Path, metavar="FILE", help="write the last model there, as a bundle")
    parser.add_argument(
        "--patience", type=float, default=86_400.0, metavar="S", help="wait so long for the coordinator"
    )
    parser.add_argument(
        "--ca", type=Path, metavar="FILE", help="certificate that the coordinator's was signed with"
    )
    parser.add_argument(
        "--cert", type=Path, metavar="FILE", help="this station's certificate and key, in one file"
    )


def run(args: argparse.Namespace) -> None:
    """Take part until the federation is finished."""
    data: Data
    folder = args.folder or Path("runs") / args.station
    if args.stream and not args.service:
        raise ConfigError("--stream needs --service")
    if args.each_round and not args.labelled:
        raise ConfigError("--each-round needs --labelled")
    if args.client is None:
        data = Recordings(args.recordings or folder / "buffer", most=args.frames)
    elif args.client < 1 or args.frames < 1:
        raise ConfigError("--client and --frames must be at least 1")
    else:
        data = Synthetic(args.client - 1, args.frames)
    exchange = HttpExchange(
        args.url, args.run_name, args.station, read_token(args.token_file), args.patience, trust(args)
    )
    train = Background(data, args.station, args.probe, args.nice)
    try:
        station = Station(exchange, folder, partial(train_round, args, train), args.precision)
        station.work(Diary(args, folder))
        if args.each_round:
            judge_round(args, train, folder, station.known_manifest())
            return
        out = args.out or folder / "bundle.safetensors"
        if args.out or args.service:
            wanted = Wanted(out, args.head, data, args.labelled, args.labels)
            train.make_own(folder, station.known_manifest(), wanted)
            print(json.dumps({"bundle": str(out)}) if args.json else out)
    finally:
        train.close()
        exchange.close()
    if args.service:
        name = f"{args.run_name}-{station.held()[:12]}"
        put_to_use(args.service, service_token(), out, name)
        as_json = json.dumps({"service": args.service, "model": name})
        print(as_json if args.json else f"{args.service} runs {name}")


def train_round(
    args: argparse.Namespace, train: Background, folder: Path, manifest: Manifest, generation: int
) -> Result:
    """A round's training; of a live stream, on what its service keeps by now."""
    if args.stream and isinstance(train.data, Recordings):
        newest = fetch_buffer(args.service, service_token(), args.stream, args.seconds, train.data.folder)
        train.data = replace(train.data, newest=newest)
    if not args.each_round:
        return train(folder, manifest, generation)
    accuracy = judge_round(args, train, folder, manifest)
    examples, measured = train(folder, manifest, generation)
    return examples, measured | {"accuracy": accuracy}


def judge_round(args: argparse.Namespace, train: Background, folder: Path, manifest: Manifest) -> float:
    """The held-out accuracy of the round's first model; where it did not fall, the service switches to it."""
    rolled_back = bool(json.loads((folder / "status.json").read_text())["rolled_back"])
    wanted = Wanted(folder / CANDIDATE, args.head, train.data, args.labelled)
    verdict = train.judge(folder, manifest, wanted)
    used = "none" if verdict.used is None else f"{verdict.used:.1%}"
    if verdict.switches(rolled_back):
        path = take_into_use(folder)
        name = f"{args.run_name}-{load_bundle(str(path)).sha256[:12]}"
        if args.service:
            put_to_use(args.service, service_token(), path, name)
        print(f"switched to {name}: {verdict.new:.1%} of held-out labels right, before {used}", flush=True)
    else:
        print(f"stays: {verdict.new:.1%} of held-out labels right, with the used model {used}", flush=True)
    return verdict.new


def service_token() -> str:
    """The token of the running service, if it asks for one."""
    return os.environ.get("WAVETELL_SERVICE_TOKEN", "")


class Diary:
    """Prints where the federation is whenever that changes, and keeps it for the dashboard."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self.args, self.folder = args, folder
        self.said = ""

    def __call__(self, described: Mapping[str, Any]) -> None:
        """Take down what the coordinator said, and when."""
        line = f"round {described['round']}: {described['state']}"
        if line != self.said:
            as_json = json.dumps({"round": described["round"], "state": described["state"]})
            print(as_json if self.args.json else line, flush=True)
            self.said = line
        args = self.args
        status = {"name": args.station, "url": args.url, "run": args.run_name}
        status |= {key: described[key] for key in HEARD}
        status["seen"] = utc_text(time.time_ns())
        write_whole(self.folder / "status.json", json.dumps(status).encode())


def read_token(path: Path | None) -> str:
    """The station's token."""
    try:
        token = path.read_text().strip() if path else os.environ.get("WAVETELL_STATION_TOKEN", "")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    if not token:
        raise ConfigError("the station's token is missing; set WAVETELL_STATION_TOKEN or give --token-file")
    return token


def trust(args: argparse.Namespace) -> ssl.SSLContext | bool:
    """Whom to trust, and who we are."""
    if not args.ca and not args.cert:
        return True
    try:
        context = ssl.create_default_context(cafile=args.ca)
        if args.cert:
            context.load_cert_chain(args.cert)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"--ca or --cert cannot be used: {error}") from None
    return context
