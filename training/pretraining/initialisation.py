"""How an encoder's weights are drawn before pretraining.

PyTorch's usual draw gives every tap of a kernel the same weight. At one sample a symbol each layer then adds
up independent samples, and after a few layers their distribution, which is what tells modulations apart, has
become Gaussian. A focused start draws the taps that look back `past` times as large as the one that looks at
the present, widens the first layer and its biases over the plane, and keeps each layer's variance:

    W_j ~ s U(-b, b) (past if j < k-1 else 1),   s = sqrt(k / (1 + (k-1) past^2)) times `first` or `gain`
"""

import math
from dataclasses import dataclass

import torch

from streaming.encoder import CausalConv, Encoder
from streaming.errors import ConfigError


@dataclass(frozen=True)
class Start:
    """Settings of the draw; these defaults leave PyTorch's as it is."""

    past: float = 1.0  # weight of the taps that look back
    first: float = 1.0  # gain of the first convolution
    bias: float = 0.0  # range of the first convolution's biases; 0 leaves them
    gain: float = 1.0  # of all other convolutions

    def __post_init__(self) -> None:
        if min(self.past, self.bias) < 0 or min(self.first, self.gain) <= 0:
            raise ConfigError("start.past and bias must be at least 0, start.first and gain above 0")


def redraw(encoder: Encoder, start: Start, seed: int) -> None:
    """Turn an encoder as PyTorch draws it into one with this start; the same seed gives the same weights."""
    convs = [module for module in encoder.modules() if isinstance(module, CausalConv)]
    with torch.no_grad():
        for i, conv in enumerate(convs):
            kept = math.sqrt(conv.kernel / (1 + (conv.kernel - 1) * start.past**2))
            conv.v[:, :, :-1].mul_(start.past)
            conv.v.mul_(kept * (start.gain if i else start.first))
            conv.g.copy_(conv.v.norm(dim=(1, 2)))
        if start.bias:
            generator = torch.Generator().manual_seed(seed)
            convs[0].bias.uniform_(-start.bias, start.bias, generator=generator)
