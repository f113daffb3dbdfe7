"""Make a data folder from a backup; every file is checked, and the folder appears whole or not at all.

The folder must be new or empty: a service that runs goes on with its own, and is started again with the
restored one.

examples:
  wavetell restore wavetell-monday.tar --data /srv/wavetell-restored
  wavetell serve --data /srv/wavetell-restored
"""

import argparse
from pathlib import Path

from service.commands.backup import report
from service.settings import add_settings, settings
from service.storage.restore import restore


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("file", metavar="FILE", type=Path, help="a backup that wavetell backup made")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    add_settings(parser, "data")


def run(args: argparse.Namespace) -> None:
    """Restore, and say what there is now."""
    data = Path(settings(args).data).expanduser()
    report(args, data, restore(args.file, data))
