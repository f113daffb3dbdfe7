"""The network of the supervised baselines (the paper's Table I): two convolutions, three dense layers.

    Conv(128, 16) - Conv(64, 8) - Dense(256) - Dense(128) - Dense(classes)

each but the last with batch normalisation, ReLU and dropout (0.1 behind convolutions, 0.5 behind dense
layers). With padding k // 2 it has 1,775,812 weights for frames of 100 samples and four classes, the paper's
1.78 M. `head` is the last layer, `body` all before it.
"""

from typing import cast

from torch import Tensor, nn


class Cnn(nn.Module):
    """(B, N, 2) to class scores (B, classes)."""

    def __init__(self, samples: int, classes: int) -> None:
        super().__init__()
        length = samples + 2  # either kernel is even and adds one
        self.body = nn.Sequential(
            nn.Conv1d(2, 128, 16, padding=8),
            *after(128, 0.1),
            nn.Conv1d(128, 64, 8, padding=4),
            *after(64, 0.1),
            nn.Flatten(),
            nn.Linear(64 * length, 256),
            *after(256, 0.5),
            nn.Linear(256, 128),
            *after(128, 0.5),
        )
        self.head = nn.Linear(128, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Scores before the softmax."""
        return cast(Tensor, self.head(self.body(x.transpose(1, 2))))


def after(width: int, dropout: float) -> tuple[nn.Module, ...]:
    """What follows a layer."""
    return nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(dropout)
