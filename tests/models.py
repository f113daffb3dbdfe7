"""Small models for tests."""

import numpy as np

from streaming.bundle import encoder_sha256
from streaming.encoder import Encoder
from streaming.head import Head, Mode


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
