"""Self-supervised rounds: every client takes Adam steps on a loss over its unlabelled frames, then the mean.

Two forms: recipes of `training.pretraining.recipes` with the repository's own trainer, and any network with
any loss.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from streaming.agc import log_rms
from streaming.block import Samples
from streaming.encoder import Encoder
from training.datasets.augment import Level, at_level
from training.heads.embed import Embeddings
from training.methods.base import Budget, ClientFrames, Labels, generator
from training.methods.precision import hold
from training.methods.rounds import Rounds, arrays_of, load_arrays
from training.methods.svm import Embed, Machines, quick_look
from training.methods.track import Track
from training.pretraining.canonical import settle
from training.pretraining.checkpoint import Arrays
from training.pretraining.recipes import Recipe
from training.pretraining.trainer import Model, Trainer

STAGE = "pretraining"
AGREE = 10_000  # frames per client for canonical outputs, as `wavetell pretrain` takes
Loss = Callable[[int, np.random.Generator], Tensor]  # of one batch of a client


def pretrain_recipe(recipe: Recipe, clients: Sequence[ClientFrames], seed: int, track: Track) -> Encoder:
    """The encoder after all rounds of a recipe."""
    frames = [at_level(client.unlabelled.iq, recipe.level) for client in clients]
    model = Model(recipe, seed)
    rounds = Rounds(STAGE, dict(model.arrays()), [len(x) for x in frames])

    def local(client: int, number: int, shared: Arrays) -> tuple[Arrays, float]:
        words = (seed, client, 1 + number)
        generator(seed, client, number)  # of int8 rounding alone: a trainer has draws of its own
        trainer = Trainer(recipe, frames[client], shared, words, (number - 1) / recipe.rounds)
        if recipe.keep_moments:
            trainer.restore_moments(rounds.own[client])
        while trainer.step_number < recipe.steps:
            trainer.step()
            hold(trainer.model.parameters(), clients[client].precision)
        if recipe.keep_moments:
            rounds.own[client] = trainer.moments()
        return dict(trainer.model.arrays()), float(np.mean(trainer.losses))

    def judge() -> float:
        model.load(rounds.shared)
        return quick_look(clients, embedder(model.encoder, recipe.level))

    rounds.run(recipe.rounds, local, track, judge)
    model.load(rounds.shared)
    return settled(model.encoder, recipe, frames)


def adapted(recipe: Recipe, budget: Budget) -> Recipe:
    """The recipe with the budget's level, proximal term and activation."""
    shape = replace(recipe.shape, activation=budget.activation or recipe.shape.activation)
    return replace(recipe, level=budget.level, proximal=budget.proximal, shape=shape)


def settled(encoder: Encoder, recipe: Recipe, frames: Sequence[Samples]) -> Encoder:
    """The encoder with the recipe's last step, on each client's frames at the recipe's level."""
    if recipe.canonical is not None:
        settle(encoder, ((f"{i:04}", x[:AGREE]) for i, x in enumerate(frames)), recipe.canonical)
    return encoder


def pretrain_network(
    network: nn.Module,
    loss: Loss,
    clients: Sequence[ClientFrames],
    budget: Budget,
    seed: int,
    track: Track,
    rate: float,
    judge: Callable[[], float],
) -> None:
    """Train a network in place, in rounds of averaging."""
    rounds = Rounds(STAGE, arrays_of(network), [len(client.unlabelled) for client in clients])

    def local(client: int, number: int, shared: Arrays) -> tuple[Arrays, float]:
        rng = generator(seed, client, number)
        load_arrays(network, shared)
        network.train()
        parameters = [p for p in network.parameters() if p.requires_grad]
        adam = torch.optim.Adam(parameters, rate, fused=True)
        losses = []
        for _ in range(budget.pretrain_steps):
            adam.zero_grad()
            value = loss(client, rng)
            value.backward()  # type: ignore[no-untyped-call]
            adam.step()
            hold(parameters, clients[client].precision)
            losses.append(value.item())
        return arrays_of(network), float(np.mean(losses))

    def look() -> float:
        load_arrays(network, rounds.shared)
        network.eval()
        return judge()

    rounds.run(budget.pretrain_rounds, local, track, look)
    load_arrays(network, rounds.shared)
    network.eval()


def embedder(encoder: Encoder, level: Level, sees_level: bool = False) -> Embed:
    """Frames to embeddings, as the encoder was trained."""

    def embed(frames: Samples) -> Embeddings:
        outputs = encoder.encode(at_level(frames, level), 64)
        return np.hstack([outputs, log_rms(frames)]) if sees_level else outputs

    return embed


class EncoderSvm(ABC):
    """The causal encoder, pretrained somehow, with a machine for each client."""

    sees_level: ClassVar[bool] = False  # the machines see the log of the frame's RMS, too

    def fit(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> None:
        """Pretrain, then fit the machines."""
        encoder = self.pretrain(clients, budget, seed, track)
        embed = embedder(encoder, budget.level, self.sees_level)
        self.machines = Machines(clients, embed, budget, seed, level=self.sees_level)

    def predict(self, client: int, frames: Samples) -> Labels:
        """What the client's machine says."""
        return self.machines.predict(client, frames)

    @abstractmethod
    def pretrain(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> Encoder:
        """The encoder."""
