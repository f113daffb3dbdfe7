"""For perspective: higher-order cumulants with local SVMs, as classifiers were made before they learnt."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from streaming.block import Samples
from training.evaluation.cumulants import cumulants
from training.methods.base import Budget, ClientFrames, Labels
from training.methods.svm import Machines
from training.methods.track import Track

LARGEST_C = 100.0  # few features separate nothing: beyond it a fit takes minutes


class CumulantSvm:
    """Seventeen features, no training beside the machines."""

    title: ClassVar[str] = "cumulants + SVM"

    def fit(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> None:
        """The machines."""
        search = replace(budget.search, C=tuple(C for C in budget.search.C if C <= LARGEST_C))
        self.machines = Machines(clients, cumulants, budget, seed, search)

    def predict(self, client: int, frames: Samples) -> Labels:
        """What the client's machine says."""
        return self.machines.predict(client, frames)
