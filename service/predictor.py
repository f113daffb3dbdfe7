"""Predictions of a whole piece of I/Q at once: what `POST /v1/predict` answers."""

from contextlib import closing
from typing import Any

from streaming.block import Block, Samples
from streaming.bundle import Bundle
from streaming.engine import Engine
from streaming.errors import InputError
from streaming.pipeline import FramePipeline, LivePipeline, Pipeline, choose_head
from streaming.prediction import as_json
from streaming.report import Run

RATE_UNKNOWN_HZ = 1.0  # a window's place is then counted in samples alone


class Predictor:
    """One model, ready to answer."""

    def __init__(self, bundle: Bundle, engine: Engine) -> None:
        self.bundle, self.engine = bundle, engine
        self.sha256 = bundle.sha256

    def predict(self, samples: Samples, head_name: str = "", frame: int | None = None) -> dict[str, Any]:
        """One answer a window, windows side by side, and one for the whole."""
        head = choose_head(self.bundle, head_name, "frame" if frame else "live")
        pipeline: Pipeline
        if frame:
            pipeline = FramePipeline(self.bundle, head, frame)
        else:
            pipeline = LivePipeline(self.bundle, head, self.engine)
        with closing(pipeline):
            predictions = pipeline.push(Block(samples, 0, RATE_UNKNOWN_HZ))
        step = 1 if frame else head.window // head.hop
        windows = predictions[::step]
        if not windows:
            raise InputError(f"there are {len(samples):,} samples; a window needs {frame or head.window:,}")
        whole = Run(windows[0])
        for prediction in windows[1:]:
            whole.add(prediction)
        return {
            "model": self.bundle.name,
            "sha256": self.sha256,
            "head": head.name,
            "whole": as_json(whole.report(head.classes).prediction, head.classes),
            "windows": [as_json(prediction, head.classes) for prediction in windows],
        }
