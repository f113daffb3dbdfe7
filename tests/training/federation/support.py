"""A small federation for tests: real processes on loopback, with a training that is plain arithmetic."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import numpy as np

from tests.require import ROOT
from training.federation.codec import encode, sha256_of
from training.federation.coordinator.rounds import Coordinator
from training.federation.local import LocalExchange
from training.federation.manifest import Manifest, Terms
from training.federation.media import digest_header, media_type
from training.federation.station.loop import Station
from training.pretraining.checkpoint import load_checkpoint, save_checkpoint

SHAPES = {"a": (3, 40), "b": (50,), "c.d": (2, 2, 2), "e": (1,)}
NAMES = ("s1", "s2", "s3", "s4")


def a_model(seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    return {n: np.asarray(scale * rng.standard_normal(s), np.float32) for n, s in SHAPES.items()}


def federation(folder, rounds=3, names=NAMES, shapes=SHAPES, **terms):
    """A new federation and its stations' tokens."""
    terms = {"quorum": len(names), "deadline_s": 60.0, "grace_s": 0.5} | terms
    rng = np.random.default_rng(0)
    model = {n: np.asarray(rng.standard_normal(s), np.float32) for n, s in shapes.items()}
    coordinator = Coordinator.create(folder, Manifest("main", shapes, rounds=rounds), Terms(**terms), model)
    return coordinator, {name: coordinator.stations.add(name) for name in names}


def arithmetic(station, folder, manifest, generation):
    """Stands for a station's training: a function of its base, its name and the round."""
    base, _ = load_checkpoint(folder / "global.safetensors")
    rng = np.random.default_rng([generation, *hashlib.sha256(station.encode()).digest()[:4]])
    trained = {
        f"model/{n}": np.asarray(0.9 * x + 0.1 * rng.standard_normal(x.shape), np.float32)
        for n, x in base.items()
    }
    save_checkpoint(folder / "trained.safetensors", trained, {"round": generation, "step": 1})
    return 100 + len(station) * generation, {"loss": 1 / generation}


def final_model(coordinator):
    return coordinator.models.open(coordinator.models.of(coordinator.manifest.rounds)["float32"]).arrays()


def expected_model(folder, rounds=3, names=NAMES, precisions=("float32",), shapes=SHAPES, **terms):
    """What the same federation gives in one process, without anything going wrong."""
    coordinator, _ = federation(folder / "expected", rounds, names, shapes, **terms)
    members = [
        Station(
            LocalExchange(coordinator, name),
            folder / "expected" / name,
            partial(arithmetic, name),
            precisions[i % len(precisions)],
        )
        for i, name in enumerate(names)
    ]
    for _ in range(rounds):
        for member in members:
            member.step()
        coordinator.tick()
    assert coordinator.finished
    return final_model(coordinator)


def same(model, expected):
    return all(model[name].tobytes() == expected[name].tobytes() for name in expected)


def body_of(coordinator, delta=None, precision="float32", **meta):
    """An update for the current round, right unless told otherwise."""
    row = coordinator.current()
    right = {
        "round": str(row["number"]),
        "base": coordinator.models.of(row["generation"] - 1)[precision],
        "examples": "100",
    }
    return encode(a_model(1, 0.1) if delta is None else delta, precision, right | meta)


def put(http, station, token, body, number=1, precision="float32", **headers):
    """Upload with the right headers unless told otherwise; None leaves one out."""
    given = {
        "Authorization": f"Bearer {token}",
        "Content-Type": media_type(precision),
        "Content-Digest": digest_header(sha256_of(body)),
    } | {name.replace("_", "-"): value for name, value in headers.items()}
    given = {name: value for name, value in given.items() if value is not None}
    return http.put(f"/v1/runs/main/rounds/{number}/updates/{station}", content=body, headers=given)


def start(*argv, log, env=None):
    """A Python process of ours."""
    with Path(log).open("ab") as file:
        return subprocess.Popen(
            [sys.executable, *argv], stdout=subprocess.PIPE, stderr=file, text=True, cwd=ROOT, env=env
        )


def serve(folder, *argv, port=0, crash=()):
    """Start `wavetell coordinator`; the process and its address."""
    what = ["tests.training.federation.crashing", *crash] if crash else ["service.cli"]
    options = [
        "coordinator",
        "--folder",
        str(folder),
        "--port",
        str(port),
        "--data",
        str(folder / "data"),
        *argv,
    ]
    process = start("-m", *what, *options, log=folder / "log")
    line = process.stdout.readline()
    if not crash:
        assert line.startswith("wavetell: http"), line + (folder / "log").read_text()
    return process, line.split()[1].rstrip("/") if line else ""


@contextmanager
def serving(folder, *argv, **more):
    """A coordinator for a test; ended by its pid."""
    process, url = serve(folder, *argv, **more)
    try:
        yield process, url
    finally:
        end(process)


def join(folder, url, name, token, precision="float32", *argv):
    """Start a station process with arithmetic for training."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    what = ["-m", "tests.training.federation.worker", url, name, token, str(folder / name), precision]
    return start(*what, *argv, log=folder / f"{name}.log")


def take_part(folder, url, name, token, *options):
    """Start the real `wavetell join`, at the priority of everything else."""
    argv = ["join", url, "--station", name, "--folder", str(folder / name), "--nice", "0", *options]
    env = os.environ | {"WAVETELL_STATION_TOKEN": token}
    return start("-m", "service.cli", *argv, log=folder / f"{name}.log", env=env)


def end(*processes):
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait(10)
        process.stdout.close()


def wait_for(processes, seconds=60):
    """Every process ends well."""
    until = time.monotonic() + seconds
    for process in processes:
        assert process.wait(max(0.1, until - time.monotonic())) == 0


def until(condition, seconds=30.0):
    """Wait until something holds."""
    end_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end_at
        time.sleep(0.02)


def is_up(url):
    try:
        return httpx.get(f"{url}/healthz", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def kill(process):
    os.kill(process.pid, signal.SIGKILL)
    process.wait(10)
