"""Record a source as SigMF; lost samples become new captures.

NAME.sigmf makes one archive, NAME.sigmf-meta (or plain NAME) the usual pair of files. Ctrl-C ends it.

examples:
  wavetell record 'soapy:driver=rtlsdr?freq=433.92M&rate=1.024M' capture.sigmf-meta --seconds 10
  wavetell record zmq:tcp://127.0.0.1:5555?rate=250k capture.sigmf --max-size 1G
"""

import argparse
import contextlib
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("source", help="the address of a source, or a recording")
    parser.add_argument("out", help="where to write to; it must not exist yet")
    parser.add_argument("--seconds", metavar="S", help="end after this many seconds of the source")
    parser.add_argument("--max-size", metavar="BYTES", help="end before the samples take more, such as 500M")
    parser.add_argument("--description", default="", help="free text for the metadata")


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from hardware import open_source, source_address
    from hardware.address import parse_number
    from hardware.recorder import Recorder
    from streaming.errors import ConfigError, SourceError

    limits = {}
    for name, text in (("--seconds", args.seconds), ("--max-size", args.max_size)):
        limits[name] = None if text is None else parse_number(text, name)
        if (limit := limits[name]) is not None and limit <= 0:
            raise ConfigError(f"{name} is {text}; it must be above 0")
    with open_source(source_address(args.source)) as source:
        if source.inferred:
            print(source.inferred, file=sys.stderr)
        recorder = Recorder(args.out, limits["--max-size"], limits["--seconds"], args.description)
        with recorder, contextlib.suppress(KeyboardInterrupt):
            for block in source.blocks():
                if not recorder.push(block):
                    break
        rate_hz = source.rate_hz
    if not recorder.samples:
        raise SourceError(f"nothing was recorded: {recorder.ended}")
    lost = f", {recorder.lost} lost" if recorder.lost else ""
    seconds = recorder.samples / rate_hz
    print(f"{recorder.meta}: {recorder.samples} samples, {seconds:g} s{lost}", file=sys.stderr)
    if recorder.failed:
        raise SourceError(str(recorder.ended))
