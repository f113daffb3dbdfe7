"""The command line as a user meets it: help, examples, one-line errors."""

import os
import subprocess
import sys

import pytest

from service.cli import ALL, main


def wavetell(*argv, **environment):
    """Run the real command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "service.cli", *argv],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | environment,
        check=False,
    )


def test_help_is_short_and_has_every_command(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in ALL)
    assert len(text.splitlines()) < 50


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_help_with_an_example(name, capsys):
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "examples:" in text
    assert f"  wavetell {name}" in text or f" wavetell {name}" in text


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["lisen"], "there is no command 'lisen'"),
        (["predict"], "the following arguments are required: FILE"),
        (["predict", "x.cu8", "--model", "nothing"], "there is no model 'nothing'"),
        (["listen", "nonsense:x"], "nonsense"),
        (["config", "--wrong"], "unrecognized arguments: --wrong"),
        (["model", "show", "/etc/passwd"], "not a wavetell bundle"),
        (["serve", "--port", "x"], "port is 'x' (command line); it must be a whole number"),
    ],
)
def test_a_users_error_is_one_line_and_exit_code_2(argv, message):
    result = wavetell(*argv)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("wavetell: ")
    assert message in result.stderr


def test_help_does_not_wait_for_torch():
    code = "import service.cli, sys; service.cli.main(['--help']); assert 'torch' not in sys.modules"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False).returncode
        == 0
    )


def test_config_prints_values_and_origins():
    result = wavetell("config", WAVETELL_PORT="9999")
    assert "9999" in result.stdout
    assert "environment WAVETELL_PORT" in result.stdout


def test_a_reader_that_has_seen_enough_is_no_error():
    """`wavetell ... | head` ends without a traceback."""
    producer = subprocess.Popen(
        [sys.executable, "-m", "service.cli", "config", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    producer.stdout.close()
    error = producer.stderr.read()
    producer.stderr.close()
    producer.wait(30)
    assert b"Traceback" not in error
