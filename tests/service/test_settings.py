"""Settings come from the command line, the environment, two files and the defaults, in this order."""

import argparse
from dataclasses import FrozenInstanceError

import pytest

from service.settings import Settings, resolve, settings
from streaming.errors import ConfigError


@pytest.fixture(autouse=True)
def empty_machine(tmp_path, monkeypatch):
    """No configuration but what a test writes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    for name in ("MODEL", "BACKEND", "PORT", "THREADS"):
        monkeypatch.delenv(f"WAVETELL_{name}", raising=False)
    (tmp_path / "home" / "wavetell").mkdir(parents=True)
    return tmp_path


def test_the_default_holds_where_nobody_says_anything():
    port = resolve()["port"]
    assert (port.value, port.origin) == (8433, "default")


def test_each_place_wins_over_the_next_one(empty_machine, monkeypatch):
    (empty_machine / "home/wavetell/wavetell.toml").write_text("port = 1001\n")
    assert resolve()["port"].value == 1001
    (empty_machine / "wavetell.toml").write_text("port = 1002\n")
    assert resolve()["port"].value == 1002
    monkeypatch.setenv("WAVETELL_PORT", "1003")
    assert resolve()["port"].value == 1003
    chosen = resolve(argparse.Namespace(port="1004"))["port"]
    assert (chosen.value, chosen.origin) == (1004, "command line")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("port = 'x'", "port is 'x' (wavetell.toml); it must be a whole number"),
        ("port = 70000", "port is 70000 (wavetell.toml); it must be between 0 and 65535"),
        ("threads = 0", "threads is 0 (wavetell.toml); it must be between 1 and 256"),
        ("ring_s = 0", "ring_s is 0 (wavetell.toml); it must be between 1 and 1000000"),
        ("model = 3", "model is 3 (wavetell.toml); it must be text"),
        (
            "backend = 'gpu'",
            "backend is 'gpu' (wavetell.toml); it must be auto or torch or native or native-bf16",
        ),
        ("modle = 'x'", "wavetell.toml sets 'modle', which is not a setting; did you mean model?"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(empty_machine, text, message):
    (empty_machine / "wavetell.toml").write_text(text + "\n")
    with pytest.raises(ConfigError) as caught:
        resolve()
    assert str(caught.value) == message


def test_a_file_that_is_nested_too_deeply_is_one_line(empty_machine):
    (empty_machine / "wavetell.toml").write_text("port = " + "[" * 5000)
    with pytest.raises(ConfigError, match=r"wavetell\.toml cannot be read: it is nested too deeply"):
        resolve()


def test_a_file_that_is_no_toml_is_named(empty_machine):
    (empty_machine / "wavetell.toml").write_text("port 3")
    with pytest.raises(ConfigError, match=r"wavetell\.toml cannot be read"):
        resolve()


def test_the_values_cannot_be_changed_later():
    values = settings(argparse.Namespace(port="1004", model="x"))
    assert values == Settings(port=1004, model="x")
    with pytest.raises(FrozenInstanceError):
        values.port = 1005
