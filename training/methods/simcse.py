"""SimCSE-CNN+SVM: as FedSSL-AMC, but the positive is the reference itself in a second pass with dropout.

    L = -log s(f(x; m) . f(x; m')) - sum_k log s(-f(x; m) . f(neg_k; m''))

m, m' and m'' are masks of dropout behind every block of the encoder; p = 0.1 is a best reading.
"""

from collections.abc import Sequence
from typing import ClassVar, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import dropout

from streaming.encoder import Encoder
from streaming.shape import EncoderShape
from training.datasets.augment import at_level
from training.methods.base import Budget, ClientFrames
from training.methods.pretrained import EncoderSvm, embedder, pretrain_network
from training.methods.svm import quick_look
from training.methods.track import Track
from training.objectives.triplet import cut, draw_cuts, triplet_loss
from training.pretraining.encode import ROWS

NEGATIVES = 10


class SimCse(EncoderSvm):
    """Triplets by dropout."""

    title: ClassVar[str] = "SimCSE-CNN+SVM"

    def __init__(self, p: float = 0.1) -> None:
        self.p = p

    def pretrain(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> Encoder:
        """In rounds of averaging."""
        encoder = Encoder(EncoderShape(), seed)
        frames = [at_level(client.unlabelled.iq, budget.level) for client in clients]

        def loss(client: int, rng: np.random.Generator) -> Tensor:
            x, batch = frames[client], budget.pretrain_batch
            cuts = draw_cuts(len(x), x.shape[1], batch, NEGATIVES, rng)
            reference = cut(x, cuts.rows, cuts.reference, cuts.reference_length)
            twice = self.encode(encoder, torch.cat([reference, reference]))  # (2 B, E)
            negative = self.encode(encoder, cut(x, cuts.negative_rows, cuts.negative, cuts.length))
            first, second = twice.chunk(2)
            return triplet_loss(first, second, negative.view(batch, NEGATIVES, -1), mean_negatives=False)

        pretrain_network(
            encoder,
            loss,
            clients,
            budget,
            seed,
            track,
            budget.rate,
            lambda: quick_look(clients, embedder(encoder, budget.level)),
        )
        return encoder

    def encode(self, encoder: Encoder, x: Tensor) -> Tensor:
        """(B, T, 2) to (B, E) with dropout, in slices that stay in the cache."""
        pieces = torch.split(x, max(1, ROWS // x.shape[1]))
        return torch.cat([self.dropped(encoder, piece) for piece in pieces])

    def dropped(self, encoder: Encoder, x: Tensor) -> Tensor:
        """One pass."""
        for block in encoder.blocks:
            x = dropout(block(x), self.p)
        return cast(Tensor, encoder.linear(encoder.pool(x)))
