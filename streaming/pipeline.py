"""The pipeline of one stream: front end, encoder, window, head.

    Source.blocks() -> FrontEnd.push() -> Stream.push() -> Window.push() -> Head.answer() -> Prediction
                                       -> Features.push(), beside the encoder, where the model has them

Each stage keeps its own history, so the result does not depend on how the stream is cut into blocks. Where
the states restart (lost samples, another signal) the predictions say so until their past is complete. A model
with features also detects changes that the front end cannot see, and drops what was before them
(`streaming.changes`); the receptive field of the others is so long that it holds the old signal anyway.

A bundle with `FrontEndSettings` runs behind the whole front end; one with `LevelSettings` takes the source's
samples as they are, only levelled.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streaming.agc import normalise
from streaming.block import Block, Samples, check_samples, merge
from streaming.bundle import Bundle
from streaming.changes import Changes
from streaming.engine import Engine, Hops
from streaming.errors import ConfigError
from streaming.estimate import Estimate
from streaming.features import Features
from streaming.frontend import Silence
from streaming.head import Head, Mode
from streaming.intake import Item, Stretch, open_intake
from streaming.no_signal import Silences
from streaming.prediction import Past, Prediction
from streaming.window import Window


class LivePipeline:
    """Blocks of one stream in; one prediction for each hop of a signal out, once the window is full.

    Behind the front end, a signal that ends before its window is full is answered once, from what there was
    of it (unless something stronger cut it off), and silences are reported as `streaming.no_signal` says.
    """

    def __init__(self, bundle: Bundle, head: Head, engine: Engine) -> None:
        self.head, self.engine = head, engine
        self.intake = open_intake(bundle.meta.front_end)
        self.stream = engine.stream()
        self.window = Window(bundle.encoder, head.hop, head.window)
        self.features = Features(head.hop, head.window) if bundle.meta.has_features else None
        self.changes = Changes(head.hop)
        self.silences = Silences(len(head.classes))
        self.full_past = head.window + bundle.encoder.shape.receptive_field - 1
        self.begin, self.step = 0.0, 1.0  # where the states were last empty; source samples to one since
        self.beginning: Past = "cold"
        self.hops = 0  # completed since `begin`
        self.emission = 0  # number of the newest
        self.freq_hz: float | None = None  # the source's, at `begin`
        self._short: Windows | None = None  # the newest, as long as it is not full
        self._block: Block | None = None  # the newest

    @property
    def next(self) -> int | None:
        """Index of the sample that should come next."""
        return self.intake.next

    @property
    def skipped(self) -> int:
        """Samples before gaps and ends that were too few to judge."""
        return self.intake.skipped

    def push(self, block: Block) -> list[Prediction]:
        """The predictions that these samples complete."""
        return push_all(self.engine, [(self, block, self.level(block))])[0]

    def flush(self) -> list[Prediction]:
        """The predictions of what is left, as the stream ends."""
        if self._block is None:
            return []
        found = push_all(self.engine, [(self, self._block, self.intake.flush())])[0]
        return found + self._end(self._block) + self.silences.end(self._block)

    def use(self, head: Head) -> None:
        """Answer with another head of the same window and hop, from the next hop on."""
        self.head, self.silences.nothing = head, np.zeros(len(head.classes))

    def level(self, block: Block) -> list[Item]:
        """What there is to encode, at the model's rate and level, and where there is nothing.

        This is apart from the rest of `push` so that one engine push can serve many streams: see `push_all`.
        """
        items = self.intake.push(block)
        self._block = block
        return items

    def meet(self, block: Block, item: Item) -> list[Prediction]:
        """The predictions that an item ends before it is encoded; one that begins empties the states."""
        if isinstance(item, Silence):
            return self._end(block) + self.silences.push(block, item)
        if item.begins is None:
            return []
        if item.begins == "change":  # what came before was only the first part of a burst, or a spur
            self._short = None
        found = self._end(block) + self.silences.end(block)
        self.stream.reset()
        self.window.reset()
        if self.features:
            self.features.reset()
            self.changes.reset()
        self.begin, self.step, self.beginning, self.hops = item.start, item.step, item.begins, 0
        self.emission, self.freq_hz = self.emission + 1, block.freq_hz
        return found

    def answer(self, block: Block, item: Stretch, hops: Hops) -> list[Prediction]:
        """The predictions of the hops that a stretch completed."""
        embeddings, lengths = self._embed(item.samples, hops)
        ends = (self.hops + 1 + np.arange(len(embeddings))) * self.head.hop  # samples since `begin`
        before = self.stream.position - len(item.samples)
        estimates = [item.estimate(end - before) for end in ends.tolist()]
        self.hops += len(embeddings)
        full = int(np.searchsorted(ends, self.head.window))
        if len(ends) and item.estimates:
            short = Windows(embeddings[-1:], ends[-1:], lengths[-1:], estimates[-1:])
            self._short = short if full == len(ends) else None
        return self.predict(block, Windows(embeddings[full:], ends[full:], lengths[full:], estimates[full:]))

    def _embed(self, samples: Samples, hops: Hops) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The embeddings (hops, outputs) that a push completed, and the lengths (hops,) of their windows."""
        if not self.features:
            return self.window.push(hops), np.minimum(self.window.seen, self.head.window)
        hop = self.head.hop
        changes = self.changes.push(hops.total / hop)
        unfinished = (self.stream.position - len(samples)) % hop  # samples of a hop that came before
        cuts = [max(0, change * hop - unfinished) for change in changes]
        parts = np.split(hops.maximum, changes), np.split(hops.total, changes), np.split(samples, cuts)
        rows, lengths = list[NDArray[np.float32]](), list[NDArray[np.int64]]()
        for n, (maximum, total, part) in enumerate(zip(*parts, strict=True)):
            if n:
                self.window.keep(self.changes.recent - 1)
                self.features.keep(self.changes.recent - 1)
            row = self.window.push(Hops(maximum, total)), self.features.push(part)
            rows.append(np.concatenate(row, 1))
            lengths.append(np.minimum(self.window.seen, self.head.window))
        return np.concatenate(rows), np.concatenate(lengths)

    def _end(self, block: Block) -> list[Prediction]:
        """A signal ends: the answer to one that was too short for a window."""
        short, self._short = self._short, None
        return self.predict(block, short) if short else []

    def predict(self, block: Block, windows: "Windows") -> list[Prediction]:
        """The head's predictions for windows."""
        embeddings, ends, lengths, estimates = windows
        found = answers(self.head, embeddings, self.spans(ends, lengths), block)
        return [
            replace(
                prediction,
                past=self._past(end, length),
                begin=round(self.begin),
                emission=self.emission,
                snr_db=known.snr_db if known else None,
                bandwidth_hz=known.bandwidth if known else None,
                offset_hz=known.offset if known else None,
                centre_hz=self.freq_hz + known.offset if known and self.freq_hz is not None else None,
            )
            for prediction, end, length, known in zip(
                found, ends.tolist(), lengths.tolist(), estimates, strict=True
            )
        ]

    def _past(self, end: int, length: int) -> Past:
        """What a window of this length that ends here knows of the past."""
        if end < self.full_past:
            return self.beginning
        return "warm" if length == self.head.window else "change"

    def spans(self, ends: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[tuple[int, int]]:
        """Where windows that end here, in samples since `begin`, lie in the source's count."""
        starts = ends - lengths
        return [
            (round(self.begin + start * self.step), round(self.begin + end * self.step))
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]

    def close(self) -> None:
        """Give the stream's states back."""
        self.stream.close()


class Windows(NamedTuple):
    """Windows that are to be answered."""

    embeddings: NDArray[np.float32]  # (n, outputs)
    ends: NDArray[np.int64]  # (n,), in samples since `begin`
    lengths: NDArray[np.int64]  # (n,)
    estimates: list[Estimate | None]  # what was known then


def push_all(
    engine: Engine, work: Sequence[tuple[LivePipeline, Block, list[Item]]]
) -> list[list[Prediction]]:
    """What `push` gives for each stream; one engine push serves the next stretch of every stream."""
    found: list[list[Prediction]] = [[] for _ in work]
    waiting = [deque(items) for _, _, items in work]
    while any(waiting):
        batch: list[tuple[LivePipeline, Block, Stretch, list[Prediction]]] = []
        for (pipeline, block, _), items, predictions in zip(work, waiting, found, strict=True):
            while items:
                item = items.popleft()
                predictions.extend(pipeline.meet(block, item))
                if isinstance(item, Stretch):
                    batch.append((pipeline, block, item, predictions))
                    break
        pushed = (
            engine.push([(pipeline.stream, item.samples) for pipeline, _, item, _ in batch]) if batch else []
        )
        for (pipeline, block, item, predictions), hops in zip(batch, pushed, strict=True):
            predictions.extend(pipeline.answer(block, item, hops))
    return found


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
        return answers(self.head, self.encoder.encode(normalise(frames)), spans, block)

    def flush(self) -> list[Prediction]:
        """Nothing: what is left is not a whole frame."""
        return []

    def close(self) -> None:
        """Nothing to give back."""


Pipeline = LivePipeline | FramePipeline


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
