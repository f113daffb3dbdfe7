"""Listen to a source and print what is on the air, one JSON object a line.

A line goes out when the answer changes and every --report-ms. SOURCE is an address such as
soapy:driver=rtlsdr?freq=433.92M&rate=250k, zmq:tcp://127.0.0.1:5555?rate=48k, or a recording's path.

examples:
  wavetell listen 'soapy:driver=rtlsdr?freq=433.92M&rate=250k&gain=30'
  wavetell listen 'zmq:tcp://127.0.0.1:5555?rate=48k' --seconds 10
  wavetell listen capture_433.92M_250k.cu8 | jq .label
"""

import argparse
import json
import sys
from contextlib import closing

from hardware import open_source
from hardware.address import source_address
from hardware.source import Source
from service.schemas.answers import Answer
from service.settings import add_settings, settings
from streaming.bundle import load_bundle
from streaming.engine import open_engine
from streaming.errors import WavetellError
from streaming.pipeline import LivePipeline, choose_head
from streaming.report import Report, open_reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("source", metavar="SOURCE", help="where the samples come from")
    parser.add_argument("--seconds", type=float, help="stop after this much of the stream")
    add_settings(parser, "model", "head", "backend", "threads", "report_ms")


def run(args: argparse.Namespace) -> None:
    """Print reports until the source ends."""
    values = settings(args)
    bundle = load_bundle(values.model)
    head = choose_head(bundle, values.head, "live")
    engine = open_engine(bundle.encoder, hop=head.hop, backend=values.backend, threads=values.threads)
    with (
        open_source(source_address(args.source)) as source,
        closing(LivePipeline(bundle, head, engine)) as pipeline,
    ):
        if source.inferred:
            print(f"wavetell: {source.inferred}", file=sys.stderr)
        reporter = None
        for block in source.blocks():
            if reporter is None:
                reporter = open_reporter(head, block.rate_hz, values.report_ms)
            for report in reporter.push(pipeline.push(block)):
                write(report, head.classes, source)
            if args.seconds and block.end >= args.seconds * block.rate_hz:
                break
        if reporter is not None:
            for report in reporter.push(pipeline.flush()) + reporter.flush():
                write(report, head.classes, source)
        say_end(source)


def write(report: Report, classes: tuple[str, ...], source: Source) -> None:
    """One line, at once: the reader may be a pipe."""
    answer = Answer.of(report.prediction, classes, report.prediction.snr_db)
    line = answer.model_dump(exclude_none=True) | {
        "hops": report.hops,
        "lost": sum(source.counts.lost.values()) + sum(source.counts.lost_estimated.values()),
    }
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def say_end(source: Source) -> None:
    """One line on stderr: what was heard and what was lost."""
    counts = source.counts
    lost = [f"{n:,} lost ({reason})" for reason, n in counts.lost.items()]
    lost += [f"about {n:,} lost ({reason})" for reason, n in counts.lost_estimated.items()]
    if counts.samples == 0:
        raise WavetellError(f"{source.address} gave no samples")
    print(f"wavetell: {counts.samples:,} samples, {', '.join(lost) or 'none lost'}", file=sys.stderr)
