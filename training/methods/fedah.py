"""FedAH-CNN (Wu et al. 2025): the downloaded head is mixed into the local one, element by element.

    head = h_l + (h_g - h_l) W,      W <- clip(W - eta dL/dhead (h_g - h_l), 0, 1),   eta = 1, W = 1 at first

W is trained over the client's batches with everything else frozen; then head epochs, then body epochs. Body
and head are averaged. A client answers with the shared body and its mixed head.
"""

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from training.methods.base import generator
from training.methods.fedavg import batches
from training.methods.fedrep import FedRep, head_of
from training.methods.rounds import arrays_of, load_arrays
from training.pretraining.checkpoint import Arrays

ETA = 1.0
WEIGHT = "W/"


class FedAh(FedRep):
    """FedRep with heads that are averaged, and mixed on download."""

    title: ClassVar[str] = "FedAH-CNN"

    def prepare(self) -> None:
        """Heads alike, W = 1."""
        super().prepare()
        for own in self.rounds.own:
            own |= {WEIGHT + name: np.ones_like(array) for name, array in own.items()}

    def local(self, client: int, number: int, shared: Arrays) -> tuple[Arrays, float]:
        """Mix, then head, then body."""
        rng = generator(self.seed, client, number)
        load_arrays(self.network, shared | self.mix(client, shared, rng))
        self.train(client, self.part("head"), self.budget.rate, rng)
        loss = self.train(client, self.part("body"), self.budget.rate, rng)
        arrays = arrays_of(self.network)
        self.rounds.own[client] |= head_of(arrays)
        return arrays, loss

    def mix(self, client: int, shared: Arrays, rng: np.random.Generator) -> Arrays:
        """The mixed head, after W was trained on the client's frames."""
        own = self.rounds.own[client]
        local = {name: torch.from_numpy(own[name]) for name in own if not name.startswith(WEIGHT)}
        apart = {name: torch.from_numpy(shared[name]) - local[name] for name in local}
        weight = {name: torch.from_numpy(own[WEIGHT + name].copy()) for name in local}
        load_arrays(self.network, shared)
        if any(difference.any() for difference in apart.values()):
            self.learn_weights(client, local, apart, weight, rng)
        own |= {WEIGHT + name: weight[name].numpy() for name in local}
        return {name: (local[name] + apart[name] * weight[name]).numpy() for name in local}

    def learn_weights(
        self,
        client: int,
        local: dict[str, Tensor],
        apart: dict[str, Tensor],
        weight: dict[str, Tensor],
        rng: np.random.Generator,
    ) -> None:
        """One pass of W over the client's batches, in place."""
        self.network.train()
        for parameter in self.network.parameters():
            parameter.requires_grad_(False)
        head = {name: p for name, p in self.network.named_parameters() if name in local}
        rows = np.arange(len(self.y[client]))
        for batch in batches(rows, self.budget.batch, rng, self.budget.batches):
            for name, parameter in head.items():
                parameter.copy_(local[name] + apart[name] * weight[name])
                parameter.requires_grad_(True)
            gradients = torch.autograd.grad(self.loss(client, batch), list(head.values()))
            for (name, parameter), gradient in zip(head.items(), gradients, strict=True):
                parameter.requires_grad_(False)
                weight[name].sub_(ETA * gradient * apart[name]).clamp_(0, 1)

    def finish(self) -> None:
        """The last download: W is trained, and the mixed head is the client's."""
        for client in range(len(self.clients)):
            rng = generator(self.seed, client, self.budget.rounds + 1)
            mixed = self.mix(client, self.rounds.shared, rng)
            self.rounds.own[client] = mixed | {WEIGHT + name: np.zeros_like(h) for name, h in mixed.items()}

    def personal(self, client: int) -> Arrays:
        """The shared body with the head as it would be mixed now, W as it stands."""
        own, shared = self.rounds.own[client], self.rounds.shared
        head = {name: own[name] for name in own if not name.startswith(WEIGHT)}
        mixed = {name: h + (shared[name] - h) * own[WEIGHT + name] for name, h in head.items()}
        return shared | mixed
