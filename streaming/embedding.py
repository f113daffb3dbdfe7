"""Embeddings of a stored stretch of I/Q, made just as the live pipeline makes them."""

from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streaming.block import Block, Samples
from streaming.bundle import Bundle, encoder_sha256
from streaming.engine import Engine
from streaming.errors import InputError
from streaming.head import Head
from streaming.intake import LevelSettings
from streaming.pipeline import LivePipeline, Windows
from streaming.prediction import Prediction

FRONT_END_PAST = 1 << 19  # 2 s at 250 kHz: enough to know the noise
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

    def embed(self, samples: Samples, past: int, rate_hz: float) -> NDArray[np.float32]:
        """Samples (past + T,) to embeddings (n, outputs) of windows that lie within the T."""
        with closing(Collector(self.bundle, self.head, self.engine)) as collector:
            collector.push(Block(samples, 0, rate_hz))
            collector.flush()
        inside = [row for start, row in collector.rows if start >= past]
        if not inside and not isinstance(self.bundle.meta.front_end, LevelSettings):
            raise InputError(f"no signal is in the {len(samples) - past:,} samples, or none long enough")
        if not inside:
            raise InputError(
                f"the stretch has {len(samples) - past:,} samples; a window needs {self.head.window:,}"
            )
        chosen = np.linspace(0, len(inside) - 1, min(ROWS, len(inside))).round().astype(int)
        return np.stack([inside[i] for i in chosen])


class Collector(LivePipeline):
    """A pipeline that keeps the embeddings, with the first sample of their windows, and predicts nothing."""

    def __init__(self, bundle: Bundle, head: Head, engine: Engine) -> None:
        super().__init__(bundle, head, engine)
        self.rows: list[tuple[int, NDArray[np.float32]]] = []

    def predict(self, block: Block, windows: Windows) -> list[Prediction]:
        """Keep them."""
        spans = self.spans(windows.ends, windows.lengths)
        self.rows += [(start, row) for (start, _), row in zip(spans, windows.embeddings, strict=True)]
        return []


def past_samples(bundle: Bundle) -> int:
    """How far back a model looks: its encoder, and the level before it; or a front end and its noise."""
    if isinstance(bundle.meta.front_end, LevelSettings):
        return int(bundle.encoder.shape.receptive_field - 1 + 3 * bundle.meta.front_end.agc_samples)
    return FRONT_END_PAST
