"""Embeddings of emissions: the encoder over the newest window, and the projection of all features.

    embedding = encoder (window) | projection (features of the evidence) | log odds of an outlier

It depends on nothing but the evidence, so what is fitted is what runs. A model without a projection has the
encoder's part alone.
"""

from collections.abc import Sequence

import numpy as np

from streaming.agc import normalise
from streaming.block import Samples
from streaming.bundle import Bundle
from streaming.engine import Engine, Stream
from streaming.features import describe
from streaming.projection import Rows
from streaming.window import Window


class EmissionEmbedder:
    """Evidence in, embeddings out; one push of the engine serves all that are asked for at once."""

    def __init__(self, bundle: Bundle, engine: Engine, window: int) -> None:
        self.bundle, self.engine, self.window = bundle, engine, window
        past = -(-(bundle.encoder.shape.receptive_field - 1) // engine.hop)
        self._hops = past + window // engine.hop  # that are encoded at most
        self._streams: list[Stream] = []
        self._window = Window(bundle.encoder, engine.hop, window)

    def push(self, evidence: Sequence[tuple[Samples, float]]) -> Rows:
        """Samples of emissions with their SNR, dB, to embeddings (n, entries)."""
        encoded = self._encode([samples for samples, _ in evidence])
        if self.bundle.projection is None:
            return encoded
        features = np.stack([describe(samples, snr_db) for samples, snr_db in evidence])
        return np.concatenate([encoded, self.bundle.projection.push(features)], 1)

    def _encode(self, signals: list[Samples]) -> Rows:
        """The encoder over the newest window of each, at unit power, from an empty state."""
        while len(self._streams) < len(signals):
            self._streams.append(self.engine.stream())
        work = []
        for stream, samples in zip(self._streams, signals, strict=False):
            stream.reset()
            work.append((stream, normalise(self._newest(samples))))
        rows = []
        for hops in self.engine.push(work):
            self._window.reset()
            rows.append(self._window.push(hops)[-1])
        return np.stack(rows)

    def _newest(self, samples: Samples) -> Samples:
        """Whole hops up to the last sample; what is shorter than a hop is repeated."""
        hop = self.engine.hop
        if len(samples) < hop:
            return np.resize(samples, hop)
        return samples[-min(self._hops, len(samples) // hop) * hop :]

    def close(self) -> None:
        """Give the engine's states back."""
        for stream in self._streams:
            stream.close()
        self._streams = []
