"""FedSSL-AMC, the paper's method: triplet loss on unlabelled frames, FedAvg of the encoder, local SVMs.

Recipe `paper`: max pooling, K = 10, batch 50, Adam at 1e-3, 10 rounds of 15,000 steps.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from streaming.encoder import Encoder
from training.methods.base import Budget, ClientFrames
from training.methods.pretrained import EncoderSvm, adapted, pretrain_recipe
from training.methods.track import Track
from training.pretraining.recipes import RECIPES


class FedSslAmc(EncoderSvm):
    """The paper's recipe."""

    title: ClassVar[str] = "FedSSL-AMC"

    def pretrain(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> Encoder:
        """Triplet loss."""
        recipe = replace(
            RECIPES["paper"],
            rounds=budget.pretrain_rounds,
            steps=budget.pretrain_steps,
            batch=budget.pretrain_batch,
            rate=budget.rate,
        )
        return pretrain_recipe(adapted(recipe, budget), clients, seed, track)
