"""FedDyn-CNN (Acar et al. 2021): a linear term that makes local and global optima agree.

    theta_c = argmin f_c(theta) + a_c <theta, h_c - theta^t> + a_c/2 |theta|^2,      a_c = a / (C n_c / n)
    h_c <- h_c + theta_c - theta^t,      theta^{t+1} = mean_c theta_c + mean_c h_c

with plain means over the C clients, a = 0.01 and gradients cut at norm 10, as in the authors' code. Clients
start from theta^t; the model that answers is mean_c theta_c. Statistics of batch normalisation are averaged.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from training.methods.cnn import Cnn
from training.methods.fedavg import FedAvg, Network
from training.methods.rounds import mean
from training.pretraining.checkpoint import Arrays


class FedDyn(FedAvg):
    """FedAvg with the dynamic regulariser."""

    title: ClassVar[str] = "FedDyn-CNN"
    clip = 10.0

    def __init__(self, network: Network = Cnn, strength: float = 0.01) -> None:
        super().__init__(network)
        self.strength = strength

    def prepare(self) -> None:
        """h = 0 everywhere; the shared arrays hold the cloud model, and the mean beside it."""
        names = [name for name, _ in self.network.named_parameters()]
        zero = {name: np.zeros_like(self.rounds.shared[name]) for name in names}
        self.rounds.own = [dict(zero) for _ in self.clients]
        self.rounds.shared |= {f"mean/{name}": self.rounds.shared[name] for name in names}

    def local(self, client: int, number: int, shared: Arrays) -> tuple[Arrays, float]:
        """Train with the client's term, then move its h."""
        own = self.rounds.own[client]
        cloud = {name: array for name, array in shared.items() if not name.startswith("mean/")}
        self.slope = {name: torch.from_numpy(own[name] - cloud[name]) for name in own}
        arrays, loss = super().local(client, number, cloud)
        self.rounds.own[client] = {name: own[name] + arrays[name] - cloud[name] for name in own}
        return arrays, loss

    def loss(self, client: int, rows: Tensor) -> Tensor:
        """f_c and the two terms."""
        share = len(self.clients) * self.rounds.samples[client] / sum(self.rounds.samples)
        extra = [
            (parameter * self.slope[name]).sum() + parameter.square().sum() / 2
            for name, parameter in self.network.named_parameters()
        ]
        return super().loss(client, rows) + self.strength / share * torch.stack(extra).sum()

    def combine(self, updates: list[Arrays], samples: Sequence[int]) -> Arrays:
        """The plain mean, and the cloud model for the next round."""
        average = mean(updates, [1] * len(updates))
        slopes = mean(self.rounds.own, [1] * len(updates))
        cloud = {name: array + slopes[name] if name in slopes else array for name, array in average.items()}
        return cloud | {f"mean/{name}": average[name] for name in slopes}

    def personal(self, client: int) -> Arrays:
        """The mean model."""
        shared = self.rounds.shared
        names = [name for name in shared if not name.startswith("mean/")]
        return {name: shared.get(f"mean/{name}", shared[name]) for name in names}
