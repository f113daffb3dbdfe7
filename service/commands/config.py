"""Show every setting, its value and where it came from.

Command line over environment (WAVETELL_*) over ./wavetell.toml over ~/.config/wavetell/wavetell.toml.

examples:
  wavetell config
  WAVETELL_BACKEND=torch wavetell config --json
"""

import argparse
import json

from service.settings import SETTINGS, resolve


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(args: argparse.Namespace) -> None:
    """Print what holds."""
    resolved = resolve()
    if args.json:
        print(
            json.dumps(
                {name: {"value": v.value, "origin": v.origin} for name, v in resolved.items()}, indent=2
            )
        )
        return
    for name, value in resolved.items():
        print(f"{name:<10} {value.value!s:<26} {value.origin:<28} {SETTINGS[name].metadata['help']}")
