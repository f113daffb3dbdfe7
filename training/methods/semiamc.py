"""SemiAMC (Liu et al. 2021): contrast of two rotations, an encoder of convolutions and LSTMs, then frozen.

    encoder     Conv(32, 24) - LSTM 128 - LSTM 128 - Conv(128, 8) - max over time
    projection  Dense 128 - BN - ReLU - Dense 64 - BN
    NT-Xent     -1/2B sum_i log exp(s_ij/tau) / sum_{k != i} exp(s_ik/tau),   j the partner of i, tau = 0.1

Two different rotations of 0, 90, 180 and 270 degrees are drawn for each batch. The classifier on the frozen
features has a hidden layer of 128, behind a normalisation that the source does not have.
"""

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from training.datasets.augment import at_level
from training.methods.base import tensor
from training.methods.pretrained import pretrain_network
from training.methods.track import Track
from training.methods.tuned import Tuned, two_layers

TEMPERATURE = 0.1


class RecurrentEncoder(nn.Module):
    """(B, N, 2) to (B, 128)."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(2, 32, 24)
        self.lstm = nn.LSTM(32, 128, num_layers=2, dropout=0.3, batch_first=True)
        self.dropout = nn.Dropout(0.3)
        self.last = nn.Conv1d(128, 128, 8)

    def forward(self, x: Tensor) -> Tensor:
        """Features."""
        h = torch.relu(self.first(x.transpose(1, 2)))  # (B, 32, N - 23)
        h = self.dropout(self.lstm(h.transpose(1, 2))[0])  # (B, N - 23, 128)
        return torch.relu(self.last(h.transpose(1, 2))).amax(2)


class SemiAmc(Tuned):
    """Pretrained by rotations; the encoder is frozen."""

    title: ClassVar[str] = "SemiAMC"

    def build(self, samples: int, classes: int) -> None:
        """Encoder and classifier."""
        # The features vary by some hundredths: without the normalisation the classifier never moves.
        standard = nn.BatchNorm1d(128, affine=False)
        self.body, self.head = RecurrentEncoder(), nn.Sequential(standard, two_layers(128, 128, classes))

    def pretrain(self, seed: int, track: Track) -> None:
        """NT-Xent between rotations."""
        budget = self.budget
        network = nn.Sequential(self.body, projection())
        frames = [at_level(client.unlabelled.iq, budget.level) for client in self.clients]

        def loss(client: int, rng: np.random.Generator) -> Tensor:
            x = frames[client][rng.integers(0, len(frames[client]), budget.pretrain_batch)]
            rotations = 1j ** rng.choice(4, 2, replace=False)
            both = np.concatenate([(x * rotation).astype(np.complex64) for rotation in rotations])
            u, v = network(tensor(both, "raw")).chunk(2)
            return nt_xent(u, v, TEMPERATURE)

        pretrain_network(network, loss, self.clients, budget, seed, track, budget.rate, self.look)


def projection() -> nn.Module:
    """(B, 128) to (B, 64), while the encoder is pretrained."""
    return nn.Sequential(
        nn.Linear(128, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 64), nn.BatchNorm1d(64)
    )


def nt_xent(u: Tensor, v: Tensor, temperature: float) -> Tensor:
    """The normalised, temperature-scaled cross-entropy of (B, P) and (B, P)."""
    z = normalize(torch.cat([u, v]), dim=1)  # (2 B, P)
    similarity = (z @ z.T / temperature).masked_fill(torch.eye(len(z), dtype=torch.bool), -torch.inf)
    partner = torch.arange(len(z)).roll(len(u))
    return cross_entropy(similarity, partner)
