"""FedeAMC (Wang et al. 2021): FedAvg with class-balanced cross-entropy.

    L = sum_i w_{y_i} CE_i / sum_i w_{y_i},      w_c = max_k n_k / n_c

over the client's own counts n. The weights are a best reading: no source gives them.
"""

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from training.methods.fedavg import FedAvg


class FedeAmc(FedAvg):
    """FedAvg with class weights."""

    title: ClassVar[str] = "FedeAMC"

    def prepare(self) -> None:
        """Every client's weights; a class it does not have is never asked for."""
        self.weights = []
        for client in self.clients:
            counts = client.labelled.counts()
            self.weights.append(torch.from_numpy((counts.max() / np.maximum(counts, 1)).astype(np.float32)))

    def loss(self, client: int, rows: Tensor) -> Tensor:
        """Weighted cross-entropy."""
        scores = self.network(self.x[client][rows])
        return cross_entropy(scores, self.y[client][rows], weight=self.weights[client])
