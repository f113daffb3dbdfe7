"""PMSGD-CNN (Rahman et al. 2024): FedAvg in which every client chooses its own learning rate.

In every round a client tries 0.01, 0.001 and 0.0001 on a fifth of its frames, each from the downloaded model
and on the same batches, and takes the one whose training loss on that fifth is lowest afterwards. (Whether
once or in every round is not said: `each_round`.)
"""

from typing import ClassVar

import torch

from training.methods.base import Labels, generator
from training.methods.cnn import Cnn
from training.methods.fedavg import FedAvg, Network
from training.methods.rounds import arrays_of, load_arrays
from training.pretraining.checkpoint import Arrays

RATES = (1e-2, 1e-3, 1e-4)
SHARE = 0.2


class Pmsgd(FedAvg):
    """FedAvg with rates that clients choose."""

    title: ClassVar[str] = "PMSGD-CNN"

    def __init__(self, network: Network = Cnn, each_round: bool = True) -> None:
        super().__init__(network)
        self.each_round = each_round

    def prepare(self) -> None:
        """No client has chosen yet."""
        self.rates: dict[int, float] = {}

    def local(self, client: int, number: int, shared: Arrays) -> tuple[Arrays, float]:
        """Choose, then train."""
        if self.each_round or client not in self.rates:
            self.rates[client] = self.choose(client, number, shared)
        rng = generator(self.seed, client, number)
        load_arrays(self.network, shared)
        loss = self.train(client, list(self.network.parameters()), self.rates[client], rng)
        return arrays_of(self.network), loss

    def choose(self, client: int, number: int, shared: Arrays) -> float:
        """The rate with the lowest training loss on a fifth of the frames."""
        count = len(self.y[client])
        rows = generator(self.seed, client, number, 1).permutation(count)[: max(2, round(SHARE * count))]
        return min(RATES, key=lambda rate: self.trial(client, number, shared, rows, rate))

    def trial(self, client: int, number: int, shared: Arrays, rows: Labels, rate: float) -> float:
        """Loss on these rows after training on them at this rate."""
        load_arrays(self.network, shared)
        self.train(
            client, list(self.network.parameters()), rate, generator(self.seed, client, number, 2), rows
        )
        with torch.no_grad():
            return float(self.loss(client, torch.from_numpy(rows)))
