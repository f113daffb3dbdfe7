"""From a recording through real ZMQ to printed answers, and over HTTP, in processes as a user starts them."""

import json
import os
import signal
import subprocess
import sys
import time

import httpx
import numpy as np
import pytest

from service.demo import RECORDING
from tests.ports import free_port
from tests.require import ROOT
from training.pretraining.radio import HEARD
from training.signals.classes import FAMILIES

WAVETELL = [sys.executable, "-m", "service.cli"]


@pytest.fixture
def start():
    """Start a command; end it by its pid afterwards."""
    started = []

    def start(*argv, **more):
        started.append(
            subprocess.Popen([*WAVETELL, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        )
        return started[-1]

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=20)


def lines(process):
    """The JSON lines of a process that ends by itself."""
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    return [json.loads(line) for line in out.splitlines()]


def test_a_replayed_recording_is_heard_and_named(start):
    air = f"tcp://127.0.0.1:{free_port()}"
    start("replay", str(RECORDING), "--zmq", air, "--loop", "--tags")
    heard = lines(start("listen", f"zmq:{air}", "--seconds", "3"))
    assert heard[0]["state"] == "new"
    assert {line["family"] for line in heard} - {None} <= {FAMILIES[name] for name in HEARD}
    assert all(line["end"] > line["begin"] for line in heard)
    assert all(line["lower_hz"] < line["centre_hz"] < line["upper_hz"] for line in heard)
    assert all(line["lost"] == 0 for line in heard)


def test_listen_names_what_the_recording_holds(start):
    """The annotations say what was sent; the last word on most of it that names a family is right."""
    heard = lines(start("listen", str(RECORDING)))
    right, found = [], 0
    for note in json.loads(RECORDING.read_text())["annotations"]:
        if note["core:label"] == "noise":
            continue
        first, last = (note["core:sample_start"] + share * note["core:sample_count"] for share in (0.2, 1.02))
        told = [line for line in heard if first < line["end_sample"] <= last and line["state"] != "end"]
        found += bool(told)
        right += [told[-1]["family"] == note["wavetell:family"]] if told and told[-1]["family"] else []
    assert found >= 9  # of ten
    assert len(right) >= 6
    assert np.mean(right) > 0.7


def test_predict_and_the_service_agree(start, tmp_path):
    samples = np.fromfile(RECORDING.with_suffix(".sigmf-data"), "i1")[: 2 * 150_000]
    (tmp_path / "part_100k.cs8").write_bytes(samples.tobytes())
    printed = lines(start("predict", str(tmp_path / "part_100k.cs8"), "--json"))
    port = free_port()
    service = start("serve", "--port", str(port))
    address = f"http://127.0.0.1:{port}/v1"
    for _ in range(1000):
        assert service.poll() is None
        try:
            health = httpx.get(f"{address}/health").json()
            break
        except httpx.TransportError:
            time.sleep(0.1)
    assert health["status"] == "ok"
    answer = httpx.post(
        f"{address}/predict?datatype=ci8&rate_hz=100000", content=samples.tobytes(), timeout=300
    ).json()
    assert len(printed) > 1
    for ours, line in zip(answer["emissions"], printed[:-1], strict=True):
        assert {name: ours[name] for name in line} == line
    assert answer["whole"]["label"] == printed[-1]["label"]
    assert httpx.post(f"{address}/predict?datatype=ci8", content=b"x").status_code == 422


def test_the_demo_prints_its_address_and_answers():
    demo = subprocess.Popen(
        [sys.executable, "-m", "service.demo", "--seconds", "3"],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        start_new_session=True,
        env=os.environ | {"WAVETELL_PORT": str(free_port())},
    )
    try:
        out = demo.communicate(timeout=500)[0].decode()
    except subprocess.TimeoutExpired:
        os.killpg(demo.pid, signal.SIGTERM)
        raise
    assert "http://127.0.0.1:" in out
    assert " new " in out
    assert "{" not in out  # plain lines, no JSON
    assert len(out.splitlines()) < 30
