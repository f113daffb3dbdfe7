"""Name the modulation in a recording: every emission of its band, and an answer for the whole.

A model for the air lists each emission with when and where it was heard; the whole is the one with the most
energy. A model that takes the stream as one signal answers a window after the other. With --frame N each N
samples are a frame of their own, divided by its RMS and encoded from an empty state, as in the paper's sets.

examples:
  wavetell predict capture_433.92M_2400k.cu8
  wavetell predict frames.cf32 --model paper-synthetic --head client-1 --frame 100 --json
  wavetell predict 'file:capture.cs16?rate=1M' --json
"""

import argparse
import json
import logging
import sys
from contextlib import closing
from itertools import chain

from hardware import open_source
from hardware.address import source_address
from hardware.source import Source
from service.models.predictor import ends
from service.schemas.answers import Answer
from service.schemas.emissions import EmissionState
from service.settings import add_settings, settings
from service.text import emission_line
from streaming.band.emissions import Emission
from streaming.band.pipeline import BandPipeline
from streaming.bundle import load_bundle
from streaming.engine import open_engine
from streaming.errors import ConfigError, WavetellError
from streaming.pipeline import FramePipeline, Pipeline, choose_head, open_pipeline
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
    """Print every emission, or an answer a window, then the answer for the whole."""
    pipeline = pipeline_for(args)
    head = pipeline.head
    answers: list[Prediction] = []
    with closing(pipeline), open_source(source_address(args.file)) as source:
        if source.inferred:
            print(f"wavetell: {source.inferred}", file=sys.stderr)
        if isinstance(pipeline, BandPipeline):
            answers = show_emissions(pipeline, source, args.json)
        else:
            for prediction in chain.from_iterable(map(pipeline.push, source.blocks())):
                if not answers or prediction.start >= answers[-1].end:  # windows overlap, these do not
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
        print(f"whole: {answer.label} ({answer.probability:.0%}) over {report.hops:,} answers")


def show_emissions(pipeline: BandPipeline, source: Source, as_lines: bool) -> list[Prediction]:
    """Print each emission as it was at its end, in the order in which they began; every answer."""
    answers: list[Prediction] = []
    ended: dict[int, Emission] = {}
    for block in source.blocks():
        answers += pipeline.push(block)
        ended |= ends(pipeline)
    answers += pipeline.flush()
    ended |= ends(pipeline)
    for emission in sorted(ended.values(), key=lambda one: one.start):
        state = EmissionState.of(emission, str(emission.number))
        print(json.dumps(state.model_dump(exclude={"type", "state"})) if as_lines else emission_line(state))
    return answers


def pipeline_for(args: argparse.Namespace) -> Pipeline:
    """Frames of their own, or a stream."""
    values = settings(args)
    if args.frame is not None and args.frame < 1:
        raise ConfigError(f"--frame is {args.frame}; it must be at least 1")
    bundle = load_bundle(values.model)
    head = choose_head(bundle, values.head, "frame" if args.frame else "live")
    if not args.frame:
        engine = open_engine(bundle.encoder, hop=head.hop, backend=values.backend, threads=values.threads)
        return open_pipeline(bundle, head, engine)
    if args.frame != head.window:
        log.warning("head %s was fitted for frames of %d, not %d", head.name, head.window, args.frame)
    return FramePipeline(bundle, head, args.frame)


def show(prediction: Prediction, classes: tuple[str, ...], as_lines: bool) -> None:
    """One window's answer."""
    if as_lines:
        print(json.dumps(as_object(prediction, classes)))
    else:
        p = prediction
        print(f"{p.start:>12,}  {p.label:<10} {p.probability:>4.0%}  {p.past}")


def as_object(prediction: Prediction, classes: tuple[str, ...]) -> dict[str, object]:
    """What is known, by the names of REST."""
    return Answer.of(prediction, classes, prediction.snr_db).model_dump(exclude_none=True)
