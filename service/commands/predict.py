"""Name the modulation in a recording, one answer a window and one for the whole.

With --frame N each N samples are a frame of their own, divided by its RMS and encoded from an empty state,
as in the paper's sets. Without it the recording is a stream, and a window of it is answered with its past.
A model for the air answers signal by signal, with SNR, bandwidth and offset, and says where there is none.

examples:
  wavetell predict capture_433.92M_250k.cu8
  wavetell predict frames.cf32 --model paper-synthetic --head client-1 --frame 100 --json
  wavetell predict 'file:capture.cs16?rate=1M' --json
"""

import argparse
import json
import logging
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import chain

from hardware import open_source
from hardware.address import source_address
from service.schemas.answers import Answer
from service.settings import add_settings, settings
from streaming.bundle import load_bundle
from streaming.engine import open_engine
from streaming.errors import ConfigError, WavetellError
from streaming.pipeline import FramePipeline, LivePipeline, Pipeline, choose_head
from streaming.prediction import NO_SIGNAL, Prediction
from streaming.report import drawn_together

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("file", metavar="FILE", help="a recording, or any source address that ends")
    parser.add_argument("--frame", type=int, metavar="N", help="each N samples are a frame of their own")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    add_settings(parser, "model", "head", "backend", "threads")


def run(args: argparse.Namespace) -> None:
    """Print an answer a window, then the answer for the whole."""
    pipeline = open_pipeline(args)
    head = pipeline.head
    answers: list[Prediction] = []
    with closing(pipeline), open_source(source_address(args.file)) as source:
        if source.inferred:
            print(f"wavetell: {source.inferred}", file=sys.stderr)
        for prediction in chain(chain.from_iterable(map(pipeline.push, source.blocks())), last(pipeline)):
            if answers and prediction.start < answers[-1].end:  # windows overlap, printed answers do not
                continue
            answers.append(prediction)
            show(prediction, head.classes, args.json)
    if not answers:
        raise WavetellError(
            f"{args.file} has {source.counts.samples:,} samples; a window needs {head.window:,}"
        )
    report = drawn_together(answers, head)
    answer = report.prediction
    if args.json:
        print(json.dumps({"whole": True, "windows": report.hops} | as_object(answer, head.classes)))
    elif answer.label == NO_SIGNAL:
        print(f"whole: {NO_SIGNAL}")
    else:
        print(f"whole: {answer.label} ({answer.probability:.0%}) over {report.hops:,} windows")


def last(pipeline: Pipeline) -> Iterator[Prediction]:
    """What is left, asked for only when the blocks are through."""
    yield from pipeline.flush()


def open_pipeline(args: argparse.Namespace) -> Pipeline:
    """Frames of their own, or a stream."""
    values = settings(args)
    if args.frame is not None and args.frame < 1:
        raise ConfigError(f"--frame is {args.frame}; it must be at least 1")
    bundle = load_bundle(values.model)
    head = choose_head(bundle, values.head, "frame" if args.frame else "live")
    if not args.frame:
        engine = open_engine(bundle.encoder, hop=head.hop, backend=values.backend, threads=values.threads)
        return LivePipeline(bundle, head, engine)
    if args.frame != head.window:
        log.warning("head %s was fitted for frames of %d, not %d", head.name, head.window, args.frame)
    return FramePipeline(bundle, head, args.frame)


def show(prediction: Prediction, classes: tuple[str, ...], as_lines: bool) -> None:
    """One window's answer."""
    if as_lines:
        print(json.dumps(as_object(prediction, classes)))
        return
    p = prediction
    sure = "" if p.label == NO_SIGNAL else f"{p.probability:.0%}"
    line = f"{p.start:>12,}  {p.label:<10} {sure:>4}  {p.past}"
    if p.snr_db is not None and p.bandwidth_hz is not None and p.offset_hz is not None:
        line += f"  {p.snr_db:.0f} dB  {p.bandwidth_hz:,.0f} Hz wide at {p.offset_hz:+,.0f} Hz"
    print(line)


def as_object(prediction: Prediction, classes: tuple[str, ...]) -> dict[str, object]:
    """What is known, by the names of REST."""
    return Answer.of(prediction, classes, prediction.snr_db).model_dump(exclude_none=True)
