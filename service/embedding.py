"""Embeddings of a stored stretch of I/Q, made just as the live pipeline makes them: level, engine, window."""

from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streaming.agc import Agc
from streaming.block import Samples
from streaming.bundle import Bundle, encoder_sha256
from streaming.engine import Engine
from streaming.errors import InputError
from streaming.head import Head
from streaming.window import Window

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

    def embed(self, samples: Samples, past: int) -> NDArray[np.float32]:
        """Samples (past + T,) to embeddings (n, outputs) of windows that lie within the T."""
        head = self.head
        window = Window(self.bundle.encoder, head.hop, head.window)
        with closing(self.engine.stream()) as stream:
            rows = window.push(stream.push(Agc(self.bundle.meta["frontend"]["agc_samples"]).push(samples)))
        inside = rows[head.hop * (1 + np.arange(len(rows))) >= past + head.window]
        if not len(inside):
            raise InputError(
                f"the stretch has {len(samples) - past:,} samples; a window needs {head.window:,}"
            )
        chosen = np.linspace(0, len(inside) - 1, min(ROWS, len(inside))).round().astype(int)
        return np.ascontiguousarray(inside[chosen])


def past_samples(bundle: Bundle) -> int:
    """How far back a model looks: its encoder, and the level before it."""
    return int(bundle.encoder.shape.receptive_field - 1 + 3 * bundle.meta["frontend"]["agc_samples"])
