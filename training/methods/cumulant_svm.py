"""For perspective: higher-order cumulants with local SVMs, as classifiers were made before they learnt."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from streaming.block import Samples
from training.evaluation.cumulants import cumulants, cumulants_and_level
from training.heads.embed import Embeddings
from training.methods.base import Budget, ClientFrames, Labels
from training.methods.svm import Machines
from training.methods.track import Track

LARGEST_C = 100.0  # few features separate nothing: beyond it a fit takes minutes


class CumulantSvm:
    """Seventeen features, no training beside the machines."""

    title: ClassVar[str] = "cumulants + SVM"

    @staticmethod
    def features(frames: Samples) -> Embeddings:
        """What the machines see."""
        return cumulants(frames)

    def fit(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> None:
        """The machines."""
        search = replace(budget.search, C=tuple(C for C in budget.search.C if C <= LARGEST_C))
        self.machines = Machines(clients, self.features, budget, seed, search)

    def predict(self, client: int, frames: Samples) -> Labels:
        """What the client's machine says."""
        return self.machines.predict(client, frames)


class CumulantLevelSvm(CumulantSvm):
    """The same with an eighteenth: the level."""

    title: ClassVar[str] = "cumulants and level + SVM"

    @staticmethod
    def features(frames: Samples) -> Embeddings:
        """What the machines see."""
        return cumulants_and_level(frames)
