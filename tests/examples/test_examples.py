"""The programs in examples/ run as their docstrings say, on real sockets, with the shipped model."""

import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file

from service.demo import RECORDING
from tests.ports import free_port
from tests.require import ROOT
from tests.service.conftest import serving

META = json.loads(RECORDING.read_text())
RATE_HZ = META["global"]["core:sample_rate"]


def command(name, *argv):
    return [sys.executable, str(ROOT / "examples" / f"{name}.py"), *map(str, argv)]


def example(name, *argv):
    """What an example prints."""
    done = subprocess.run(command(name, *argv), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sent(label):
    """The annotation of a signal in the shipped recording, by its class."""
    return next(note for note in META["annotations"] if note["core:label"] == label)


def names_of(label):
    return {label, sent(label)["wavetell:family"]}


def cut_out(path, label):
    """The noise before a signal and the signal, as raw I/Q."""
    note = sent(label)
    start, end = note["core:sample_start"] - 14_700, note["core:sample_start"] + note["core:sample_count"]
    pairs = np.fromfile(RECORDING.with_suffix(".sigmf-data"), "i1").reshape(-1, 2)
    pairs[start:end].tofile(path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("air")


@pytest.fixture(scope="module")
def service(folder):
    """The service as a new user starts it, allowed to read `folder` and the shipped recording."""
    with serving(folder / "data", "radio", "--allow-folders", f"{folder},{RECORDING.parent}") as running:
        yield running


def test_listen_zmq_prints_what_is_played_in_its_order():
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    replay = [sys.executable, "-m", "service.cli", "replay", str(RECORDING), "--zmq", endpoint, "--tags"]
    with subprocess.Popen(replay, stderr=subprocess.DEVNULL) as playing:
        try:
            *lines, last = example("listen_zmq", endpoint, "--seconds", 2).splitlines()
        finally:
            playing.terminate()
    heard = [
        (float(line.split(" s ")[0]), line.split(" s ")[1].rsplit(maxsplit=1)[0].strip()) for line in lines
    ]
    for label in ("OOK", "2FSK"):
        from_s = sent(label)["core:sample_start"] / RATE_HZ
        assert any(from_s - 0.1 < at_s < from_s + 0.8 and name in names_of(label) for at_s, name in heard), (
            lines
        )
    assert last.endswith(" samples, 0 lost")


def test_ask_rest_names_a_recording(service, folder):
    path = cut_out(folder / "one.ci8", "2FSK")
    options = ("--datatype", "ci8", "--rate-hz", RATE_HZ, "--service", service.base)
    *windows, whole = example("ask_rest", path, *options).splitlines()
    assert "no signal" in windows[0]
    assert whole.removeprefix("whole: ").split(",")[0] in names_of("2FSK")


def test_ask_rest_says_in_one_line_what_is_wrong(service, folder):
    (folder / "odd.ci8").write_bytes(b"abc")
    argv = command(
        "ask_rest", folder / "odd.ci8", "--datatype", "ci8", "--rate-hz", 1, "--service", service.base
    )
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("the body has 3 bytes")


def test_subscribe_events_prints_what_changes(service):
    argv = command("subscribe_events", "--service", service.base, "--count", 2)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as reader:
        try:
            assert reader.stdout.readline() == "subscribed\n"
            stream = service.stream(f"file:{RECORDING}?pace=realtime&loop=1", name="a remote")
            first, second = reader.communicate(timeout=60)[0].splitlines()
        finally:
            reader.kill()
    service.http.delete(f"/v1/streams/{stream}")
    assert reader.returncode == 0
    (was, became), (before, after) = (line.split(" a remote: ")[1].split(" -> ") for line in (first, second))
    assert (was, before) == ("-", became)
    assert became in names_of("OOK")
    assert after in names_of("2FSK")


def test_teach_class_fits_a_head_that_tells_two_recordings_apart(service, folder):
    sources = [
        f"{name}=file:{cut_out(folder / name, label)}?rate={RATE_HZ}&type=ci8&pace=realtime&loop=1"
        for name, label in (("bell", "OOK"), ("gate", "2FSK"))
    ]
    first, *confusion = example("teach_class", *sources, "--service", service.base).splitlines()
    assert "knows bell, gate" in first
    after = {line.split()[1]: line for line in confusion if line.split()[0] == "after"}
    for name in ("bell", "gate"):
        answers = json.loads(after[name].split("was called ")[1].replace("'", '"'))
        assert answers[name] > 0.8 * sum(answers.values())


def test_federate_leaves_both_stations_with_the_convolutions_they_made_together(tmp_path):
    out = example("federate", "--folder", tmp_path, "--rounds", 1, "--steps", 2, "--frames", 300)
    assert f"{tmp_path}/{{north,south}}.safetensors" in out
    north, south = (load_file(tmp_path / f"{name}.safetensors") for name in ("north", "south"))
    shared = [name for name in north if name.startswith("encoder/blocks.")]
    assert shared
    assert all(np.array_equal(north[name], south[name]) for name in shared)
    assert not np.array_equal(north["encoder/linear.weight"], south["encoder/linear.weight"])
