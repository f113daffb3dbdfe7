"""FedRep-CNN (Collins et al. 2021): a shared body, and a head of its own for every client.

A round: the head with the body frozen, then the body with the head frozen; only bodies are averaged. After
the last average the body stays, and every client trains its head once more.
"""

from typing import ClassVar

from torch import nn

from training.methods.base import generator
from training.methods.fedavg import FedAvg
from training.methods.rounds import arrays_of, load_arrays
from training.pretraining.checkpoint import Arrays

HEAD = "head."


class FedRep(FedAvg):
    """FedAvg of bodies; the network has a `body` and a `head`."""

    title: ClassVar[str] = "FedRep-CNN"

    def prepare(self) -> None:
        """Every client starts with the same head."""
        self.rounds.own = [head_of(self.rounds.shared) for _ in self.clients]

    def local(self, client: int, number: int, shared: Arrays) -> tuple[Arrays, float]:
        """Head, then body; the head stays here."""
        rng = generator(self.seed, client, number)
        load_arrays(self.network, shared | self.rounds.own[client])
        self.train(client, self.part("head"), self.budget.rate, rng)
        loss = self.train(client, self.part("body"), self.budget.rate, rng)
        arrays = arrays_of(self.network)
        self.rounds.own[client] = head_of(arrays)
        return arrays, loss

    def finish(self) -> None:
        """The heads once more, on the body that is final."""
        for client in range(len(self.clients)):
            rng = generator(self.seed, client, self.budget.rounds + 1)
            load_arrays(self.network, self.personal(client))
            self.train(client, self.part("head"), self.budget.rate, rng)
            self.rounds.own[client] = head_of(arrays_of(self.network))

    def personal(self, client: int) -> Arrays:
        """The shared body with the client's head."""
        return self.rounds.shared | self.rounds.own[client]

    def part(self, name: str) -> list[nn.Parameter]:
        """The parameters of body or head."""
        return list(self.network.get_submodule(name).parameters())


def head_of(arrays: Arrays) -> Arrays:
    """The tensors of the head."""
    return {name: array for name, array in arrays.items() if name.startswith(HEAD)}
