"""Listen to a source and print what is on the air: a line when an emission is new, changes or ends.

On a terminal it is a readable line per event (NO_COLOR=1 leaves out its colour), else a JSON object per event
and every --report-ms. A model that takes the stream as one signal (the paper's) prints an answer when it
changes and every --report-ms. SOURCE is an address such as soapy:driver=rtlsdr?freq=433.92M&rate=250k or
zmq:tcp://127.0.0.1:5555?rate=48k, a recording's path, or demo, a recording that comes with wavetell.

examples:
  wavetell listen demo
  wavetell listen 'soapy:driver=rtlsdr?freq=433.92M&rate=2.4M&gain=30'
  wavetell listen 'zmq:tcp://127.0.0.1:5555?rate=48k' --seconds 10
  wavetell listen capture_433.92M_250k.cu8 | jq 'select(.state == "new") | .label'
"""

import argparse
import json
import sys
from contextlib import closing
from heapq import nlargest
from operator import itemgetter

from hardware import open_source
from hardware.address import source_address
from hardware.source import Source
from service.demo import or_demo
from service.schemas.answers import Answer
from service.schemas.emissions import EmissionState
from service.settings import add_settings, settings
from service.text import HEADING, answer_line, colours, emission_line
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
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="JSON objects on a terminal, too")
    form.add_argument("--text", action="store_true", help="readable lines into a pipe or file, too")
    parser.add_argument(
        "--probabilities", action="store_true", help="of all classes; the likeliest three without it"
    )
    add_settings(parser, "model", "head", "backend", "threads", "report_ms")


def run(args: argparse.Namespace) -> None:
    """Print until the source ends."""
    values = settings(args)
    readable = args.text or (sys.stdout.isatty() and not args.json)
    bundle = load_bundle(values.model)
    head = choose_head(bundle, values.head, "live")
    engine = open_engine(bundle.encoder, hop=head.hop, backend=values.backend, threads=values.threads)
    with (
        open_source(source_address(or_demo(args.source))) as source,
        closing(open_pipeline(bundle, head, engine)) as pipeline,
    ):
        if source.inferred:
            print(f"wavetell: {source.inferred}", file=sys.stderr)
        printer = Printer(pipeline, source, values.report_ms, readable, args.probabilities)
        for block in source.blocks():
            printer.push(block)
            if args.seconds and block.end >= args.seconds * block.rate_hz:
                break
        printer.flush()
        check_samples_came(source)
        say_end(source)


class Printer:
    """Blocks in; lines of emissions, or of reports of a stream that is one signal, out."""

    def __init__(
        self, pipeline: LivePipeline, source: Source, report_ms: int, readable: bool, every_class: bool
    ) -> None:
        self.pipeline, self.source, self.report_ms = pipeline, source, report_ms
        self.readable, self.every_class = readable, every_class
        self.coloured = colours(sys.stdout)
        self._labels: dict[str, str] = {}  # emission -> what a person was last told
        self._reporter: Reporters | None = None
        if readable and not isinstance(pipeline, LevelPipeline):
            write(HEADING)

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
            if not self.readable:
                write(json.dumps(emission.model_dump(exclude={"type"}) | {"lost": self._lost}))
            elif self._is_event(emission):
                write(emission_line(emission, self.coloured))

    def _is_event(self, emission: EmissionState) -> bool:
        """Whether a person is told: a beginning, another label, an end."""
        before = self._labels.get(emission.emission)
        self._labels[emission.emission] = emission.label
        if emission.state == "end":
            del self._labels[emission.emission]
        return emission.state != "update" or emission.label != before

    def _write_reports(self, reports: list[Report]) -> None:
        for report in reports:
            answer = Answer.of(report.prediction, self.pipeline.head.classes, report.prediction.snr_db)
            if self.readable:
                write(answer_line(answer))
                continue
            line = answer.model_dump(exclude_none=True) | {"hops": report.hops, "lost": self._lost}
            if not self.every_class:
                line["probabilities"] = dict(nlargest(3, answer.probabilities.items(), key=itemgetter(1)))
            write(json.dumps(line))

    @property
    def _lost(self) -> int:
        counts = self.source.counts
        return sum(counts.lost.values()) + sum(counts.lost_estimated.values())


def write(line: str) -> None:
    """One line, at once: the reader may be a pipe."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def check_samples_came(source: Source) -> None:
    """A source that ends without a sample is an error."""
    if source.counts.samples == 0:
        raise WavetellError(f"{source.address} gave no samples")


def say_end(source: Source) -> None:
    """One line on stderr: what was heard and what was lost."""
    counts = source.counts
    lost = [f"{n:,} lost ({reason})" for reason, n in counts.lost.items()]
    lost += [f"about {n:,} lost ({reason})" for reason, n in counts.lost_estimated.items()]
    print(f"wavetell: {counts.samples:,} samples, {', '.join(lost) or 'none lost'}", file=sys.stderr)
