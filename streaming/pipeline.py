"""The pipelines: from one stream's blocks to predictions.

    BandPipeline      every emission of a band, found, followed and named (`streaming.band.pipeline`)
    LevelPipeline     the whole stream as one signal: level, encoder, window, head
    FramePipeline     each frame for itself, as in the paper's sets

Each stage keeps its own history, so the result does not depend on how the stream is cut into blocks. Where
the states restart (lost samples, another frequency) the predictions say so until their past is complete.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from streaming.agc import Agc, log_rms, normalise
from streaming.band.emissions import Emission
from streaming.band.frontend import BandSettings
from streaming.band.pipeline import BandPipeline
from streaming.block import Block, check_samples, merge
from streaming.bundle import Bundle
from streaming.engine import Engine, Hops
from streaming.errors import ConfigError
from streaming.head import Head, Mode
from streaming.level import LevelSettings
from streaming.prediction import Past, Prediction
from streaming.window import Window


class LevelPipeline:
    """Blocks of one stream in; one prediction for each hop out, once the window is full."""

    def __init__(self, bundle: Bundle, head: Head, engine: Engine) -> None:
        assert isinstance(bundle.meta.front_end, LevelSettings)
        self.head, self.engine = head, engine
        self.agc = Agc(bundle.meta.front_end.agc_samples)
        self.stream = engine.stream()
        self.window = Window(bundle.encoder, head.hop, head.window)
        self.full_past = head.window + bundle.encoder.shape.receptive_field - 1
        self.begin = 0  # where the states were last empty
        self.emission = 0  # counted from 1: what begins where they were
        self.beginning: Past = "cold"
        self.skipped = 0
        self._block: Block | None = None  # the newest

    @property
    def next(self) -> int | None:
        """Index of the sample that should come next."""
        return self._block.end if self._block else None

    def push(self, block: Block) -> list[Prediction]:
        """The predictions that these samples complete."""
        check_samples(block.samples)
        return push_all(self.engine, [(self, block)])[0]

    def flush(self) -> list[Prediction]:
        """Nothing: what is left is not a whole hop."""
        return []

    def changes(self, interval_s: float) -> list[Emission]:
        """Nothing: a stream that is one signal has no emissions to follow."""
        return []

    def use(self, head: Head) -> None:
        """Answer with another head of the same window and hop, from the next hop on."""
        self.head = head

    def restart(self, block: Block) -> None:
        """Empty the states where a block does not go on from the one before."""
        before, self._block = self._block, block
        if before and block.follows(before):
            return
        self.agc.reset()
        self.stream.reset()
        self.window.reset()
        self.begin, self.beginning = block.index, "gap" if before else "cold"
        self.emission += 1

    def answer(self, block: Block, hops: Hops) -> list[Prediction]:
        """The predictions of the hops that a block completed."""
        embeddings = self.window.push(hops)
        ends = self.window.seen  # samples since `begin`
        full = int(np.searchsorted(ends, self.head.window))
        return self.predict(block, embeddings[full:], ends[full:])

    def predict(
        self, block: Block, embeddings: NDArray[np.float32], ends: NDArray[np.int64]
    ) -> list[Prediction]:
        """The head's predictions for windows that end here, in samples since `begin`."""
        spans = [(self.begin + end - self.head.window, self.begin + end) for end in ends.tolist()]
        return [
            replace(
                prediction,
                past="warm" if end >= self.full_past else self.beginning,
                begin=self.begin,
                emission=self.emission,
            )
            for prediction, end in zip(
                answers(self.head, embeddings, spans, block), ends.tolist(), strict=True
            )
        ]

    def close(self) -> None:
        """Give the stream's states back."""
        self.stream.close()


LivePipeline = BandPipeline | LevelPipeline


def push_all(engine: Engine, work: Sequence[tuple[LivePipeline, Block]]) -> list[list[Prediction]]:
    """What `push` gives for each stream, of samples that were checked.

    One engine push serves every stream that is only levelled.
    """
    batch = []
    for pipeline, block in work:
        if isinstance(pipeline, LevelPipeline):
            pipeline.restart(block)
            batch.append((pipeline.stream, pipeline.agc.push(block.samples)))
    pushed = iter(engine.push(batch) if batch else [])
    return [
        pipeline.answer(block, next(pushed))
        if isinstance(pipeline, LevelPipeline)
        else pipeline.advance(block)
        for pipeline, block in work
    ]


class FramePipeline:
    """Blocks of one stream in; one prediction for each whole frame out, encoded from an empty state."""

    def __init__(self, bundle: Bundle, head: Head, frame: int | None = None) -> None:
        self.head, self.encoder = head, bundle.encoder
        self.frame = frame or head.window
        self.rest: Block | None = None  # a frame that is not yet whole

    def push(self, block: Block) -> list[Prediction]:
        """The predictions that these samples complete; a frame that a gap or a retune cuts is left out."""
        check_samples(block.samples)
        if self.rest and block.follows(self.rest):
            block = merge([self.rest, block])
        whole = len(block.samples) // self.frame
        self.rest = block.cut(block.index + whole * self.frame, block.end)
        frames = block.samples[: whole * self.frame].reshape(whole, self.frame)
        spans = [(i, i + self.frame) for i in range(block.index, self.rest.index, self.frame)]
        embeddings = self.encoder.encode(normalise(frames))
        if self.head.level:
            embeddings = np.hstack([embeddings, log_rms(frames)])
        return answers(self.head, embeddings, spans, block)

    def flush(self) -> list[Prediction]:
        """Nothing: what is left is not a whole frame."""
        return []

    def close(self) -> None:
        """Nothing to give back."""


Pipeline = LivePipeline | FramePipeline


def open_pipeline(bundle: Bundle, head: Head, engine: Engine) -> LivePipeline:
    """The live pipeline that a bundle's front end asks for."""
    band = isinstance(bundle.meta.front_end, BandSettings)
    return (BandPipeline if band else LevelPipeline)(bundle, head, engine)


def answers(
    head: Head,
    embeddings: NDArray[np.float32],  # (n, outputs)
    spans: list[tuple[int, int]],
    block: Block,
) -> list[Prediction]:
    """What the head says of each window, placed in the source's samples and time."""
    if not len(embeddings):
        return []
    return [
        Prediction(
            start=start,
            end=end,
            label=name.label,
            probability=name.probability,
            probabilities=row,
            past="warm",
            utc_ns=block.utc_at(start),
            clock=block.clock,
            begin=start,
            family=name.family,
        )
        for (start, end), name, row in zip(spans, *head.name_all(embeddings), strict=True)
    ]


def choose_head(bundle: Bundle, name: str, mode: Mode) -> Head:
    """The head of this name, or where the name is empty the first that runs in this mode."""
    fitting = [head for head in bundle.heads.values() if head.mode == mode]
    if name and name not in bundle.heads:
        raise ConfigError(
            f"model {bundle.name} has no head {name!r}; it has {', '.join(bundle.heads) or 'none'}"
        )
    if name and bundle.heads[name].mode != mode:
        has = bundle.heads[name].mode
        hint = f"use --frame {bundle.heads[name].window}" if has == "frame" else "leave --frame out"
        raise ConfigError(f"head {name} of model {bundle.name} was fitted for {has} mode; {hint}")
    if not fitting:
        raise ConfigError(f"model {bundle.name} has no head for {mode} mode; wavetell fit makes one")
    return bundle.heads[name] if name else fitting[0]
