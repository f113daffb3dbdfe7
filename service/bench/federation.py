"""Measure what a round of a federation costs beside the training: seconds, bytes and requests.

A coordinator and stations are processes of their own on loopback and exchange the paper's encoder; the
training is a moment's arithmetic, so that what is measured is everything else. Bytes are counted on the wire,
headers and all. Flower runs the same exchange with its SuperLink and SuperNodes where its environment is set
up (make flower). The first round, in which everybody arrives, is not in the seconds.

examples:
  wavetell bench federation
  wavetell bench federation --stations 4 --rounds 3 --json
  wavetell bench federation --engines int8,float32
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from service.bench.wire import Wire
from streaming.errors import ConfigError, WavetellError
from training.federation.manifest import PRECISIONS, Precision

if TYPE_CHECKING:
    from training.federation.coordinator.rounds import Coordinator

ENGINES = (*PRECISIONS, "flower")
PATIENCE_S = 120.0


@dataclass(frozen=True)
class Line:
    """One way of exchanging; bytes and requests are of one station and round."""

    engine: str
    stations: int
    rounds: int
    overhead_s: float  # a round's
    bytes_up: float
    bytes_down: float
    requests: float
    tensor_bytes: int  # of the model in float32


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The benchmark's flags."""
    parser.add_argument("--stations", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engines", default="", help=f"which of {', '.join(ENGINES)} [all that are set up]")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(args: argparse.Namespace) -> None:
    """Measure one engine after the other."""
    from service.bench.flower import FLOWER

    if args.stations < 1 or args.rounds < 2:
        raise ConfigError("--stations must be at least 1 and --rounds at least 2")
    engines = (
        args.engines.split(",") if args.engines else [e for e in ENGINES if e != "flower" or FLOWER.exists()]
    )
    lines = []
    for engine in engines:
        if engine not in ENGINES:
            raise ConfigError(f"there is no engine {engine!r}; there are {', '.join(ENGINES)}")
        if engine == "flower":
            found = measure_flower(args.stations, args.rounds)
        else:
            precision = next(precision for precision in PRECISIONS if precision == engine)
            found = measure(precision, args.stations, args.rounds)
        lines.append(found)
        if args.json:
            print(json.dumps(asdict(found)), flush=True)
    if not args.json:
        print(text(lines))


def measure(precision: Precision, stations: int, rounds: int) -> Line:
    """Our own exchange in one precision."""
    with federation(stations, rounds + 1) as (coordinator, tokens, folder), serve(folder / "run") as port:
        wire = Wire(port)
        member = ["-m", "service.bench.member", str(wire.port)]
        members = [
            python(*member, name, token, str(folder / name), precision, str(rounds))
            for name, token in tokens.items()
        ]
        requests = sum(int(output(process)) for process in members)
        end = time.monotonic() + PATIENCE_S
        while coordinator.current()["number"] <= rounds and time.monotonic() < end:
            time.sleep(0.01)
        wire.close()
        return line(precision, coordinator, stations, rounds, wire, requests)


def measure_flower(stations: int, rounds: int) -> Line:
    """The same on Flower."""
    from service.bench.flower import run_flower

    with federation(stations, rounds) as (coordinator, tokens, folder):
        wire = run_flower(coordinator, dict.fromkeys(tokens, ""), folder, "service.bench.member:arithmetic")
        return line("flower", coordinator, stations, rounds, wire, wire.requests)


def line(
    engine: str, coordinator: "Coordinator", stations: int, rounds: int, wire: Wire, requests: int
) -> Line:
    """What was measured, of a round and of a station."""
    marks = coordinator.store.query("SELECT opened, closed FROM rounds ORDER BY number")
    seconds = (marks[rounds - 1]["closed"] - marks[0]["closed"]) / (rounds - 1)
    each, size = stations * rounds, coordinator.manifest.tensor_bytes("float32")
    return Line(engine, stations, rounds, seconds, wire.up / each, wire.down / each, requests / each, size)


@contextmanager
def federation(stations: int, rounds: int) -> "Iterator[tuple[Coordinator, dict[str, str], Path]]":
    """A federation of the paper's encoder, its stations' tokens and its folder."""
    from training.federation.coordinator.rounds import Coordinator
    from training.federation.manifest import Terms
    from training.federation.station.learner import make_manifest
    from training.pretraining.recipes import RECIPES

    manifest, model = make_manifest("main", replace(RECIPES["paper"], rounds=rounds), 0)
    with tempfile.TemporaryDirectory(prefix="wavetell-bench-") as place:
        folder = Path(place)
        terms = Terms(quorum=stations, deadline_s=3600, grace_s=3600)
        coordinator = Coordinator.create(folder / "run", manifest, terms, model)
        yield coordinator, {f"s{i}": coordinator.stations.add(f"s{i}") for i in range(stations)}, folder
        coordinator.close()


@contextmanager
def serve(folder: Path) -> Iterator[int]:
    """`wavetell coordinator` on a folder; its port."""
    process = python(
        "-m", "service.cli", "coordinator", "--folder", str(folder), "--port", "0", "--data", str(folder)
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line.startswith("wavetell: http"):
            raise WavetellError("the coordinator did not start")
        yield int(line.split()[1].rstrip("/").rpartition(":")[2])
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def python(*argv: str) -> "subprocess.Popen[str]":
    """A process of ours, which finds our packages from anywhere."""
    root = str(Path(__file__).resolve().parents[2])
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))}
    return subprocess.Popen([sys.executable, *argv], stdout=subprocess.PIPE, text=True, env=env)


def output(process: "subprocess.Popen[str]") -> str:
    """What a process says before it ends well."""
    out, _ = process.communicate(timeout=PATIENCE_S)
    if process.returncode:
        raise WavetellError(f"a process of the benchmark ended with {process.returncode}")
    return out


def text(lines: list[Line]) -> str:
    """A table, and what it had to show."""
    rows = [
        "engine      overhead s  bytes up  bytes down  requests   (a round; bytes and requests a station)"
    ]
    rows += [
        f"{n.engine:<10} {n.overhead_s:>11.3f} {n.bytes_up:>9,.0f} {n.bytes_down:>11,.0f} {n.requests:>9.1f}"
        for n in lines
    ]
    by = {line.engine: line for line in lines}
    if "float32" in by:
        most = by["float32"].tensor_bytes * 1.01
        rows.append(f"float32 may have {most:,.0f} bytes (tensors + 1 %) and 3 requests")
    if "float32" in by and "int8" in by:
        both = [(n.bytes_up + n.bytes_down) for n in (by["int8"], by["float32"])]
        rows.append(f"int8 has {both[0] / both[1]:.1%} of float32's bytes; at most 27 % are allowed")
    if "float32" in by and "flower" in by:
        times = by["flower"].overhead_s / by["float32"].overhead_s
        rows.append(f"Flower takes {times:.0f} times as long; at least 10 is asked")
    return "\n".join(rows)
