"""Clients that train with few bits: after every step the weights are rounded to what the client can hold.

float16 is numpy's. int8 has a scale s = max|w| / 127 for each tensor and rounds at random,

    q = floor(w / s + u),    u ~ U(0, 1),    E[s q] = w,

because a step of training is smaller than s: rounded to the nearest, the weights would never move.
"""

from collections.abc import Iterable
from typing import Literal

import torch
from torch import nn

Precision = Literal["float32", "float16", "int8"]


@torch.no_grad()
def hold(parameters: Iterable[nn.Parameter], precision: Precision) -> None:
    """Round the weights in place."""
    if precision == "float32":
        return
    for weight in parameters:
        if precision == "float16":
            weight.copy_(weight.half())
            continue
        scale = weight.abs().max() / 127
        if scale > 0:
            steps = torch.floor(weight / scale + torch.rand_like(weight)).clamp_(-127, 127)
            weight.copy_(scale * steps)
