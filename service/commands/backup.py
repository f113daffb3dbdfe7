"""Back up everything that a service keeps, while it runs: one tar file with a checksum of every member.

History, labels, recordings, models, the streams that are opened again and the hashes of tokens. A history in
PostgreSQL is not included: pg_dump backs it up.

examples:
  wavetell backup wavetell-monday.tar
  wavetell backup /mnt/disk/station.tar --data /srv/wavetell
"""

import argparse
from pathlib import Path

from service.settings import add_settings, settings
from service.storage.backup import HISTORY, back_up


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("file", metavar="FILE", type=Path, help="the backup; it must not exist yet")
    add_settings(parser, "data", "history")


def run(args: argparse.Namespace) -> None:
    """Write the backup and say what is in it."""
    values = settings(args)
    sums = back_up(Path(values.data).expanduser(), args.file, history_included=not values.history)
    print(f"{args.file}: {contents(sums)}")
    if values.history:
        print("the history is in PostgreSQL and is not included; pg_dump backs it up")


def contents(sums: dict[str, str]) -> str:
    """How much there is of each kind."""
    labels, recordings = (
        sum(name.startswith(f"{kind}/") and name.endswith(".sigmf-meta") for name in sums)
        for kind in ("labels", "recordings")
    )
    models = sum(name.endswith(".safetensors") for name in sums)
    history = "with the history" if HISTORY in sums else "no history"
    return f"{labels} labels, {recordings} recordings, {models} models, {history}"
