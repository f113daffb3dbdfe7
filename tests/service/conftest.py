"""A real service process with a small model, on loopback, ended by its pid."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from streaming.band.frontend import BandSettings
from streaming.bundle import Bundle
from streaming.bundle_meta import Meta
from streaming.encoder import Encoder
from streaming.level import LevelSettings
from streaming.shape import EncoderShape
from tests.models import tiny_head, tiny_projection

SHAPE = EncoderShape(channels=4, depth=3, reduced=6, outputs=5)  # sees 61 samples
WINDOW, HOP = 1000, 100  # of a model that takes samples as they come
SHORT_WINDOW, SHORT_HOP = 200, 50  # of an emission, behind the front end


def small_bundle(name="small", seed=1):
    """A small model on the default model's path: behind the front end, with features."""
    projection = tiny_projection(seed)
    bundle = bundle_of(
        name, seed, Meta(BandSettings()), window=SHORT_WINDOW, hop=SHORT_HOP, features=projection.outputs
    )
    heads = {n: replace(h, outlier_limit=100.0) if h.mode == "live" else h for n, h in bundle.heads.items()}
    return replace(bundle, projection=projection, heads=heads)


def level_bundle(name="level", seed=1):
    """A small model that takes samples as they come: every HOP of them an answer, whatever they hold."""
    return bundle_of(name, seed, Meta(LevelSettings(agc_samples=500.0)), window=WINDOW, hop=HOP)


def bundle_of(name, seed, meta, **live):
    encoder = Encoder(SHAPE, seed=seed)
    heads = {
        "live": tiny_head(encoder, name="live", mode="live", seed=seed, **live),
        "other": tiny_head(encoder, name="other", mode="live", seed=seed + 1, **live),
        "frames": tiny_head(encoder, name="frames", mode="frame", window=100, hop=100, seed=seed),
    }
    return Bundle(encoder, heads, meta, name)


# A test machine may be busy with other things for seconds; drops have a test of their own.
PATIENT = ("--queue-ms", "20000")


def within(seconds):
    """A time limit for an otherwise idle machine, stretched by what else runs on this one."""
    return seconds * max(1.0, os.getloadavg()[0] / os.cpu_count())


class Service:
    """A running `wavetell serve`."""

    def __init__(self, process, base, data, verify):
        self.process, self.base, self.data = process, base, data
        self.http = httpx.Client(base_url=base, timeout=100, verify=verify)

    def get(self, path, **more):
        return self.http.get(path, **more)

    def post(self, path, **more):
        return self.http.post(path, **more)

    def stream(self, source, **more):
        """Create a stream and give its id."""
        answer = self.post("/v1/streams", json={"source": source} | more)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    def until(self, path, holds, seconds=15):
        """Poll a path until the answer's JSON is as it should be."""
        end = time.monotonic() + seconds
        while True:
            answer = self.get(path).json()
            if holds(answer):
                return answer
            assert time.monotonic() < end, answer
            time.sleep(0.05)

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def stop(self):
        """End it in an orderly way; one that hangs fails the test."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


@contextmanager
def serving(data: Path, model: Path, *argv, verify=True, program="service.cli"):
    """Start the service on a port of its own choice."""
    log_path = data.parent / f"{data.name}.log"
    options = [
        "--port",
        "0",
        "--data",
        str(data),
        "--model",
        str(model),
        *PATIENT,
        *argv,
    ]
    with (
        log_path.open("ab") as log,
        subprocess.Popen(
            [sys.executable, "-m", program, "serve", *options],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            line = process.stdout.readline()
            assert line.startswith("wavetell: http"), line + log_path.read_text()
            service = Service(process, line.split()[1].rstrip("/"), data, verify)
            with service.http:
                service.until("/v1/health", lambda answer: answer)
                yield service
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """The file of a small bundle on the default model's path."""
    path = tmp_path_factory.mktemp("model") / "small.safetensors"
    small_bundle().save(path)
    return path


@pytest.fixture(scope="session")
def level_model(tmp_path_factory):
    """The file of a small bundle that takes samples as they come."""
    path = tmp_path_factory.mktemp("model") / "level.safetensors"
    level_bundle().save(path)
    return path


@pytest.fixture(scope="session")
def service(tmp_path_factory, model):
    """One service for all tests that can share it."""
    with serving(tmp_path_factory.mktemp("service") / "data", model) as running:
        yield running


@pytest.fixture(scope="session")
def level_service(tmp_path_factory, level_model):
    """One service for all tests that count windows, or answer noise."""
    with serving(tmp_path_factory.mktemp("service") / "data", level_model) as running:
        yield running
