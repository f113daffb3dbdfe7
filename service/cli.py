"""The command line: `wavetell COMMAND`.

A command is a module in `service.commands` with `add_arguments(parser)` and `run(args)`; its docstring is its
help, and the docstring's last lines are examples.
"""

import argparse
import contextlib
import logging
import os
import sys
from importlib import import_module

from streaming.errors import WavetellError
from streaming.extras import needs

# section -> command -> one line. The modules are imported only when the command is used.
COMMANDS: dict[str, dict[str, str]] = {
    "Listen": {
        "listen": "print what is on the air, a line per event",
        "predict": "name the modulation in a recording",
        "emissions": "list every emission in a band: when, where, how strong",
        "scan": "list every emission in more spectrum than a radio sees at once",
        "serve": "serve predictions over HTTP",
        "devices": "list the radios that are connected, and what each can do",
        "record": "record a source as SigMF",
        "replay": "send a recording over ZMQ, as GNU Radio would",
    },
    "Models": {
        "pretrain": "pretrain an encoder on unlabelled frames",
        "model": "look at a model, or check its file",
        "fit": "fit the heads of a model on labelled frames",
        "evaluate": "test a model on recordings of your own, or beside what it must beat",
        "explain": "why a model names a recording as it does",
        "generate": "make test signals of known modulation, as SigMF with annotations",
    },
    "Learn together": {
        "coordinator": "coordinate a federation of stations",
        "join": "take part in a federation with this station's own recordings",
        "simulate": "run a federation in one process, for experiments",
    },
    "Measure": {
        "bench": "measure how fast this machine is",
        "experiment": "run the paper's tables and figures, every method",
        "bounds": "what the paper's theorems say of an encoder and a federation, beside what is measured",
        "separability": "from which SNR on a model's heads separate clean frames",
    },
    "Settings": {
        "config": "show every setting and where it came from",
        "token": "make, list and revoke tokens of the service",
        "completion": "print what completes commands and flags in bash, zsh or fish",
        "backup": "back up everything a service keeps, while it runs",
        "restore": "make a data folder from a backup",
    },
}

ALL = {name: line for section in COMMANDS.values() for name, line in section.items()}


def overview() -> str:
    """The sectioned help."""
    lines = ["usage: wavetell COMMAND [options]", "", "Names the modulation of live radio signals.", ""]
    for section, commands in COMMANDS.items():
        lines.append(f"{section}:")
        lines += [f"  {name:<13}{line}" for name, line in commands.items()]
        lines.append("")
    lines += [
        "Try it:  wavetell listen 'file:capture_433.92M_250k.cu8?pace=realtime'",
        "Help:    wavetell COMMAND --help",
    ]
    return "\n".join(lines)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise WavetellError(f"{message} (see {self.prog} --help)")


def parse(argv: list[str]) -> argparse.Namespace:
    """The arguments of the command that was named, with its `run` as `args.run`."""
    name, rest = argv[0], argv[1:]
    if name not in ALL:
        raise WavetellError(f"there is no command {name!r}; wavetell --help lists them")
    module = import_module(f"service.commands.{name}")
    parser = Parser(
        prog=f"wavetell {name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="say what happens, on stderr")
    parser.add_argument("-q", "--quiet", action="store_true", help="nothing on stderr but errors")
    args = parser.parse_args(rest)
    args.run = module.run
    return args


def main(argv: list[str] | None = None) -> int:
    """Run one command; a user's error is one line on stderr and exit code 2."""
    argv = sys.argv[1:] if argv is None else argv
    # Heads are small products in a busy process, where BLAS threads only wait for each other. Read by numpy.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(overview())
        return 0
    if argv[0] == "--version":
        from importlib import metadata  # which takes longer than the rest of the start

        print(f"wavetell {metadata.version('wavetell')}")
        return 0
    try:
        args = parse(argv)
        logging.basicConfig(
            level=logging.INFO if args.verbose else logging.WARNING,
            format="wavetell: %(message)s",
            stream=sys.stderr,
        )
        with contextlib.ExitStack() as stack:
            if args.quiet:
                nowhere = stack.enter_context(open(os.devnull, "w"))
                stack.enter_context(contextlib.redirect_stderr(nowhere))
            args.run(args)
    except WavetellError as error:
        print(f"wavetell: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"wavetell: {needs(error, f'wavetell {argv[0]}')}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `wavetell listen ... | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
