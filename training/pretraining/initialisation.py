"""How an encoder's weights are drawn before pretraining.

PyTorch's usual draw gives every tap of a kernel the same weight. At one sample per symbol each layer then
adds up independent samples, and after a few layers their distribution, in which modulations differ, has
become Gaussian. A focused initialisation draws the taps that look back `past` times as large as the one that
looks at the present, widens the first layer and its biases over the plane, and keeps each layer's variance:

    W_j ~ s U(-b, b) (past if j < k-1 else 1),   s = sqrt(k / (1 + (k-1) past^2)) times `first` or `gain`
"""

import math
from dataclasses import dataclass

import torch

from streaming.encoder import CausalConv, Encoder
from streaming.errors import ConfigError


@dataclass(frozen=True)
class Initialisation:
    """Settings of the draw; these defaults leave PyTorch's as it is."""

    past: float = 1.0  # weight of the taps that look back
    first: float = 1.0  # gain of the first convolution
    bias: float = 0.0  # range of the first convolution's biases; 0 leaves them
    gain: float = 1.0  # of all other convolutions

    def __post_init__(self) -> None:
        if min(self.past, self.bias) < 0 or min(self.first, self.gain) <= 0:
            raise ConfigError("initialisation.past and .bias must be at least 0, .first and .gain above 0")


def redraw(encoder: Encoder, settings: Initialisation, seed: int) -> None:
    """Redraw an encoder's weights with these settings; the same seed gives the same weights."""
    convs = [module for module in encoder.modules() if isinstance(module, CausalConv)]
    with torch.no_grad():
        for i, conv in enumerate(convs):
            # A strided stage has no present sample among its taps: all of them stay alike.
            past = settings.past if conv.stride == 1 else 1.0
            kept = math.sqrt(conv.kernel / (1 + (conv.kernel - 1) * past**2))
            conv.v[:, :, :-1].mul_(past)
            conv.v.mul_(kept * (settings.gain if i else settings.first))
            conv.g.copy_(conv.v.norm(dim=(1, 2)))
        if settings.bias:
            generator = torch.Generator().manual_seed(seed)
            convs[0].bias.uniform_(-settings.bias, settings.bias, generator=generator)
