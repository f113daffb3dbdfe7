"""Objectives of self-supervised pretraining: what a trainer needs of one, and how one is made."""

from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from streaming.block import Samples
from streaming.encoder import Encoder
from training.objectives.describe import Describe, DescribeSettings
from training.objectives.halves import Halves, HalvesSettings
from training.objectives.triplet import Triplet, TripletSettings

Settings = TripletSettings | HalvesSettings | DescribeSettings


class Objective(Protocol):
    """A loss that needs no labels. What it trains beside the encoder is federated too."""

    @property
    def extra(self) -> nn.Module:
        """Modules with weights of the objective's own."""

    def loss(self, encoder: Encoder, frames: Samples, batch: int, rng: np.random.Generator) -> Tensor:
        """The loss of one batch, drawn from the client's frames (n, N)."""


def make_objective(settings: Settings, outputs: int, seed: int) -> Objective:
    """The objective for an encoder with this many outputs; the same seed gives the same weights."""
    if isinstance(settings, TripletSettings):
        return Triplet(settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if isinstance(settings, DescribeSettings):
            return Describe(settings, outputs)
        return Halves(settings, outputs)
