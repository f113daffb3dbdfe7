"""For perspective: the encoder as it is drawn at random, with local SVMs. Pretraining must beat it."""

from collections.abc import Sequence
from typing import ClassVar

from streaming.encoder import Encoder
from streaming.shape import EncoderShape
from training.methods.base import Budget, ClientFrames
from training.methods.pretrained import EncoderSvm
from training.methods.track import Track


class Untrained(EncoderSvm):
    """No pretraining."""

    title: ClassVar[str] = "untrained encoder + SVM"

    def pretrain(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> Encoder:
        """The seed's encoder."""
        return Encoder(EncoderShape(), seed)
