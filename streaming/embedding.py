"""Embeddings of a stored stretch of I/Q, made just as the live pipeline makes them."""

import math
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streaming.band.embedding import EmissionEmbedder
from streaming.band.evidence import Evidence, Question
from streaming.band.frontend import Band, BandSettings, Item, Piece
from streaming.block import Block, Samples
from streaming.bundle import Bundle, encoder_sha256
from streaming.engine import Engine
from streaming.errors import InputError
from streaming.head import Head
from streaming.pipeline import LevelPipeline
from streaming.prediction import Prediction

FRONT_END_PAST = 1 << 19  # 2 s at 250 kHz: enough to know the noise
Rows = list[tuple[int, NDArray[np.float32]]]
ROWS = 64  # windows kept of one stretch, evenly spread: a long one says little more than a short one


@dataclass(frozen=True)
class Embedder:
    """A model, and the head whose window and hop count."""

    bundle: Bundle
    engine: Engine
    head: Head

    @property
    def key(self) -> tuple[str, int, int]:
        """What embeddings depend on."""
        return encoder_sha256(self.bundle.encoder), self.head.window, self.head.hop

    @property
    def past(self) -> int:
        """Samples before a stretch that make it as it would be live."""
        return past_samples(self.bundle)

    def embed(
        self, samples: Samples, past: int, rate_hz: float, near_hz: tuple[float, float] | None = None
    ) -> NDArray[np.float32]:
        """Samples (past + T,) to embeddings (n, outputs) of what lies within the T.

        Of a band, one emission counts: the one that overlaps the edges `near_hz` most, from the source's
        centre, or the one with the most energy.
        """
        block = Block(samples, 0, rate_hz)
        if isinstance(self.bundle.meta.front_end, BandSettings):
            inside = self._embed_emission(block, past, near_hz, self.bundle.meta.front_end)
        else:
            with closing(LevelCollector(self.bundle, self.head, self.engine)) as collector:
                collector.push(block)
            found = [row for start, row in collector.rows if start >= past]
            if not found:
                raise InputError(
                    f"the stretch has {len(samples) - past:,} samples; a window needs {self.head.window:,}"
                )
            inside = np.stack(found)
        chosen = np.linspace(0, len(inside) - 1, min(ROWS, len(inside))).round().astype(int)
        return np.asarray(inside[chosen])

    def _embed_emission(
        self, block: Block, past: int, near_hz: tuple[float, float] | None, settings: BandSettings
    ) -> NDArray[np.float32]:
        """The answers to every question that an emission's samples behind `past` raise."""
        questions = questions_in(block, past, near_hz, settings)
        with closing(EmissionEmbedder(self.bundle, self.engine, self.head.window)) as embedder:
            return embedder.push([(question.samples, question.box.snr_db) for question in questions])


def questions_in(
    block: Block, past: int, near_hz: tuple[float, float] | None, settings: BandSettings
) -> list[Question]:
    """What is asked of one emission behind `past`; see `Embedder.embed`."""
    band = Band(settings)
    pieces = behind(band.push(block) + band.flush(), past)
    if near_hz:
        lower, upper = near_hz
        pieces = [piece for piece in pieces if piece.box.lower < upper and piece.box.upper > lower]
    weights: defaultdict[int, float] = defaultdict(float)
    for piece in pieces:
        weights[piece.emission] += weight(piece, near_hz)
    chosen = max(weights, key=lambda emission: weights[emission], default=0)
    evidence = Evidence(chosen)
    questions = [
        question
        for piece in pieces
        if piece.emission == chosen
        for question in evidence.push(piece, block.rate_hz)
    ]
    if not questions:
        raise InputError(f"no signal is in the {block.end - past:,} samples, or none long enough")
    return questions


def behind(items: Sequence[Item], past: int) -> list[Piece]:
    """The pieces of tracks as if they began at sample `past`."""
    pieces, begun = list[Piece](), set[int]()
    for piece in items:
        if not isinstance(piece, Piece):
            continue
        before = min(len(piece.samples), max(0, math.ceil((past - piece.start) / piece.step)))
        if before == len(piece.samples) and not (piece.ends and piece.track in begun):
            continue
        begins = piece.begins or (None if piece.track in begun else "signal")
        begun.add(piece.track)
        start = piece.start + before * piece.step
        pieces.append(replace(piece, samples=piece.samples[before:], start=start, begins=begins))
    return pieces


def weight(piece: Piece, near_hz: tuple[float, float] | None) -> float:
    """What a piece counts for its emission: overlap with the edges times duration, or energy."""
    duration = len(piece.samples) * piece.step
    if near_hz is None:
        return float(duration * 10 ** (piece.box.level_db / 10))
    shared = min(piece.box.upper, near_hz[1]) - max(piece.box.lower, near_hz[0])
    together = max(piece.box.upper, near_hz[1]) - min(piece.box.lower, near_hz[0])
    return duration * shared / together


class LevelCollector(LevelPipeline):
    """A pipeline that keeps the embeddings, with the first sample of their windows, and predicts nothing."""

    def __init__(self, bundle: Bundle, head: Head, engine: Engine) -> None:
        super().__init__(bundle, head, engine)
        self.rows: Rows = []

    def predict(
        self, block: Block, embeddings: NDArray[np.float32], ends: NDArray[np.int64]
    ) -> list[Prediction]:
        """Keep them."""
        starts = self.begin + ends - self.head.window
        self.rows += zip(starts.tolist(), embeddings, strict=True)
        return []


def past_samples(bundle: Bundle) -> int:
    """How far back a model looks: its encoder, and the level before it; or a front end and its noise."""
    front_end = bundle.meta.front_end
    if isinstance(front_end, BandSettings):
        return FRONT_END_PAST
    return int(bundle.encoder.shape.receptive_field - 1 + 3 * front_end.agc_samples)
