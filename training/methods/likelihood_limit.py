"""The best answers to synthetic frames (`training.evaluation.likelihood`), with their level and without.

They know what the frames are drawn from, and the client's priors, but not the parameters of a frame. Tables
show their accuracy not as right answers but as `training.evaluation.limit` has it.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from streaming.block import Samples
from streaming.errors import ConfigError
from training.datasets.augment import Level
from training.evaluation.likelihood import log_priors, marginal_scores
from training.evaluation.limit import TITLES
from training.methods.base import Budget, ClientFrames, Labels
from training.methods.track import Track


class LikelihoodLimit:
    """The best answer there is."""

    title: ClassVar[str] = TITLES["raw"]
    level: ClassVar[Level] = "raw"

    def fit(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> None:
        """Nothing is learnt."""
        self.known = []
        for client in clients:
            if client.signal is None:
                raise ConfigError("the likelihood limit is known for synthetic frames only")
            self.known.append((client.signal, log_priors(client.priors)))

    def predict(self, client: int, frames: Samples) -> Labels:
        """The class with the largest posterior."""
        signal, priors = self.known[client]
        return np.asarray((marginal_scores(signal, frames, self.level) + priors).argmax(1), np.int64)


class LevelFreeLimit(LikelihoodLimit):
    """The best answer for one who divides each frame by its RMS."""

    title: ClassVar[str] = TITLES["rms"]
    level: ClassVar[Level] = "rms"
