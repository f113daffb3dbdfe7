"""DAE (Ke and Vikalo 2021): an LSTM autoencoder of amplitude and phase, then classified and trained along.

input       [|r| / |r|_2 of the frame, arg r / pi], a tenth of the samples masked by zeros
encoder     LSTM 32 - LSTM 32; decoder Dense 2 at every sample; classifier on the last state:
            Dense 32 - ReLU - BN - Dense 16 - ReLU - BN - Dense
first       MSE of the reconstruction;      then 0.9 MSE + 0.1 CE
"""

from typing import ClassVar, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from streaming.block import Samples
from training.methods.pretrained import pretrain_network
from training.methods.track import Track
from training.methods.tuned import Tuned

MASKED = 0.1
WEIGHTS = 0.9, 0.1  # of reconstruction and cross-entropy


class Autoencoder(nn.Module):
    """The encoder's states, its reconstruction and its class scores."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(2, 32, num_layers=2, batch_first=True)
        self.decoder = nn.Linear(32, 2)
        self.classifier = nn.Sequential(
            *(nn.Linear(32, 32), nn.ReLU(), nn.BatchNorm1d(32)),
            *(nn.Linear(32, 16), nn.ReLU(), nn.BatchNorm1d(16)),
            nn.Linear(16, classes),
        )

    def states(self, x: Tensor) -> Tensor:
        """(B, N, 2) to (B, N, 32)."""
        return cast(Tensor, self.lstm(x)[0])

    def forward(self, x: Tensor) -> Tensor:
        """Class scores (B, classes)."""
        return cast(Tensor, self.classifier(self.states(x)[:, -1]))


class LastState(nn.Module):
    """The features of an autoencoder, (B, N, 2) to (B, 32)."""

    def __init__(self, autoencoder: Autoencoder) -> None:
        super().__init__()
        self.autoencoder = autoencoder

    def forward(self, x: Tensor) -> Tensor:
        """The last state."""
        return self.autoencoder.states(x)[:, -1]


class Dae(Tuned):
    """Pretrained by reconstruction; the encoder is not frozen."""

    title: ClassVar[str] = "DAE"
    frozen: ClassVar[bool] = False

    def build(self, samples: int, classes: int) -> None:
        """The autoencoder has its classifier inside."""
        self.autoencoder = Autoencoder(classes)
        self.body, self.head = LastState(self.autoencoder), self.autoencoder.classifier

    def whole(self) -> nn.Module:
        """The autoencoder."""
        return self.autoencoder

    def prepared(self, frames: Samples) -> Tensor:
        """Amplitude and phase."""
        return torch.from_numpy(polar(frames))

    def pretrain(self, seed: int, track: Track) -> None:
        """Reconstruction of masked frames."""
        x = [self.prepared(client.unlabelled.iq) for client in self.clients]

        def loss(client: int, rng: np.random.Generator) -> Tensor:
            rows = torch.from_numpy(rng.integers(0, len(x[client]), self.budget.pretrain_batch))
            return self.reconstruction(x[client][rows])[1]

        pretrain_network(
            self.autoencoder, loss, self.clients, self.budget, seed, track, self.budget.rate, self.look
        )

    def loss(self, client: int, rows: Tensor) -> Tensor:
        """0.9 MSE + 0.1 CE."""
        states, error = self.reconstruction(self.x[client][rows])
        scores = self.autoencoder.classifier(states[:, -1])
        return WEIGHTS[0] * error + WEIGHTS[1] * cross_entropy(scores, self.y[client][rows])

    def reconstruction(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """States of masked input (B, N, 32), and the error against the input itself."""
        kept = (torch.rand(x.shape[:2]) >= MASKED)[..., None]
        states = self.autoencoder.states(x * kept)
        return states, mse_loss(self.autoencoder.decoder(states), x)


def polar(frames: Samples) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Frames (n, N) as amplitude over the frame's l2 norm and phase over pi, (n, N, 2)."""
    amplitude = np.abs(frames)
    norm = np.maximum(np.sqrt((amplitude**2).sum(1, keepdims=True)), 1e-12)
    return np.stack([amplitude / norm, np.angle(frames) / np.pi], -1).astype(np.float32)
