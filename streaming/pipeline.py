"""The way of one stream's samples: level, encoder, window, head.

    Source.blocks() -> Agc.push() -> Stream.push() -> Window.push() -> Head.answer() -> Prediction

Each stage keeps its own history, so how the stream is cut into blocks never shows in the result. A block
that does not begin where the one before it ended is a gap: the states begin anew, and the predictions say
so until their past is whole.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from streaming.agc import Agc, normalise
from streaming.block import Block, Samples
from streaming.bundle import Bundle
from streaming.engine import Engine, Hops
from streaming.errors import ConfigError
from streaming.head import Head, Mode
from streaming.prediction import UNKNOWN, Past, Prediction
from streaming.window import Window


class LivePipeline:
    """Blocks of one stream in; one prediction for each hop out, once the window is full."""

    def __init__(self, bundle: Bundle, head: Head, engine: Engine) -> None:
        self.head = head
        self.agc = Agc(bundle.meta["frontend"]["agc_samples"])
        self.stream = engine.stream()
        self.window = Window(bundle.encoder, head.hop, head.window)
        self.full_past = head.window + bundle.encoder.shape.receptive_field - 1
        self.begin = 0  # index of the first sample since the states were last empty
        self.next: int | None = None  # index of the sample that should come next
        self.beginning: Past = "cold"
        self.hops = 0  # completed since `begin`

    def push(self, block: Block) -> list[Prediction]:
        """The predictions that these samples complete."""
        return self.answer(block, self.stream.push(self.level(block)))

    def level(self, block: Block) -> Samples:
        """The samples at the encoder's level; after a gap the states begin anew.

        This and `answer` are apart so that one engine push can serve many streams.
        """
        if block.index != self.next:
            self.restart(block.index)
        samples = self.agc.push(block.samples)
        self.next = block.end
        return samples

    def answer(self, block: Block, hops: Hops) -> list[Prediction]:
        """The predictions of the hops that the block completed."""
        embeddings = self.window.push(hops)  # (hops, outputs)
        ends = self.begin + (self.hops + 1 + np.arange(len(embeddings))) * self.head.hop
        self.hops += len(embeddings)
        full = ends - self.begin >= self.head.window
        return answers(self.head, embeddings[full], ends[full], self.head.window, self.past, block)

    def restart(self, index: int) -> None:
        """Begin anew at this sample: the stream's first, or the first after a gap."""
        self.agc.reset()
        self.stream.reset()
        self.window.reset()
        self.beginning = "cold" if self.next is None else "gap"
        self.begin, self.hops = index, 0

    def past(self, end: int) -> Past:
        """How much of its past a window that ends here saw."""
        return "warm" if end - self.begin >= self.full_past else self.beginning

    def close(self) -> None:
        """Give the stream's states back."""
        self.stream.close()


class FramePipeline:
    """Blocks of one stream in; one prediction for each whole frame out, encoded from an empty state."""

    def __init__(self, bundle: Bundle, head: Head, frame: int | None = None) -> None:
        self.head, self.encoder = head, bundle.encoder
        self.frame = frame or head.window
        self.rest = np.empty(0, np.complex64)  # samples of a frame that is not yet whole
        self.next: int | None = None

    def push(self, block: Block) -> list[Prediction]:
        """The predictions that these samples complete; a frame that a gap cuts is left out."""
        kept = self.rest if block.index == self.next else self.rest[:0]
        samples = np.concatenate([kept, block.samples])
        whole = len(samples) // self.frame
        ends = block.index - len(kept) + (1 + np.arange(whole)) * self.frame
        self.rest, self.next = samples[whole * self.frame :], block.end
        frames = samples[: whole * self.frame].reshape(whole, self.frame)
        return answers(
            self.head, self.encoder.encode(normalise(frames)), ends, self.frame, lambda _: "warm", block
        )

    def close(self) -> None:
        """Nothing to give back."""


Pipeline = LivePipeline | FramePipeline


def answers(
    head: Head,
    embeddings: NDArray[np.float32],  # (n, outputs)
    ends: NDArray[np.int64],  # (n,)
    length: int,
    past: Callable[[int], Past],
    block: Block,
) -> list[Prediction]:
    """What the head says of each window, placed in the source's samples and time."""
    if not len(embeddings):
        return []
    chosen, probabilities = head.answer(embeddings)
    predictions = []
    for end, index, row in zip(ends.tolist(), chosen.tolist(), probabilities, strict=True):
        start = end - length
        elapsed_ns = round((start - block.index) / block.rate_hz * 1e9)
        predictions.append(
            Prediction(
                start=start,
                end=end,
                label=head.classes[index] if index >= 0 else UNKNOWN,
                probability=float(row.max()),
                probabilities=row,
                past=past(end),
                utc_ns=None if block.utc_ns is None else block.utc_ns + elapsed_ns,
                clock=block.clock,
            )
        )
    return predictions


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
