"""Make, list and revoke the tokens that other machines need.

Roles: read (look), operate (streams, labels, fitting), admin (models, too). A token is shown once; what is
kept is its hash. A running service notices at once.

examples:
  wavetell token add dashboard --role read
  wavetell token list
  wavetell token revoke dashboard
"""

import argparse
import json
from pathlib import Path

from service.settings import add_settings, settings
from service.web.security import ROLES, Tokens
from streaming.errors import ConfigError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("action", choices=["add", "list", "revoke"])
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="what the token is called")
    parser.add_argument("--role", choices=ROLES, default="read", help="what it allows [read]")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    add_settings(parser, "data")


def run(args: argparse.Namespace) -> None:
    """Do one thing."""
    tokens = Tokens(Path(settings(args).data).expanduser() / "tokens.json")
    if args.action == "list":
        for name, entry in tokens.entries().items():
            row = {"name": name, "role": entry["role"]}
            print(json.dumps(row) if args.json else f"{name:<20} {entry['role']}")
        return
    if not args.name:
        raise ConfigError(f"wavetell token {args.action} needs a name")
    if args.action == "add":
        token = tokens.add(args.name, args.role)
        print(json.dumps({"name": args.name, "role": args.role, "token": token}) if args.json else token)
    else:
        tokens.revoke(args.name)
