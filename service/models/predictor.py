"""Predictions of a whole piece of I/Q at once: what `POST /v1/predict` answers."""

import math
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import Literal

from service.live.snr import best_snr_db
from service.schemas.answers import Answer
from service.schemas.emissions import EmissionState
from service.schemas.predicted import Predicted
from streaming.band.emissions import Emission
from streaming.block import Block, merge
from streaming.bundle import Bundle
from streaming.engine import Engine
from streaming.errors import InputError
from streaming.head import Head
from streaming.level import LevelSettings
from streaming.pipeline import FramePipeline, Pipeline, choose_head, open_pipeline
from streaming.prediction import Prediction
from streaming.report import by_burst, drawn_together

Step = Literal["window", "hop"]
MOST = 20_000  # answers to one request
PIECE = 65_536  # samples a push, so that memory stays flat however much is sent


class Predictor:
    """One model, ready to answer."""

    def __init__(self, bundle: Bundle, engine: Engine, sha256: str) -> None:
        self.bundle, self.engine, self.sha256 = bundle, engine, sha256

    def predict(
        self, blocks: Iterable[Block], head_name: str = "", frame: int | None = None, step: Step = "window"
    ) -> Predicted:
        """One answer a window, windows side by side or a hop apart, one for the whole, and every emission."""
        head = choose_head(self.bundle, head_name, "frame" if frame else "live")
        stretches = list(joined(blocks))
        answers, emissions = self._run(stretches, head, frame, step)
        starts = [stretch.index for stretch in stretches]
        best = max(stretches, key=lambda stretch: len(stretch.samples))
        whole = drawn_together(answers, head).prediction
        return Predicted(
            model=self.bundle.name,
            sha256=self.sha256,
            head=head.name,
            whole=described(whole, head.classes, best),
            emissions=[EmissionState.of(emission, str(emission.number)) for emission in emissions],
            windows=[
                described(answer, head.classes, stretches[bisect(starts, answer.start) - 1])
                for answer in answers
            ],
        )

    def bursts(self, block: Block, head_name: str = "") -> list[Prediction]:
        """One answer per burst of each emission; of a stream that is one signal, per stretch of one label."""
        answers, _ = self._run([block], choose_head(self.bundle, head_name, "live"), None, "window")
        return by_burst(answers)

    def _run(
        self, stretches: Sequence[Block], head: Head, frame: int | None, step: Step
    ) -> tuple[list[Prediction], list[Emission]]:
        """Every answer, and every emission as it was at its end, in the order in which they began."""
        length = frame or head.window
        if isinstance(self.bundle.meta.front_end, LevelSettings) or frame:
            distance = head.hop if step == "hop" and not frame else length
            check_number(sum(len(stretch.samples) // distance for stretch in stretches))
        pipeline: Pipeline = (
            FramePipeline(self.bundle, head, frame)
            if frame
            else open_pipeline(self.bundle, head, self.engine)
        )
        answers: list[Prediction] = []
        ended: dict[int, Emission] = {}
        with closing(pipeline):
            for piece in (piece for stretch in stretches for piece in pieces(stretch)):
                keep(answers, pipeline.push(piece), step)
                ended |= ends(pipeline)
            keep(answers, pipeline.flush(), step)
            ended |= ends(pipeline)
        if not answers:
            most = max((len(stretch.samples) for stretch in stretches), default=0)
            raise InputError(f"there are {most:,} samples; a window needs {length:,}")
        return answers, sorted(ended.values(), key=lambda emission: emission.start)


def ends(pipeline: Pipeline) -> dict[int, Emission]:
    """The emissions that have ended since this was last asked, by number."""
    if isinstance(pipeline, FramePipeline):
        return {}
    return {change.number: change for change in pipeline.changes(math.inf) if change.state == "end"}


def keep(answers: list[Prediction], found: list[Prediction], step: Step) -> None:
    """Add every answer, or those that lie side by side."""
    for prediction in found:
        # Windows of a stream that is one signal overlap; answers of emissions do not.
        apart = prediction.bandwidth_hz is not None or not answers or prediction.start >= answers[-1].end
        if step == "hop" or apart:
            answers.append(prediction)
    check_number(len(answers))


def check_number(answers: int) -> None:
    """Refuse more than anybody reads."""
    if answers > MOST:
        raise InputError(f"that would make {answers:,} answers; at most {MOST:,} are given at once")


def described(prediction: Prediction, classes: tuple[str, ...], stretch: Block) -> Answer:
    """An answer to a part of a stretch."""
    first, last = max(0, prediction.start - stretch.index), prediction.end - stretch.index
    return Answer.of(prediction, classes, best_snr_db(prediction, lambda: stretch.samples[first:last]))


def joined(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks that follow each other as one, so that only gaps and retunes are left between them."""
    pending: list[Block] = []
    for block in blocks:
        if pending and not block.follows(pending[-1]):
            yield merge(pending)
            pending = []
        pending.append(block)
    if pending:
        yield merge(pending)


def pieces(block: Block) -> Iterator[Block]:
    """A long block cut into short ones."""
    for start in range(block.index, block.end, PIECE):
        yield block.cut(start, start + PIECE)
