"""Settings: what holds, and where each value came from.

Command line over environment (`WAVETELL_*`) over `./wavetell.toml` over `~/.config/wavetell/wavetell.toml`
over the default. Each value is checked here, where it enters; after that it is trusted.
"""

import argparse
import difflib
import os
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from streaming.errors import ConfigError

T = TypeVar("T", str, int)


def setting(default: T, help: str, choices: tuple[str, ...] = ()) -> T:
    """A field of `Settings`; its default's type is its type."""
    return field(default=default, metadata={"help": help, "choices": choices})


@dataclass(frozen=True)
class Settings:
    """Every setting's value."""

    model: str = setting("radio", "a shipped model's name or a bundle's file")
    head: str = setting("", "the head to use; empty means the model's first that fits")
    backend: str = setting("auto", "what computes the encoder", ("auto", "torch", "native", "native-bf16"))
    threads: int = setting(1, "cores the engine may use")
    report_ms: int = setting(100, "milliseconds between reports where the answer does not change")
    host: str = setting("127.0.0.1", "address the service listens on")
    port: int = setting(8433, "port the service listens on")
    data: str = setting("~/.local/share/wavetell", "folder for everything the service keeps")
    queue_ms: int = setting(
        500, "milliseconds of a stream that may wait for the engine; beyond, they are dropped"
    )
    ring_s: int = setting(
        30, "seconds of raw I/Q kept of each stream for the spectrum, recordings and labels"
    )
    ring_mb: int = setting(128, "and at most so many megabytes")
    max_streams: int = setting(16, "streams at once")
    event_hits: int = setting(3, "hops in which a new label must come before it is an event")
    event_ms: int = setting(200, "and milliseconds that it must last")
    event_quiet: str = setting(
        "noise,carrier", "labels that are listed but are no event, separated by commas"
    )
    history: str = setting("", "postgresql:// URL of the history; empty means SQLite in the data folder")
    keep_days: int = setting(30, "days that history is kept")
    keep_alerts_days: int = setting(365, "days that alerts and their clips are kept")
    keep_recordings_days: int = setting(
        0, "days that recordings are kept; 0 means until somebody deletes them"
    )
    min_free_mb: int = setting(
        1000,
        "megabytes of the disk to be left free; below, the oldest I/Q goes first: of clips, then recordings",
    )
    keep_mb: int = setting(500, "megabytes that history may take; beyond, the oldest is deleted")
    save: str = setting("no", "record emissions on their own as they end", ("no", "unknown", "all"))
    recordings_mb: int = setting(2000, "megabytes that recordings may take together")
    clips_mb: int = setting(500, "megabytes that clips of alerts may take; beyond, the oldest are deleted")
    labels_mb: int = setting(1000, "megabytes that labelled stretches may take together")
    sinks: str = setting(
        "",
        "where events and alerts go: stdout, file:PATH, mqtt://HOST/PREFIX, https://..., and alerts alone: "
        "ntfy:https://HOST/TOPIC; separated by commas",
    )
    federation: str = setting(
        "", "folders of wavetell coordinator and wavetell join that the dashboard shows, separated by commas"
    )
    open: str = setting("no", "serve other machines without tokens", ("no", "yes"))
    tls_cert: str = setting("", "file of the TLS certificate; empty means plain HTTP")
    tls_key: str = setting("", "file of its key")
    allow_names: str = setting("", "further host names that this service answers to")
    allow_schemes: str = setting("soapy,zmq,rtltcp,file,tone", "kinds of source that may be opened over REST")
    allow_hosts: str = setting("127.0.0.1,localhost,::1", "hosts that sources opened over REST may be on")
    allow_folders: str = setting("", "folders of recordings that may be opened over REST, beside our own")
    plugin_origins: str = setting(
        "http://localhost:3000,http://127.0.0.1:3000", "IQEngine pages that may use /plugins"
    )
    max_body_mb: int = setting(64, "megabytes that a request may have")
    max_rate: int = setting(200, "requests per second that one client may send")
    max_connections: int = setting(256, "connections at once; one address may have half of them")


# Where others than 1 to a million; each of the engine's threads is one of the kernel's.
RANGES = {"port": (0, 65_535), "threads": (1, 256), "keep_recordings_days": (0, 1_000_000)}
SETTINGS = {setting.name: setting for setting in fields(Settings)}


@dataclass(frozen=True)
class Value:
    """A checked value and where it came from."""

    value: Any
    origin: str


def add_settings(parser: argparse.ArgumentParser, *names: str) -> None:
    """Give a command the flags of these settings."""
    group = parser.add_argument_group(
        "settings (also from the environment and wavetell.toml; see wavetell config)"
    )
    for name in names:
        help, choices = SETTINGS[name].metadata["help"], SETTINGS[name].metadata["choices"]
        what = f"{help} ({', '.join(choices)})" if choices else help
        default = f" [{SETTINGS[name].default}]" if SETTINGS[name].default != "" else ""
        group.add_argument(f"--{name.replace('_', '-')}", metavar=name.upper(), help=what + default)


def resolve(args: argparse.Namespace | None = None) -> dict[str, Value]:
    """Every setting with its origin."""
    files = [(path, read_toml(path)) for path in config_files()]
    resolved = {}
    for name, setting in SETTINGS.items():
        variable = f"WAVETELL_{name.upper()}"
        candidates: list[tuple[object, str]] = [(getattr(args, name, None), "command line")]
        candidates.append((os.environ.get(variable), f"environment {variable}"))
        candidates += [(content.get(name), str(path)) for path, content in files]
        candidates.append((setting.default, "default"))
        value, origin = next((value, origin) for value, origin in candidates if value is not None)
        resolved[name] = Value(check(name, value, origin), origin)
    return resolved


def settings(args: argparse.Namespace) -> Settings:
    """Every setting's value, checked."""
    return Settings(**{name: value.value for name, value in resolve(args).items()})


def listed(text: str) -> list[str]:
    """The entries of a setting that holds several.

    >>> listed("stdout, file:events.jsonl")
    ['stdout', 'file:events.jsonl']
    """
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def config_files() -> list[Path]:
    """The configuration files that are read, strongest first."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    return [Path("wavetell.toml"), home / "wavetell" / "wavetell.toml"]


def read_toml(path: Path) -> dict[str, object]:
    """The settings in a file; none where there is no file."""
    try:
        content = tomllib.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path} cannot be read: it is nested too deeply") from None
    for name in content:
        if name not in SETTINGS:
            close = difflib.get_close_matches(name, SETTINGS, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(SETTINGS)}"
            raise ConfigError(f"{path} sets {name!r}, which is not a setting; {hint}")
    return content


def check(name: str, value: object, origin: str) -> str | int:
    """The value in its setting's type, or one clear line."""
    choices = SETTINGS[name].metadata["choices"]
    if isinstance(SETTINGS[name].default, str):
        if not isinstance(value, str):
            raise ConfigError(f"{name} is {value!r} ({origin}); it must be text")
        if choices and value not in choices:
            raise ConfigError(f"{name} is {value!r} ({origin}); it must be {' or '.join(choices)}")
        return value
    try:
        number = int(str(value))
    except ValueError:
        raise ConfigError(f"{name} is {value!r} ({origin}); it must be a whole number") from None
    low, high = RANGES.get(name, (1, 1_000_000))
    if not low <= number <= high:
        raise ConfigError(f"{name} is {number} ({origin}); it must be between {low} and {high}")
    return number
