"""FedAvg-CNN (McMahan et al. 2017): local epochs on labelled frames, then the sample-weighted mean.

    theta_c = theta^t - Adam or SGD steps on mean CE(f(x; theta), y),      theta^{t+1} = sum_c n_c / n theta_c

The other supervised methods are this one with another local loss, another download or another mean. Frames
are divided by their RMS. Nothing in the sources fixes the optimiser: Adam, as in pretraining.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from streaming.block import Samples
from training.methods.base import Budget, ClientFrames, Labels, generator, tensor
from training.methods.cnn import Cnn
from training.methods.precision import hold
from training.methods.rounds import Rounds, arrays_of, load_arrays, mean
from training.methods.track import Track
from training.pretraining.checkpoint import Arrays

Network = Callable[[int, int], nn.Module]  # samples per frame, classes
ASK = 256  # frames asked about at once


class FedAvg:
    """Federated averaging of one network."""

    title: ClassVar[str] = "FedAvg-CNN"
    clip: float | None = None  # of the gradient's norm

    def __init__(self, network: Network = Cnn) -> None:
        self.make = network

    def fit(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> None:
        """All rounds, from a network drawn at random."""
        generator(seed)
        self.network = self.make(clients[0].labelled.iq.shape[1], len(clients[0].classes))
        self.learn(clients, budget, seed, track)

    def learn(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> None:
        """All rounds, from the network as it is."""
        self.clients, self.budget, self.seed = clients, budget, seed
        self.x = [self.inputs(client.labelled.iq) for client in clients]
        self.y = [torch.from_numpy(client.labelled.label) for client in clients]
        self.rounds = Rounds("training", arrays_of(self.network), [len(y) for y in self.y])
        self.prepare()
        self.rounds.run(budget.rounds, self.local, track, self.judge, self.combine)
        self.finish()

    def predict(self, client: int, frames: Samples) -> Labels:
        """What the client's network says."""
        load_arrays(self.network, self.personal(client))
        return answers(self.network, self.inputs(frames))

    def judge(self) -> float:
        """Mean share of right answers on the clients' validation frames."""
        said = [self.predict(i, client.validation.iq) for i, client in enumerate(self.clients)]
        truth = [client.validation.label for client in self.clients]
        return float(np.mean([np.mean(a == b) for a, b in zip(said, truth, strict=True)]))

    # What other methods change.

    def inputs(self, frames: Samples) -> Tensor:
        """What the network sees of frames."""
        return tensor(frames, self.budget.level)

    def prepare(self) -> None:
        """Before the first round."""

    def finish(self) -> None:
        """After the last."""

    def local(self, client: int, number: int, shared: Arrays) -> tuple[Arrays, float]:
        """One client's round: what it uploads, and its mean loss."""
        rng = generator(self.seed, client, number)
        load_arrays(self.network, shared)
        loss = self.train(client, list(self.network.parameters()), self.budget.rate, rng)
        return arrays_of(self.network), loss

    def loss(self, client: int, rows: Tensor) -> Tensor:
        """The local objective on a batch."""
        return cross_entropy(self.network(self.x[client][rows]), self.y[client][rows])

    def combine(self, updates: list[Arrays], samples: Sequence[int]) -> Arrays:
        """The next shared model."""
        return mean(updates, samples)

    def personal(self, client: int) -> Arrays:
        """The model that a client answers with."""
        return self.rounds.shared

    # What they share.

    def train(
        self,
        client: int,
        parameters: list[nn.Parameter],
        rate: float,
        rng: np.random.Generator,
        rows: Labels | None = None,
    ) -> float:
        """Local epochs over these parameters, on these rows or on all; the mean loss."""
        optimiser = self.optimiser(parameters, rate)
        rows = np.arange(len(self.y[client])) if rows is None else rows
        losses = []
        self.network.train()
        for parameter in self.network.parameters():
            parameter.requires_grad_(False)
        for parameter in parameters:
            parameter.requires_grad_(True)
        for _ in range(self.budget.epochs):
            for batch in batches(rows, self.budget.batch, rng, self.budget.batches):
                optimiser.zero_grad()
                loss = self.loss(client, batch)
                loss.backward()  # type: ignore[no-untyped-call]
                if self.clip is not None:
                    nn.utils.clip_grad_norm_(parameters, self.clip)
                optimiser.step()
                hold(parameters, self.clients[client].precision)
                losses.append(loss.item())
        return float(np.mean(losses))

    def optimiser(self, parameters: list[nn.Parameter], rate: float) -> torch.optim.Optimizer:
        """A new optimiser; none outlives a client's round."""
        if self.budget.optimiser == "sgd":
            return torch.optim.SGD(parameters, rate)
        return torch.optim.Adam(parameters, rate, fused=True)


def batches(rows: Labels, size: int, rng: np.random.Generator, most: int | None = None) -> Iterator[Tensor]:
    """The rows in random order, in batches; a last one of a single frame, which has no variance, is left."""
    order = rng.permutation(rows)
    for i in range(0, len(order), size)[:most]:
        if len(order) - i > 1 or len(order) == 1:
            yield torch.from_numpy(order[i : i + size])


@torch.no_grad()
def answers(network: nn.Module, x: Tensor) -> Labels:
    """The class with the largest score, (n,)."""
    network.eval()
    parts = [network(piece).argmax(1) for piece in torch.split(x, ASK)]
    return np.asarray(torch.cat(parts).numpy(), np.int64)
