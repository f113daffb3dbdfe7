"""Measure how fast this machine runs a part of wavetell.

examples:
  wavetell bench engine
  wavetell bench engine --help
"""

import argparse
from importlib import import_module

# name -> what it measures; each is a module of service.bench with `add_arguments` and `run`
BENCHMARKS = {
    "engine": "samples a second of every back end, beside what a user would pick instead",
    "service": "a hop from ZMQ to a WebSocket, and requests to /predict beside a plain endpoint",
    "band": "a band of many emissions in real time through the service: drops, load, latency, names",
    "pretrain": "a step of pretraining, beside the published form of it",
    "federation": "what a round costs beside the training: seconds, bytes, requests; Flower's beside it",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """A sub-command for each benchmark."""
    commands = parser.add_subparsers(metavar="NAME", required=True)
    for name, line in BENCHMARKS.items():
        module = import_module(f"service.bench.{name}")
        command = commands.add_parser(
            name, help=line, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        module.add_arguments(command)
        command.set_defaults(benchmark=module.run)


def run(args: argparse.Namespace) -> None:
    """Run the benchmark that was named."""
    args.benchmark(args)
