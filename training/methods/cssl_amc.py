"""CSSL-AMC (2025): contrast of a high-SNR frame with itself in noise; the encoder frozen afterwards or not.

    encoder   noise estimate Conv 2-32-32-2 beside I/Q - ResNet stages of two blocks each - 128
    InfoNCE   -log exp(q . k+ / tau) / sum_j exp(q . k_j / tau),   tau = 0.07, keys of the batch
    keys      from a copy of the encoder that follows it,  xi <- 0.999 xi + 0.001 theta

The paper says ResNet-18, which has four stages of 64, 128, 256 and 512 channels; the public code has the
first two. The budget's `cssl_stages` chooses. The query is a frame of at least 5 dB, its key the same frame
with white noise at 5 dB. Adam at 3e-4. What counts as high SNR, and the layout of the first layer, are best
readings.
"""

import copy
from typing import ClassVar, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from streaming.block import Samples
from streaming.errors import ConfigError
from training.datasets.augment import at_level
from training.methods.base import tensor
from training.methods.pretrained import pretrain_network
from training.methods.track import Track
from training.methods.tuned import Tuned

TEMPERATURE = 0.07
MOMENTUM = 0.999
HIGH_DB = NOISE_DB = 5.0
RATE = 0.3  # of the budget's rate: 3e-4 where others have 1e-3


class Residual(nn.Module):
    """A basic block of ResNet in one dimension."""

    def __init__(self, c_in: int, c_out: int, stride: int) -> None:
        super().__init__()
        self.main = nn.Sequential(
            *(nn.Conv1d(c_in, c_out, 3, stride, 1, bias=False), nn.BatchNorm1d(c_out), nn.ReLU()),
            *(nn.Conv1d(c_out, c_out, 3, 1, 1, bias=False), nn.BatchNorm1d(c_out)),
        )
        self.skip: nn.Module = nn.Identity()
        if stride > 1 or c_in != c_out:
            self.skip = nn.Sequential(nn.Conv1d(c_in, c_out, 1, stride, bias=False), nn.BatchNorm1d(c_out))

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, T) to (B, C', T / stride)."""
        return torch.relu(self.main(x) + self.skip(x))


class ResNet(nn.Module):
    """(B, N, 2) to (B, 128)."""

    def __init__(self, samples: int, stages: int = 4) -> None:
        super().__init__()
        self.noise = nn.Sequential(
            *(nn.Conv1d(2, 32, 3, padding=1), nn.ReLU(), nn.Conv1d(32, 32, 3, padding=1), nn.ReLU()),
            nn.Conv1d(32, 2, 3, padding=1),
        )
        blocks, width, length = [Residual(64, 64, 1), Residual(64, 64, 1)], 64, -(-samples // 2)
        for _ in range(stages - 1):
            blocks += [Residual(width, 2 * width, 2), Residual(2 * width, 2 * width, 1)]
            width, length = 2 * width, -(-length // 2)
        self.stages = nn.Sequential(
            *(nn.Conv1d(4, 64, 7, 2, 3, bias=False), nn.BatchNorm1d(64), nn.ReLU()), *blocks, nn.Flatten()
        )
        self.last = nn.Linear(width * length, 128)

    def forward(self, x: Tensor) -> Tensor:
        """Features."""
        x = x.transpose(1, 2)
        return cast(Tensor, self.last(self.stages(torch.cat([x, self.noise(x)], 1))))


class CsslFrozen(Tuned):
    """The encoder is frozen; the classifier is linear."""

    title: ClassVar[str] = "CSSL-AMC (enc. frozen)"

    def build(self, samples: int, classes: int) -> None:
        """Encoder and classifier."""
        self.body, self.head = ResNet(samples, self.budget.cssl_stages), nn.Linear(128, classes)

    def pretrain(self, seed: int, track: Track) -> None:
        """InfoNCE against keys of the slow copy."""
        slow = copy.deepcopy(self.body).requires_grad_(False)
        network = nn.ModuleList([self.body, slow])
        frames = [high_snr(client.unlabelled.iq, client.unlabelled.snr_db) for client in self.clients]

        def loss(client: int, rng: np.random.Generator) -> Tensor:
            x = frames[client][rng.integers(0, len(frames[client]), self.budget.pretrain_batch)]
            with torch.no_grad():
                follow(slow, self.body)
                keys = slow(tensor(noisy(x, rng), self.budget.level))
            return info_nce(self.body(tensor(x, self.budget.level)), keys, TEMPERATURE)

        rate = RATE * self.budget.rate
        pretrain_network(network, loss, self.clients, self.budget, seed, track, rate, self.look)


class CsslTuned(CsslFrozen):
    """The original protocol: the encoder is trained along with the classifier."""

    title: ClassVar[str] = "CSSL-AMC (enc. not frozen)"
    frozen: ClassVar[bool] = False


def high_snr(frames: Samples, snr_db: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Samples:
    """The frames that are clear enough, at unit power."""
    clear = at_level(frames[snr_db >= HIGH_DB], "rms")
    if not len(clear):
        raise ConfigError(f"CSSL-AMC needs unlabelled frames of at least {HIGH_DB:g} dB; a client has none")
    return clear


def noisy(frames: Samples, rng: np.random.Generator) -> Samples:
    """Frames at unit power with white noise of their own."""
    sigma = np.float32(np.sqrt(10 ** (-NOISE_DB / 10) / 2))
    noise = rng.standard_normal((len(frames), 2 * frames.shape[1]), np.float32).view(np.complex64)
    return frames + sigma * noise


@torch.no_grad()
def follow(slow: nn.Module, fast: nn.Module) -> None:
    """Move the copy towards the encoder; statistics of batch normalisation are its own."""
    for key, query in zip(slow.parameters(), fast.parameters(), strict=True):
        key.mul_(MOMENTUM).add_(query, alpha=1 - MOMENTUM)


def info_nce(query: Tensor, keys: Tensor, temperature: float) -> Tensor:
    """Each query's own key among all keys of the batch, (B, P) and (B, P)."""
    similarity = normalize(query, dim=1) @ normalize(keys, dim=1).T / temperature
    return cross_entropy(similarity, torch.arange(len(query)))
