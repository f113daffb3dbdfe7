"""Record a source as SigMF; lost samples become new captures.

NAME.sigmf makes one archive, NAME.sigmf-meta (or plain NAME) the usual pair of files. Ctrl-C ends it.
With --above only what is loud is recorded, each time into a file of its own: NAME-0001, NAME-0002, ...

examples:
  wavetell record 'soapy:driver=rtlsdr?freq=433.92M&rate=1.024M' capture.sigmf-meta --seconds 10
  wavetell record 'zmq:tcp://127.0.0.1:5555?rate=250k' capture.sigmf --max-size 1G
  wavetell record g001_433.92M_250k.cu8 burst --above -20 --before 0.1 --after 0.2
"""

import argparse
import contextlib
import itertools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardware.recorder import Recorder
    from hardware.source import Source
    from streaming.block import Block


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("source", help="the address of a source, or a recording")
    parser.add_argument("out", help="where to write to; it must not exist yet")
    parser.add_argument("--seconds", metavar="S", help="end after this many seconds of the source")
    parser.add_argument("--max-size", metavar="BYTES", help="end before the samples take more, such as 500M")
    parser.add_argument("--json", action="store_true", help="one JSON object a recording, on stdout")
    parser.add_argument("--description", default="", help="free text for the metadata")
    parser.add_argument("--above", metavar="DB", help="record where 1 ms has more power than this, in dBFS")
    parser.add_argument(
        "--before", metavar="S", default="0.5", help="with --above: seconds before (default 0.5)"
    )
    parser.add_argument(
        "--after", metavar="S", default="0.5", help="with --above: seconds after (default 0.5)"
    )


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from hardware import open_source, source_address
    from hardware.address import Options
    from hardware.recorder import Recorder
    from streaming.quantities import BYTES, GAIN_DB, SECONDS

    given = Options(
        {name: text for name, text in vars(args).items() if isinstance(text, str)}, "wavetell record"
    )
    seconds, max_bytes = given.number("seconds", SECONDS), given.number("max_size", BYTES)
    with open_source(source_address(args.source)) as source:
        if source.inferred:
            print(source.inferred, file=sys.stderr)
        if args.above is not None:
            span = (given.number("before", SECONDS, 0.5), given.number("after", SECONDS, 0.5))
            level = 10 ** (given.number("above", GAIN_DB, 0.0) / 10)
            with contextlib.suppress(KeyboardInterrupt):
                record_loud(source, args, level, span, (seconds, max_bytes))
            return
        recorder = Recorder(args.out, max_bytes, seconds, args.description)
        with recorder, contextlib.suppress(KeyboardInterrupt):
            for block in source.blocks():
                if not recorder.push(block):
                    break
    report(recorder, args.json)


def record_loud(
    source: "Source",
    args: argparse.Namespace,
    level: float,
    span: tuple[float, float],
    limits: tuple[float | None, float | None],
) -> None:
    """Record each time the power is above `level`."""
    from hardware.trigger import TriggeredRecorder

    seconds, max_bytes = limits
    out, number, last = Path(args.out), itertools.count(1), None
    path = out
    triggered = TriggeredRecorder(*span, late_s=0.0, max_bytes=max_bytes)
    with contextlib.closing(triggered):
        for block in source.blocks():
            if seconds is not None and block.index >= seconds * block.rate_hz:
                break
            triggered.push(block)
            if hit := loud(block, level):
                if triggered.recorder is None:
                    path = out.with_name(f"{out.stem}-{next(number):04d}{out.suffix}")
                last = triggered.trigger(path, *hit, args.description)
            if last and triggered.recorder is None:
                report(last, args.json)
                last = None
    if last:
        report(last, args.json)


def loud(block: "Block", level: float) -> tuple[int, int] | None:
    """The first and the last sample of a block where 1 ms has more power than `level`."""
    import numpy as np

    each = max(1, round(block.rate_hz / 1000))
    power = block.samples.real**2 + block.samples.imag**2
    starts = np.arange(0, len(power), each)
    means = np.add.reduceat(power, starts) / np.diff([*starts, len(power)])
    hits = starts[means > level]
    return (block.index + int(hits[0]), block.index + int(hits[-1])) if len(hits) else None


def report(recorder: "Recorder", as_json: bool) -> None:
    """One line about a recording; a broken one is an error."""
    from streaming.errors import SourceError

    if not recorder.samples:
        raise SourceError(f"nothing was recorded: {recorder.ended}")
    lost = f", {recorder.lost} lost" if recorder.lost else ""
    seconds = recorder.samples / recorder.rate_hz
    if as_json:
        told = {"path": str(recorder.meta), "samples": recorder.samples, "lost": recorder.lost}
        print(json.dumps(told | {"rate_hz": recorder.rate_hz}), flush=True)
    else:
        print(
            f"{recorder.meta}: {recorder.samples} samples, {seconds:g} s{lost}", file=sys.stderr, flush=True
        )
    if recorder.failed:
        raise SourceError(str(recorder.ended))
