"""FedProx-CNN (Li et al. 2020): a proximal term holds clients near what they downloaded.

h_c(theta) = f_c(theta) + mu/2 |theta - theta^t|^2,      mu = 0.01
"""

from typing import ClassVar

from torch import Tensor

from training.methods.cnn import Cnn
from training.methods.fedavg import FedAvg, Network
from training.methods.rounds import load_arrays
from training.pretraining.checkpoint import Arrays
from training.pretraining.trainer import proximal


class FedProx(FedAvg):
    """FedAvg with the proximal term."""

    title: ClassVar[str] = "FedProx-CNN"

    def __init__(self, network: Network = Cnn, mu: float = 0.01) -> None:
        super().__init__(network)
        self.mu = mu

    def local(self, client: int, number: int, shared: Arrays) -> tuple[Arrays, float]:
        """Remember what was downloaded."""
        load_arrays(self.network, shared)
        self.base = [parameter.detach().clone() for parameter in self.network.parameters()]
        return super().local(client, number, shared)

    def loss(self, client: int, rows: Tensor) -> Tensor:
        """f_c and the term."""
        return super().loss(client, rows) + proximal(list(self.network.parameters()), self.base, self.mu)
