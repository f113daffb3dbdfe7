"""The paper's triplet objective,

    L = -log s(f(ref) . f(pos)) - w sum_k log s(-f(ref) . f(neg_k)),     s the sigmoid, w = 1 or 1/K

with references, positives and negatives cut out of the client's own unlabelled frames. One length l per
batch, uniform on 1..N, holds for positives and negatives, and one reference length a, uniform on l..N. Each
positive lies inside its reference; the K B negatives are drawn with replacement from the whole set, with own
offsets.

>>> from streaming.shape import EncoderShape
>>> rng = np.random.default_rng(1)
>>> frames = (rng.normal(size=(64, 100, 2)) @ [1, 1j]).astype(np.complex64)
>>> loss = Triplet(TripletSettings(negatives=10)).loss(Encoder(EncoderShape(depth=2)), frames, 8, rng)
>>> loss.requires_grad, loss.shape
(True, torch.Size([]))
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from streaming.block import Samples
from streaming.encoder import Encoder, iq
from streaming.errors import ConfigError
from training.pretraining.encode import encode


@dataclass(frozen=True)
class TripletSettings:
    """Settings of the triplet objective; the defaults are the paper's."""

    negatives: int = 10  # K
    mean_negatives: bool = (
        False  # weigh each negative by 1/K, as the reference code of the encoder's authors does
    )

    def __post_init__(self) -> None:
        if self.negatives < 1:
            raise ConfigError(f"triplet.negatives is {self.negatives}; it must be at least 1")


@dataclass(frozen=True)
class Cuts:
    """Where the stretches of one batch lie: rows of the set and offsets in them."""

    rows: NDArray[np.int64]  # (B,)
    reference_length: int  # a
    reference: NDArray[np.int64]  # (B,) offsets
    length: int  # l
    positive: NDArray[np.int64]  # (B,) offsets
    negative_rows: NDArray[np.int64]  # (K B,)
    negative: NDArray[np.int64]  # (K B,) offsets


def draw_cuts(count: int, samples: int, batch: int, negatives: int, rng: np.random.Generator) -> Cuts:
    """Draw one batch from a set of `count` frames of `samples` samples."""
    length = int(rng.integers(1, samples + 1))
    reference_length = int(rng.integers(length, samples + 1))
    reference = rng.integers(0, samples - reference_length + 1, batch)
    return Cuts(
        rows=rng.integers(0, count, batch),
        reference_length=reference_length,
        reference=reference,
        length=length,
        positive=reference + rng.integers(0, reference_length - length + 1, batch),
        negative_rows=rng.integers(0, count, negatives * batch),
        negative=rng.integers(0, samples - length + 1, negatives * batch),
    )


def cut(frames: Samples, rows: NDArray[np.int64], offsets: NDArray[np.int64], length: int) -> Tensor:
    """The stretches frames[row, offset : offset + length] as (B, length, 2)."""
    return iq(frames[rows[:, None], offsets[:, None] + np.arange(length)])


def triplet_loss(ref: Tensor, pos: Tensor, neg: Tensor, mean_negatives: bool) -> Tensor:
    """The mean over the batch of the loss; (B, E), (B, E) and (B, K, E) to a scalar."""
    near = -logsigmoid((ref * pos).sum(-1))  # (B,)
    far = -logsigmoid(-(neg @ ref[:, :, None])[..., 0])  # (B, K)
    return (near + (far.mean(-1) if mean_negatives else far.sum(-1))).mean()


class Triplet:
    """The triplet objective; it trains nothing beside the encoder."""

    def __init__(self, settings: TripletSettings) -> None:
        self.settings = settings
        self.extra = nn.Module()

    def loss(self, encoder: Encoder, frames: Samples, batch: int, rng: np.random.Generator) -> Tensor:
        """The loss of one batch drawn from the frames (n, N); all negatives are encoded together."""
        K = self.settings.negatives
        cuts = draw_cuts(len(frames), frames.shape[1], batch, K, rng)
        ref = encode(encoder, cut(frames, cuts.rows, cuts.reference, cuts.reference_length))  # (B, E)
        short = [
            cut(frames, cuts.rows, cuts.positive, cuts.length),
            cut(frames, cuts.negative_rows, cuts.negative, cuts.length),
        ]
        near = encode(encoder, *short)  # (B + K B, E)
        pos, neg = near[:batch], near[batch:].view(batch, K, -1)
        return triplet_loss(ref, pos, neg, self.settings.mean_negatives)
