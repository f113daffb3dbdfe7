"""A band of many emissions in real time through the real service, on so many cores.

The scene has emissions of known kind and place, 5 to 200 kHz wide, 10 to 30 dB strong, on all the time. It is
sent over ZMQ at a radio's pace. `dropped` are samples, `thinned` answers left out because there was too much
work; `cpu_share` is of one core, `stages` what part of it each stage of the pipeline took; `followed` counts
the emissions that were found at their place, `family_right` is the share of these that got the right family.
Latency is from handing the last sample of a window to ZMQ until its answer is read from the WebSocket.

Then the scene is read from a file without pacing: `highest_rate_hz` is the rate that this machine holds
without dropping or thinning anything, `samples_per_cpu_s` the same per second of processor time, whatever
else the machine does.

examples:
  wavetell bench band
  wavetell bench band --rate 10M --emissions 64 --cores 2 --seconds 600 --json
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from hardware.address import parse_number
from service.bench.band_load import Load, Outcome
from service.bench.band_scene import Band, make_band
from service.bench.service import WAVETELL, serving
from service.settings import add_settings, settings
from streaming.errors import ConfigError
from streaming.quantities import RATE_HZ, SECONDS
from training.experiments.cells import machine

UNPACED_S = 20.0  # at most
PACE = 0.99  # of the samples; below, the machine is too busy to measure on


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The benchmark's flags."""
    parser.add_argument("--rate", metavar="HZ", default="2.4M", help="samples a second [2.4M]")
    parser.add_argument("--emissions", type=int, default=16, metavar="N", help="in the band [16]")
    parser.add_argument("--seconds", default="60", help="at a radio's pace [60]")
    parser.add_argument("--cores", type=int, default=1, metavar="N", help="for the service [1]")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    add_settings(parser, "model", "head", "backend")


def run(args: argparse.Namespace) -> None:
    """Make the scene, measure, and print what was found."""
    rate_hz = parse_number(args.rate, RATE_HZ, "--rate")
    seconds = parse_number(args.seconds, SECONDS, "--seconds")
    cores = len(os.sched_getaffinity(0))
    if not 1 <= args.cores <= cores:
        raise ConfigError(f"--cores is {args.cores}; it must be 1 to {cores} on this machine")
    values = settings(args)
    options = ["--model", values.model, "--backend", values.backend, "--threads", str(args.cores)]
    options += ["--head", values.head] if values.head else []
    print(f"a scene of {args.emissions} emissions is made", file=sys.stderr, flush=True)
    band = make_band(rate_hz, args.emissions)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "band.cf32"
        band.samples.tofile(file)
        command = [*WAVETELL, "serve", *options, "--allow-folders", folder]
        with serving(command, args.cores) as base, beside(args.cores):
            found = asyncio.run(measure(base, band, file, seconds))
    about = {
        "processor": machine(),
        "cores": args.cores,
        "rate_hz": rate_hz,
        "seconds": seconds,
        "emissions": len(band.truth),
    } | found
    print(json.dumps(about) if args.json else as_text(about))


@contextmanager
def beside(cores: int) -> Iterator[None]:
    """Stay off the cores of the service, where there are others."""
    mine = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, mine[:-cores] or mine)
    try:
        yield
    finally:
        os.sched_setaffinity(0, mine)


async def measure(base: str, band: Band, file: Path, seconds: float) -> dict[str, Any]:
    """Paced, then unpaced."""
    outcome = Outcome()
    async with httpx.AsyncClient(base_url=base, timeout=60) as http:
        load = Load(base, http)
        await load.paced(band, seconds, outcome)
        await load.unpaced(file, band.rate_hz, min(seconds, UNPACED_S), outcome)
    if outcome.pace < PACE:
        print(f"this machine sent only {outcome.pace:.0%} of the samples in time", file=sys.stderr)
    p50, p99 = 1000 * np.quantile(outcome.latencies_s or [np.nan], [0.5, 0.99])
    rest = outcome.cpu_share - sum(outcome.stages.values())
    return {
        "pace": round(outcome.pace, 4),
        "dropped": outcome.dropped,
        "answered": outcome.answered,
        "thinned": outcome.thinned,
        "cpu_share": round(outcome.cpu_share, 4),
        "followed": outcome.followed,
        "family_right": round(outcome.family_right / max(1, outcome.followed), 4),
        "latency_p50_ms": round(float(p50), 2) if outcome.latencies_s else None,
        "latency_p99_ms": round(float(p99), 2) if outcome.latencies_s else None,
        "stages": {name: round(share, 4) for name, share in (outcome.stages | {"rest": rest}).items()},
        "highest_rate_hz": round(outcome.highest_rate_hz),
        "samples_per_cpu_s": round(outcome.samples_per_cpu_s),
    }


def as_text(about: dict[str, Any]) -> str:
    """For people."""
    stages = ", ".join(f"{name} {share:.0%}" for name, share in about["stages"].items())
    latency = "no answers"
    if about["latency_p50_ms"] is not None:
        latency = f"p50 {about['latency_p50_ms']:.1f} ms, p99 {about['latency_p99_ms']:.1f} ms"
    return "\n".join(
        [
            f"{about['processor']}; the service on {about['cores']}",
            f"{about['rate_hz'] / 1e6:g} MS/s, {about['emissions']} emissions, {about['seconds']:g} s: "
            f"{about['dropped']:,} samples dropped, {about['thinned']:,} of "
            f"{about['thinned'] + about['answered']:,} answers thinned, {about['cpu_share']:.0%} of a core",
            f"of a core: {stages}",
            f"{about['followed']} of {about['emissions']} emissions followed, "
            f"{about['family_right']:.0%} of these with the right family",
            f"latency: {latency}",
            f"without pacing: {about['highest_rate_hz'] / 1e6:.2f} MS/s, "
            f"{about['samples_per_cpu_s'] / 1e6:.2f} MS per second of processor time",
        ]
    )
