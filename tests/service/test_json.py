"""What a command tells is JSON where it is asked to, and with -q nothing else is said."""

import json
import subprocess
import sys
from importlib import import_module

import pytest

from service.cli import ALL, Parser
from tests.require import ROOT

DEMO = str(ROOT / "service/demo/demo.sigmf-meta")
# Scripts of a shell, samples to a socket, or JSON lines anyway; benchmarks have it one by one.
NOTHING_TO_TELL = {"completion", "replay", "simulate", "bench"}


def wavetell(*argv):
    """What a command writes to stdout and stderr."""
    command = [sys.executable, "-m", "service.cli", *map(str, argv)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout, done.stderr


@pytest.mark.parametrize("name", sorted(set(ALL) - NOTHING_TO_TELL))
def test_a_command_has_json(name):
    parser = Parser()
    import_module(f"service.commands.{name}").add_arguments(parser)
    assert "--json" in parser.format_help()


@pytest.fixture
def kept(tmp_path):
    """The folder of a service that has a token."""
    wavetell("token", "add", "me", "--role", "operate", "--data", tmp_path / "kept")
    return tmp_path / "kept"


def test_small_commands_tell_json_and_are_quiet(tmp_path, kept):
    backup, restored, made = tmp_path / "b.tar", tmp_path / "restored", tmp_path / "made.sigmf"
    for expected, argv in {
        ("name", "role"): ["token", "list", "--data", kept],
        ("name", "role", "token"): ["token", "add", "you", "--data", kept],
        ("path", "labels", "recordings", "models", "history"): ["backup", backup, "--data", kept],
        ("path", "samples", "annotations"): ["generate", made, "--classes", "BPSK", "--seconds", "0.1"],
        ("path", "samples", "lost", "rate_hz"): ["record", DEMO, tmp_path / "r", "--seconds", "0.1"],
    }.items():
        told, said = wavetell(*argv, "--json", "--quiet")
        assert tuple(json.loads(told)) == expected
        assert said == ""
    told, _ = wavetell("restore", backup, "--data", restored, "--json")
    assert json.loads(told)["path"] == str(restored)


def test_a_quiet_command_still_tells_its_error():
    command = [sys.executable, "-m", "service.cli", "record", "missing.sigmf-meta", "out", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr.startswith("wavetell: ")
    assert done.stderr.count("\n") == 1
