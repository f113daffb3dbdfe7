"""The service from outside: a hop's way from a ZMQ socket to a WebSocket, and requests to /predict.

Latency is from handing the last sample of a hop to ZMQ until its answer is read from the WebSocket, all on
this machine, with the service on as many cores as --threads says. `live` is one stream, `four` is four
streams of 48 kS/s, `readers` adds 50 WebSocket readers to one stream, of whom ten never read (their buffers
are small, and fill). `predict` sends requests of 16,384 samples to the service and to a plain FastAPI
endpoint with the torch batch encoder and scikit-learn's SVC, in turns; a model behind the front end, which a
plain endpoint lacks, is replaced by paper-synthetic there.

The float32 kernel runs the encoder of paper-synthetic at some 220 kS/s on a core with AVX-512: 250 kS/s on
one core needs `--backend native-bf16` (some 300 kS/s with level, window and head); `auto` never chooses it.

examples:
  wavetell bench service
  wavetell bench service live --seconds 600 --rate 250000 --backend native-bf16
  wavetell bench service predict --clients 4
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx

from service.bench.live_load import Outcome, measure
from service.bench.predict_load import Throughput, hammer
from service.settings import add_settings, settings
from streaming.band.frontend import BandSettings
from streaming.bundle import load_bundle
from streaming.errors import ConfigError

WAVETELL = [sys.executable, "-m", "service.cli"]
SCENARIOS = ("live", "four", "readers", "predict")
P99_MS = 25.0
FASTER = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The benchmark's flags."""
    parser.add_argument(
        "scenarios", nargs="*", metavar="SCENARIO", help=f"{', '.join(SCENARIOS)}; all if none is named"
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="of each live scenario [20]")
    parser.add_argument(
        "--rate", type=float, default=250e3, help="of one stream, in samples a second [250000]"
    )
    parser.add_argument("--clients", type=int, default=4, help="that send to /predict at once [4]")
    parser.add_argument("--json", action="store_true", help="one JSON object a scenario")
    add_settings(parser, "model", "head", "backend", "threads")


def run(args: argparse.Namespace) -> None:
    """Run the scenarios one after the other."""
    values = settings(args)
    options = ["--model", values.model, "--backend", values.backend, "--threads", str(values.threads)]
    options += ["--head", values.head] if values.head else []
    for scenario in args.scenarios or SCENARIOS:
        if scenario not in SCENARIOS:
            raise ConfigError(f"there is no scenario {scenario!r}; there are {', '.join(SCENARIOS)}")
        if scenario == "predict":
            show_predict(compare(options, args), args.json)
        else:
            show_live(scenario, live(scenario, options, args, values.threads), args.json)


def live(scenario: str, options: list[str], args: argparse.Namespace, cores: int) -> Outcome:
    """One of the live scenarios, with the service on so many cores."""
    streams, rate = (4, 48e3) if scenario == "four" else (1, args.rate)
    readers, silent = (50, 10) if scenario == "readers" else (0, 0)
    with serving([*WAVETELL, "serve", *options], cores) as base:
        return asyncio.run(measure(base, streams, rate, args.seconds, readers=readers, silent=silent))


def compare(options: list[str], args: argparse.Namespace) -> tuple[Throughput, Throughput]:
    """The service and the plain endpoint, in turns so that both see the same machine."""
    if isinstance(load_bundle(options[1]).meta.front_end, BandSettings):
        options = ["--model", "paper-synthetic", *options[2:]]  # a plain endpoint has no front end
    plain_command = [sys.executable, "-m", "service.bench.plain_endpoint", *options[:2]]
    with ExitStack() as stack:
        ours = stack.enter_context(serving([*WAVETELL, "serve", *options, "--max-rate", "100000"]))
        plain = stack.enter_context(serving(plain_command))
        results: dict[str, list[Throughput]] = {ours: [], plain: []}
        for base in [ours, plain] * 3:
            results[base].append(hammer(f"{base}/v1/predict", args.clients, args.seconds / 6))
    return Throughput.together(results[ours]), Throughput.together(results[plain])


@contextmanager
def serving(command: list[str], cores: int | None = None) -> Iterator[str]:
    """A server of its own, with its own data, on the last so many cores of this machine; its address."""
    with tempfile.TemporaryDirectory() as data:
        options = ["--port", "0", "--data", data]
        with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as process:
            try:
                if cores:  # before it has any thread
                    os.sched_setaffinity(process.pid, sorted(os.sched_getaffinity(0))[-cores:])
                assert process.stdout is not None
                base = process.stdout.readline().split()[1].rstrip("/")
                wait_for(f"{base}/v1/health")
                yield base
            finally:
                process.terminate()
                process.wait(10)


def wait_for(url: str) -> None:
    """Wait until a server answers."""
    while True:
        try:
            httpx.get(url)
            return
        except httpx.TransportError:
            time.sleep(0.1)


def show_live(scenario: str, outcome: Outcome, as_json: bool) -> None:
    """What a live scenario gave, and what it had to show."""
    if as_json:
        print(json.dumps({"scenario": scenario} | outcome.summary()))
        return
    about = outcome.summary()
    print(
        f"{scenario:<8} {about['streams']} x {about['rate_hz'] / 1e3:g} kS/s, {about['seconds']:g} s: "
        f"p50 {about['p50_ms']:.1f} ms, p99 {about['p99_ms']:.1f} ms, worst {about['worst_ms']:.1f} ms, "
        f"{about['dropped']:,} samples dropped"
    )
    if about["silent"]:
        print(
            f"{'':<8} {about['silent']} silent readers missed {about['missed']:,} messages; "
            f"{about['readers']} readers were there at the end"
        )
    met = about["p99_ms"] < P99_MS and not about["dropped"]
    print(f"{'':<8} p99 under {P99_MS:g} ms without a drop: {'yes' if met else 'NO'}")


def show_predict(results: tuple[Throughput, Throughput], as_json: bool) -> None:
    """Both endpoints, and how much faster ours is."""
    ours, plain = results
    ratio = ours.per_second / plain.per_second
    if as_json:
        print(
            json.dumps(
                {"scenario": "predict", "ours": ours.summary(), "plain": plain.summary(), "ratio": ratio}
            )
        )
        return
    for name, result in (("wavetell", ours), ("plain", plain)):
        about = result.summary()
        print(
            f"predict  {name:<8} {about['per_second']:.2f} requests/s, p50 {about['p50_ms']:.0f} ms, "
            f"p99 {about['p99_ms']:.0f} ms"
        )
    print(f"{'':<8} {ratio:.2f} times; at least {FASTER:g}: {'yes' if ratio >= FASTER else 'NO'}")
