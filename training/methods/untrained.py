"""For perspective: the paper's encoder as it is drawn at random, with local SVMs.

What a recipe with the same pooling and initialisation adds is its pretraining; `wavetell` has others, and a
control of its own (`training.methods.wavetell.ZeroSteps`).
"""

from collections.abc import Sequence
from typing import ClassVar

from streaming.encoder import Encoder
from streaming.shape import EncoderShape
from training.methods.base import Budget, ClientFrames
from training.methods.pretrained import EncoderSvm
from training.methods.track import Track


class Untrained(EncoderSvm):
    """No pretraining."""

    title: ClassVar[str] = "untrained: usual initialisation, max pooling + SVM"

    def pretrain(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> Encoder:
        """The seed's encoder."""
        return Encoder(EncoderShape(), seed)
