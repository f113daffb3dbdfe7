"""Predictions of a whole piece of I/Q at once: what `POST /v1/predict` answers."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any, Literal

from service.ring import merge
from service.snr import snr_db
from streaming.block import Block
from streaming.bundle import Bundle
from streaming.engine import Engine
from streaming.errors import InputError
from streaming.pipeline import FramePipeline, LivePipeline, Pipeline, choose_head
from streaming.prediction import as_json
from streaming.report import Run

Step = Literal["window", "hop"]
MOST = 20_000  # answers to one request
PIECE = 65_536  # samples a push, so that memory stays flat however much is sent


class Predictor:
    """One model, ready to answer."""

    def __init__(self, bundle: Bundle, engine: Engine) -> None:
        self.bundle, self.engine = bundle, engine
        self.sha256 = bundle.sha256

    def predict(
        self, blocks: Iterable[Block], head_name: str = "", frame: int | None = None, step: Step = "window"
    ) -> dict[str, Any]:
        """One answer a window, windows side by side or a hop apart, and one for the whole."""
        head = choose_head(self.bundle, head_name, "frame" if frame else "live")
        length = frame or head.window
        distance = head.hop if step == "hop" and not frame else length
        pipeline: Pipeline
        if frame:
            pipeline = FramePipeline(self.bundle, head, frame)
        else:
            pipeline = LivePipeline(self.bundle, head, self.engine)
        whole: Run | None = None
        windows = []
        stretches = list(joined(blocks))
        answers = sum(len(stretch.samples) // distance for stretch in stretches)
        if answers > MOST:
            raise InputError(f"that would make {answers:,} answers; at most {MOST:,} are given at once")
        with closing(pipeline):
            for stretch in stretches:
                for prediction in (each for piece in pieces(stretch) for each in pipeline.push(piece)):
                    if (prediction.start - stretch.index) % distance:
                        continue
                    seen = stretch.samples[prediction.start - stretch.index : prediction.end - stretch.index]
                    windows.append(as_json(prediction, head.classes) | {"snr_db": snr_db(seen)})
                    if whole is None:
                        whole = Run(prediction)
                    else:
                        whole.add(prediction)
        if whole is None:
            most = max((len(stretch.samples) for stretch in stretches), default=0)
            raise InputError(f"there are {most:,} samples; a window needs {length:,}")
        best = max(stretches, key=lambda stretch: len(stretch.samples))
        answer = as_json(whole.report(head.classes).prediction, head.classes)
        return {
            "model": self.bundle.name,
            "sha256": self.sha256,
            "head": head.name,
            "whole": answer | {"snr_db": snr_db(best.samples)},
            "windows": windows,
        }


def joined(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks that follow each other as one, so that only gaps are left between them."""
    pending: list[Block] = []
    for block in blocks:
        if pending and pending[-1].end != block.index:
            yield merge(pending)
            pending = []
        pending.append(block)
    if pending:
        yield merge(pending)


def pieces(block: Block) -> Iterator[Block]:
    """A long block cut into short ones."""
    for offset in range(0, len(block.samples), PIECE):
        utc_ns = None if block.utc_ns is None else block.utc_ns + round(offset / block.rate_hz * 1e9)
        yield replace(
            block, samples=block.samples[offset : offset + PIECE], index=block.index + offset, utc_ns=utc_ns
        )
