"""Small models for tests."""

import numpy as np
from numpy.typing import NDArray

from streaming.bundle import encoder_sha256
from streaming.encoder import Encoder
from streaming.features import COUNT
from streaming.head import Head, Mode
from streaming.projection import Projection


def tiny_head(
    encoder: Encoder,
    name: str = "tiny",
    mode: Mode = "frame",
    window: int = 100,
    hop: int = 100,
    seed: int = 0,
    features: int = 0,
) -> Head:
    """A head with random support vectors, for tests that are not about what it says."""
    rng, outputs = np.random.default_rng(seed), encoder.shape.outputs + features
    return Head(
        name=name,
        classes=("A", "B", "C"),
        mode=mode,
        window=window,
        hop=hop,
        encoder_sha256=encoder_sha256(encoder),
        kernel="rbf",
        gamma=1 / outputs,
        threshold=0.0,
        mean=np.zeros(outputs),
        scale=np.ones(outputs),
        vectors=rng.standard_normal((6, outputs)).astype(np.float16),
        counts=np.array([2, 2, 2]),
        dual=rng.standard_normal((2, 6)),
        intercept=rng.standard_normal(3),
        calibration=rng.standard_normal((3, 3)),
        calibration_bias=np.zeros(3),
    )


def tiny_projection(seed: int = 0) -> Projection:
    """A projection with random weights, to four outputs."""
    rng = np.random.default_rng(seed)

    def layer(*shape: int) -> NDArray[np.float32]:
        return (rng.standard_normal(shape) / np.sqrt(shape[-2])).astype(np.float32)

    return Projection(
        np.zeros(COUNT, np.float32),
        np.ones(COUNT, np.float32),
        layer(2, 1 + COUNT, 8),
        layer(2, 9, 8),
        layer(2, 9, 2),
        layer(2, 1 + COUNT, 3),
        layer(2, 4, 3),
        layer(2, 4, 3),
    )
