"""Readable lines on a terminal, JSON in a pipe, no colour on request, shell completion, a manual page."""

import json
import os
import pty
import subprocess
import sys

import pytest

from service.cli import ALL
from tests.require import ROOT, need_program

WAVETELL = [sys.executable, "-m", "service.cli"]
DEMO = str(ROOT / "service/demo/demo.sigmf-meta")
MANUAL = ROOT / "service/shell/wavetell.1"


def on_terminal(*argv, **environment):
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    child = subprocess.Popen(
        [*WAVETELL, *argv], stdout=theirs, stderr=subprocess.DEVNULL, env=env | environment, cwd=ROOT
    )
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 65_536):
            written += piece
    except OSError:  # the last writer is gone
        pass
    os.close(ours)
    assert child.wait(60) == 0
    return written.decode()


def piped(*argv):
    """What it writes into a pipe, on stdout and stderr."""
    done = subprocess.run([*WAVETELL, *argv], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def shown():
    """The demo's beginning on a terminal."""
    return on_terminal("listen", DEMO, "--seconds", "3")


def test_a_terminal_shows_a_line_per_event(shown):
    lines = shown.splitlines()
    assert "centre" in lines[0]
    assert "answer" in lines[0]
    events, _ = piped("listen", DEMO, "--seconds", "3")
    told = {}
    expected = 0
    for event in map(json.loads, events.splitlines()):
        expected += event["state"] != "update" or told.get(event["emission"]) != event["label"]
        told[event["emission"]] = event["label"]
    assert len(lines) - 1 == expected


def test_a_terminal_shows_colours_unless_it_is_asked_not_to(shown):
    assert "\x1b[" in shown
    assert "\x1b[" not in on_terminal("listen", DEMO, "--seconds", "3", NO_COLOR="1")
    assert "\x1b[" not in piped("listen", DEMO, "--seconds", "3", "--text")[0]


def test_a_recording_comes_with_wavetell():
    assert piped("listen", "demo", "--seconds", "1")[0] == piped("listen", DEMO, "--seconds", "1")[0]


def test_a_terminal_shows_json_where_it_is_asked_for():
    shown = on_terminal("listen", DEMO, "--seconds", "1", "--json")
    assert json.loads(shown.splitlines()[0])["state"] == "new"


def test_a_pipe_gets_the_three_likeliest_classes_or_all():
    few, said = piped("listen", DEMO, "--seconds", "1", "--model", "paper-synthetic")
    every, nothing = piped(
        "listen", DEMO, "--seconds", "1", "--model", "paper-synthetic", "--probabilities", "-q"
    )
    assert "wavetell: " in said
    assert nothing == ""
    for three, all_ in zip(
        map(json.loads, few.splitlines()), map(json.loads, every.splitlines()), strict=True
    ):
        assert len(all_["probabilities"]) == 4
        expected = sorted(all_["probabilities"].items(), key=lambda item: -item[1])[:3]
        assert list(three["probabilities"].items()) == expected


def completed(*words):
    """What bash offers for the last word."""
    script = (
        'source <("$PYTHON" -m service.cli completion bash); COMP_WORDS=(wavetell "$@"); COMP_CWORD=$#; '
        '_wavetell; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script, "bash", *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=os.environ | {"PYTHON": sys.executable},
    )
    return set(done.stdout.split())


def test_bash_completes_commands_flags_and_values():
    assert completed("re") == {name for name in ALL if name.startswith("re")}
    assert completed("listen", "--se") == {"--seconds"}
    assert completed("listen", "--backend", "native") == {"native", "native-bf16"}


def test_every_shell_has_every_command():
    for shell in ("zsh", "fish"):
        script, _ = piped("completion", shell)
        assert all(name in script for name in ALL)


def test_the_manual_page_is_sound_and_has_every_command_and_exit_code():
    man = need_program("man")
    done = subprocess.run(
        [man, "--warnings", "-E", "UTF-8", "-l", str(MANUAL)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"MANWIDTH": "80", "LC_ALL": "C.UTF-8"},
    )
    assert done.stderr == ""
    assert all(f"wavetell {name}" in done.stdout for name in ALL)
    assert "EXIT STATUS" in done.stdout
    assert "130" in done.stdout
