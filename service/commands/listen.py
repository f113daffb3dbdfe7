"""Listen to a source and print what is on the air: a line when an emission is new, changes or ends.

On a terminal it is a readable line, else a JSON object. A model that takes the stream as one signal (the
paper's) prints a JSON object when its answer changes and every --report-ms. SOURCE is an address such as
soapy:driver=rtlsdr?freq=433.92M&rate=250k, zmq:tcp://127.0.0.1:5555?rate=48k, or a recording's path.

examples:
  wavetell listen 'soapy:driver=rtlsdr?freq=433.92M&rate=2.4M&gain=30'
  wavetell listen 'zmq:tcp://127.0.0.1:5555?rate=48k' --seconds 10
  wavetell listen capture_433.92M_250k.cu8 | jq 'select(.state == "new") | .label'
"""

import argparse
import json
import sys
from contextlib import closing

from hardware import open_source
from hardware.address import source_address
from hardware.source import Source
from service.schemas.answers import Answer
from service.schemas.emissions import EmissionState
from service.settings import add_settings, settings
from streaming.block import Block
from streaming.bundle import load_bundle
from streaming.engine import open_engine
from streaming.errors import WavetellError
from streaming.pipeline import LevelPipeline, LivePipeline, choose_head, open_pipeline
from streaming.prediction import Prediction
from streaming.report import Report, Reporters, open_reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("source", metavar="SOURCE", help="where the samples come from")
    parser.add_argument("--seconds", type=float, help="stop after this much of the stream")
    add_settings(parser, "model", "head", "backend", "threads", "report_ms")


def run(args: argparse.Namespace) -> None:
    """Print until the source ends."""
    values = settings(args)
    bundle = load_bundle(values.model)
    head = choose_head(bundle, values.head, "live")
    engine = open_engine(bundle.encoder, hop=head.hop, backend=values.backend, threads=values.threads)
    with (
        open_source(source_address(args.source)) as source,
        closing(open_pipeline(bundle, head, engine)) as pipeline,
    ):
        if source.inferred:
            print(f"wavetell: {source.inferred}", file=sys.stderr)
        printer = Printer(pipeline, source, values.report_ms)
        for block in source.blocks():
            printer.push(block)
            if args.seconds and block.end >= args.seconds * block.rate_hz:
                break
        printer.flush()
        say_end(source)


class Printer:
    """Blocks in; lines of emissions, or of reports of a stream that is one signal, out."""

    def __init__(self, pipeline: LivePipeline, source: Source, report_ms: int) -> None:
        self.pipeline, self.source, self.report_ms = pipeline, source, report_ms
        self.terminal = sys.stdout.isatty()
        self._reporter: Reporters | None = None

    def push(self, block: Block) -> None:
        """Print what a block completes."""
        if self._reporter is None:
            self._reporter = open_reporter(self.pipeline.head, block.rate_hz, self.report_ms)
        self._print(self.pipeline.push(block), self._reporter)

    def flush(self) -> None:
        """Print what is left."""
        if self._reporter is not None:
            self._print(self.pipeline.flush(), self._reporter)
            if isinstance(self.pipeline, LevelPipeline):
                self._write_reports(self._reporter.flush())

    def _print(self, predictions: list[Prediction], reporter: Reporters) -> None:
        if isinstance(self.pipeline, LevelPipeline):
            self._write_reports(reporter.push(predictions))
            return
        for change in self.pipeline.changes(self.report_ms / 1000):
            emission = EmissionState.of(change, str(change.number))
            line = emission.model_dump(exclude={"type"}) | {"lost": self._lost}
            write(as_text(emission) if self.terminal else json.dumps(line))

    def _write_reports(self, reports: list[Report]) -> None:
        for report in reports:
            answer = Answer.of(report.prediction, self.pipeline.head.classes, report.prediction.snr_db)
            write(
                json.dumps(answer.model_dump(exclude_none=True) | {"hops": report.hops, "lost": self._lost})
            )

    @property
    def _lost(self) -> int:
        counts = self.source.counts
        return sum(counts.lost.values()) + sum(counts.lost_estimated.values())


def write(line: str) -> None:
    """One line, at once: the reader may be a pipe."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def as_text(emission: EmissionState) -> str:
    """One line for a person."""
    e = emission
    centre = f"{e.centre_hz / 1e6:,.4f} MHz" if e.freq_hz else f"{e.centre_hz / 1e3:+,.1f} kHz"
    nearest = ", ".join(f"{name} {value:.0%}" for name, value in e.nearest.items())
    label = f"{e.label} {e.probability:.0%}" if not nearest else f"{e.label} (nearest: {nearest})"
    return (
        f"{e.begin:>10.3f} to {e.end:<10.3f} s  {e.state:<6} #{e.emission:<4} {centre:>15} "
        f"{e.bandwidth_hz / 1e3:>9,.1f} kHz wide {e.snr_db:>5.1f} dB  {e.bursts:>4} bursts  {label}"
    )


def say_end(source: Source) -> None:
    """One line on stderr: what was heard and what was lost."""
    counts = source.counts
    lost = [f"{n:,} lost ({reason})" for reason, n in counts.lost.items()]
    lost += [f"about {n:,} lost ({reason})" for reason, n in counts.lost_estimated.items()]
    if counts.samples == 0:
        raise WavetellError(f"{source.address} gave no samples")
    print(f"wavetell: {counts.samples:,} samples, {', '.join(lost) or 'none lost'}", file=sys.stderr)
