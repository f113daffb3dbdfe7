"""The objective of the model `radio`: predict statistics of two crops, and match them (InfoNCE).

From each half of a frame a crop is drawn, normalised and augmented (`training.datasets.augment`), and

    L = w_s |h(f(a)) - s(a)|^2  +  w_o |g(f(a)) - s(b)|^2  +  w_c NCE(p(f(a)), p(f(b)))  + a and b exchanged

s are label-free statistics (`training.objectives.radio_statistics`) of the crop itself or of the other; h, g
and p are small networks. It differs from `training.objectives.halves` in the statistics: these are for
signals of several samples per symbol, which differ in how neighbouring samples are correlated.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from streaming.block import Samples
from streaming.encoder import Encoder, iq
from streaming.errors import ConfigError
from training.datasets.augment import Augment, unit_power
from training.objectives.halves import misses, nce, perceptron
from training.objectives.radio_statistics import count, statistics
from training.pretraining.encode import encode


@dataclass(frozen=True)
class DescribeSettings:
    """Settings of the objective."""

    own: float = 1.0  # w_s
    other: float = 0.5  # w_o
    contrast: float = 0.1  # w_c
    temperature: float = 0.2
    part: int = 256  # samples of each half: short ones are cheap, and long enough for every statistic
    hidden: int = 256
    projection: int = 128
    augment: Augment = field(default_factory=Augment)

    def __post_init__(self) -> None:
        if min(self.own, self.other, self.contrast) < 0 or self.temperature <= 0:
            raise ConfigError("describe.own, other and contrast must be at least 0, temperature above 0")


class Describe:
    """The objective, with the small networks it trains beside the encoder."""

    def __init__(self, settings: DescribeSettings, outputs: int) -> None:
        self.settings = settings
        self.extra = nn.ModuleDict(
            {
                "own": perceptron(outputs, settings.hidden, count()),
                "other": perceptron(outputs, settings.hidden, count()),
                "project": perceptron(outputs, settings.hidden, settings.projection),
            }
        )

    def loss(self, encoder: Encoder, frames: Samples, batch: int, rng: np.random.Generator) -> Tensor:
        """The loss of one batch drawn from the frames (n, N)."""
        settings, half = self.settings, frames.shape[1] // 2
        rows = rng.integers(0, len(frames), (batch, 1))
        length = min(settings.part, half)
        starts = [i * half + rng.integers(0, half - length + 1, (batch, 1)) for i in range(2)]
        drawn = [iq(frames[rows, start + np.arange(length)]) for start in starts]  # (B, part, 2)
        parts = [settings.augment.apply(unit_power(part), rng) for part in drawn]
        with torch.no_grad():
            s, t = (statistics(part) for part in parts)  # (B, S)
        a, b = encode(encoder, *parts).chunk(2)  # (B, E)
        own, other, project = (self.extra[name] for name in ("own", "other", "project"))
        total: Tensor = settings.own * (misses(own(a), s) + misses(own(b), t))
        total = total + settings.other * (misses(other(a), t) + misses(other(b), s))
        return total + settings.contrast * nce(project(a), project(b), settings.temperature)
