"""Embeddings as they will be made when the head runs: what is fitted is what runs.

Frame mode: each frame is divided by its RMS and encoded from an empty state. Live mode: a stretch with its
past goes through the AGC, the engine and the window, and the embedding of its last window is taken.
"""

import numpy as np
from numpy.typing import NDArray

from streaming.agc import Agc, log_rms, normalise
from streaming.block import Samples
from streaming.engine import open_engine
from streaming.errors import InputError
from streaming.weights import AnyEncoder
from streaming.window import Window
from training.progress import Progress

Embeddings = NDArray[np.float32]
SLICE = 64  # frames encoded at once: a layer's GEMM then stays in the cache
STREAMS = 16  # streams pushed in one call


def embed_frames(
    encoder: AnyEncoder, iq: Samples, what: str = "encoding frames", level: bool = False
) -> Embeddings:
    """Frames (n, N) to embeddings (n, outputs), each from an empty state, and with ``level`` the log RMS."""
    out = np.empty((len(iq), encoder.shape.outputs), np.float32)
    with Progress(what, len(iq)) as progress:
        for i in range(0, len(iq), SLICE):
            out[i : i + SLICE] = encoder.encode(normalise(iq[i : i + SLICE]), SLICE)
            progress.to(min(i + SLICE, len(iq)))
    return np.hstack([out, log_rms(iq)]) if level else out


def embed_live(
    encoder: AnyEncoder,
    iq: Samples,
    *,
    hop: int,
    window: int,
    agc_samples: float | None,
    what: str = "encoding streams",
) -> Embeddings:
    """Stretches (n, past + window) to the embeddings (n, outputs) of their last windows.

    Without ``agc_samples`` they are at the encoder's level already.
    """
    length = iq.shape[1]
    if length < window or length % hop:
        raise InputError(
            f"stretches have {length} samples; expected a multiple of the hop, {hop}, from {window} on"
        )
    engine = open_engine(encoder, hop)
    streams = [engine.stream() for _ in range(min(STREAMS, len(iq)))]
    out = np.empty((len(iq), encoder.shape.outputs), np.float32)
    with Progress(what, len(iq)) as progress:
        for i in range(0, len(iq), STREAMS):
            part = list(np.ascontiguousarray(iq[i : i + STREAMS]))
            if agc_samples is not None:
                part = [Agc(agc_samples).push(x) for x in part]
            work = list(zip(streams, part, strict=False))
            for row, hops in enumerate(engine.push(work)):
                out[i + row] = Window(encoder, hop, window).push(hops)[-1]
            for stream in streams:
                stream.reset()
            progress.to(min(i + STREAMS, len(iq)))
    for stream in streams:
        stream.close()
    return out
