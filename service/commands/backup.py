"""Back up everything that a service keeps, while it runs: one tar file with a checksum of every member.

History, labels, recordings, models, the streams that are opened again and the hashes of tokens. A history in
PostgreSQL is not included: pg_dump backs it up.

examples:
  wavetell backup wavetell-monday.tar
  wavetell backup /mnt/disk/station.tar --data /srv/wavetell
"""

import argparse
import json
import sys
from pathlib import Path

from service.settings import add_settings, settings
from service.storage.backup import HISTORY, back_up


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("file", metavar="FILE", type=Path, help="the backup; it must not exist yet")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    add_settings(parser, "data", "history")


def run(args: argparse.Namespace) -> None:
    """Write the backup and say what is in it."""
    values = settings(args)
    sums = back_up(Path(values.data).expanduser(), args.file, history_included=not values.history)
    report(args, args.file, sums)
    if values.history:
        print(
            "wavetell: the history is in PostgreSQL and is not included; pg_dump backs it up", file=sys.stderr
        )


def report(args: argparse.Namespace, path: Path, sums: dict[str, str]) -> None:
    """How much there is of each kind."""
    labels, recordings = (
        sum(name.startswith(f"{kind}/") and name.endswith(".sigmf-meta") for name in sums)
        for kind in ("labels", "recordings")
    )
    models = sum(name.endswith(".safetensors") for name in sums)
    if args.json:
        counts = {"labels": labels, "recordings": recordings, "models": models, "history": HISTORY in sums}
        print(json.dumps({"path": str(path)} | counts))
        return
    history = "with the history" if HISTORY in sums else "no history"
    print(f"{path}: {labels} labels, {recordings} recordings, {models} models, {history}")
