"""The objective of the recipe `wavetell`: two halves of a frame share the modulation, not the symbols.

A frame is cut in two; each part is normalised and augmented (`training.datasets.augment`), and

    L = w_c NCE(p(f(a)), p(f(b)))  +  w_o |g(f(a)) - s(b)|^2  +  w_s |h(f(a)) - s(a)|^2  + a and b exchanged

NCE pairs the two parts of a frame against those of all others in the batch; s are label-free statistics of a
part (`training.objectives.statistics`), of the other part (prediction) or of its own (description); p, g and
h are small networks.

    NCE = -1/2B sum_i log softmax_j(u_i . v_j / tau)[i] + the same with u and v exchanged,     |u| = |v| = 1
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss, normalize

from streaming.block import Samples
from streaming.encoder import Encoder, iq
from streaming.errors import ConfigError
from training.datasets.augment import Augment, unit_power
from training.objectives.statistics import COUNT, statistics
from training.pretraining.encode import encode


@dataclass(frozen=True)
class HalvesSettings:
    """Settings of the objective; a weight of zero leaves a term out."""

    contrast: float = 1.0  # w_c
    temperature: float = 0.2  # tau
    other: float = 0.0  # w_o, predict the other part's statistics
    own: float = 0.0  # w_s, describe its own
    hidden: int = 256
    projection: int = 128
    augment: Augment = field(default_factory=Augment)

    def __post_init__(self) -> None:
        if min(self.contrast, self.other, self.own) < 0 or self.contrast + self.other + self.own == 0:
            raise ConfigError("halves.contrast, other and own must be at least 0, and one of them above")
        if self.temperature <= 0:
            raise ConfigError(f"halves.temperature is {self.temperature}; it must be above 0")


class Halves:
    """The objective, with the small networks it trains beside the encoder."""

    def __init__(self, settings: HalvesSettings, outputs: int) -> None:
        self.settings = settings
        self.extra = nn.ModuleDict()
        if settings.contrast:
            self.extra["project"] = perceptron(outputs, settings.hidden, settings.projection)
        if settings.other:
            self.extra["other"] = perceptron(outputs, settings.hidden, COUNT)
        if settings.own:
            self.extra["own"] = perceptron(outputs, settings.hidden, COUNT)

    def loss(self, encoder: Encoder, frames: Samples, batch: int, rng: np.random.Generator) -> Tensor:
        """The loss of one batch drawn from the frames (n, N)."""
        settings, half = self.settings, frames.shape[1] // 2
        x = iq(frames[rng.integers(0, len(frames), batch)])  # (B, N, 2)
        parts = [unit_power(x[:, :half]), unit_power(x[:, half : 2 * half])]
        a, b = encode(encoder, *(settings.augment.apply(part, rng) for part in parts)).chunk(2)  # (B, E)
        total = torch.zeros(())
        if settings.contrast:
            total = total + settings.contrast * nce(
                self.extra["project"](a), self.extra["project"](b), settings.temperature
            )
        if settings.other or settings.own:
            with torch.no_grad():
                s, t = (statistics(part) for part in parts)
            if settings.other:
                total = total + settings.other * (
                    misses(self.extra["other"](a), t) + misses(self.extra["other"](b), s)
                )
            if settings.own:
                total = total + settings.own * (
                    misses(self.extra["own"](a), s) + misses(self.extra["own"](b), t)
                )
        return total


def perceptron(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    """One hidden layer."""
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def nce(u: Tensor, v: Tensor, temperature: float) -> Tensor:
    """InfoNCE in both directions; (B, P) and (B, P), each row's partner among all of the batch."""
    similarity = normalize(u, dim=1) @ normalize(v, dim=1).T / temperature  # (B, B)
    partner = torch.arange(len(u))
    return (cross_entropy(similarity, partner) + cross_entropy(similarity.T, partner)) / 2


def misses(predicted: Tensor, statistic: Tensor) -> Tensor:
    """Half the mean squared error."""
    return mse_loss(predicted, statistic) / 2
