"""Methods whose classifier is a network behind a pretrained body, frozen or trained along.

The sources are central. Whether the paper's adaptation averages the classifiers is not said: by default each
client trains its own, as FedSSL-AMC's clients do; with the budget's `federated` they
are averaged after every epoch.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from streaming.block import Samples
from training.methods.base import Budget, ClientFrames, generator, tensor
from training.methods.fedavg import FedAvg
from training.methods.svm import quick_look
from training.methods.track import Track
from training.pretraining.checkpoint import Arrays

SLICE = 256


class Tuned(FedAvg, ABC):
    """Pretrain `body`, then train `head` (and body)."""

    frozen: ClassVar[bool] = True

    def fit(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> None:
        """Both stages."""
        self.clients, self.budget = clients, budget
        generator(seed)
        self.build(clients[0].labelled.iq.shape[1], len(clients[0].classes))
        self.pretrain(seed, track)
        self.network = self.head if self.frozen else self.whole()
        self.learn(clients, replace(budget, rounds=budget.tune_epochs, epochs=1), seed, track)

    @abstractmethod
    def build(self, samples: int, classes: int) -> None:
        """Make `self.body` and `self.head`."""

    @abstractmethod
    def pretrain(self, seed: int, track: Track) -> None:
        """Train `self.body` on unlabelled frames."""

    body: nn.Module
    head: nn.Module

    def whole(self) -> nn.Module:
        """Body and head as one network."""
        return nn.Sequential(self.body, self.head)

    def prepared(self, frames: Samples) -> Tensor:
        """What the body sees of frames."""
        return tensor(frames, self.budget.level)

    def features(self, frames: Samples) -> Tensor:
        """What the frozen body makes of frames."""
        self.body.eval()
        with torch.no_grad():
            return torch.cat([self.body(x) for x in torch.split(self.prepared(frames), SLICE)])

    def look(self) -> float:
        """A quick look at the body while it is pretrained."""
        return quick_look(self.clients, lambda frames: self.features(frames).numpy())

    def inputs(self, frames: Samples) -> Tensor:
        """Features where the body is frozen, else what the body sees."""
        return self.features(frames) if self.frozen else self.prepared(frames)

    def local(self, client: int, number: int, shared: Arrays) -> tuple[Arrays, float]:
        """From the average, or from where the client was."""
        own = self.rounds.own[client]
        arrays, loss = super().local(client, number, shared if self.budget.federated or not own else own)
        if not self.budget.federated:
            self.rounds.own[client] = arrays
        return arrays, loss

    def personal(self, client: int) -> Arrays:
        """The client's own network, or the average."""
        return self.rounds.shared if self.budget.federated else self.rounds.own[client]


def two_layers(inputs: int, hidden: int, classes: int) -> nn.Module:
    """A small classifier."""
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, classes))
