"""A true Lipschitz bound of the encoder: how far an input can move the embedding, residuals included.

A block y = act(conv2(act(conv1(x)))) + r(x) with activations of slope at most 1 has

    L_block = s1 s2 + s_r,      L_x = |linear| L_pool prod L_block

where s is a layer's spectral norm and s_r is 1 for a plain residual. The paper's R^22 leaves the residuals
out: with layers of norm 1 it is 1, and eleven blocks can reach 2^11. A causal convolution on any length is a
part of the operator on endless sequences, whose norm is that of its frequency response,

    s = max_w | sum_j W_j exp(i w j) |_2

whatever the dilation. On a grid of M frequencies the maximum of a trigonometric polynomial of degree
(k - 1) / 2 is missed by at most the factor cos(pi (k - 1) / (2 M)), which is divided out: s is never too
small.
"""

import math

import numpy as np
import torch

from streaming.encoder import CausalBlock, CausalConv, Encoder
from streaming.errors import ConfigError

GRID = 256  # frequencies


def convolution_norm(conv: CausalConv) -> float:
    """An upper bound, tight to a part in ten thousand, of its norm on sequences of any length."""
    taps = conv.weight().detach().numpy().astype(np.complex128)  # (k, C_in, C_out)
    turns = np.exp(2j * np.pi * np.outer(np.arange(GRID), np.arange(len(taps))) / GRID)  # (GRID, k)
    response = np.tensordot(turns, taps, 1)  # (GRID, C_in, C_out)
    largest = float(np.linalg.norm(response, 2, axis=(1, 2)).max())
    return largest / math.cos(math.pi * (len(taps) - 1) / (2 * GRID))


def matrix_norm(weight: torch.Tensor) -> float:
    """The spectral norm of a matrix."""
    return float(torch.linalg.matrix_norm(weight.detach(), 2))


def block_bound(block: CausalBlock) -> float:
    """L_block."""
    through = convolution_norm(block.conv1) * convolution_norm(block.conv2)
    beside = 1.0 if block.residual is None else matrix_norm(block.residual.weight)
    return through + beside


def pooling_bound(encoder: Encoder, samples: int) -> float:
    """L_pool: a maximum over time moves by at most its input, mean and deviation by 1 / sqrt(T) of it."""
    features = samples // encoder.shape.stride
    return math.sqrt(sum(1 if part == "max" else 1 / features for part in encoder.shape.pooling.split("+")))


def log_lipschitz(encoder: Encoder, samples: int) -> float:
    """log10 L_x on sequences of this length."""
    if encoder.shape.maps:
        raise ConfigError("an encoder with input maps has no Lipschitz bound: a phase has none at zero")
    stages = [convolution_norm(stage) for stage in encoder.stages if isinstance(stage, CausalConv)]
    blocks = [block for block in encoder.blocks if isinstance(block, CausalBlock)]
    linear = matrix_norm(encoder.linear.weight)
    bounds = [linear, pooling_bound(encoder, samples), *stages, *map(block_bound, blocks)]
    return sum(map(math.log10, bounds))


def log_slope(encoder: Encoder, frames: torch.Tensor, iterations: int = 10) -> float:
    """log10 of the steepest slope found at frames (B, T, 2), by power iteration: what the bound is above."""
    direction = torch.randn(frames.shape, generator=torch.Generator().manual_seed(0))
    x = frames.clone().requires_grad_()
    z = encoder(x)
    u = torch.zeros_like(z, requires_grad=True)
    (pulled,) = torch.autograd.grad(z, x, u, create_graph=True)  # J' u: linear in u, and J is its derivative
    moved = torch.zeros_like(z)
    for _ in range(iterations):
        direction = direction / direction.flatten(1).norm(dim=1)[:, None, None]
        (moved,) = torch.autograd.grad((pulled * direction).sum(), u, retain_graph=True)
        (direction,) = torch.autograd.grad(z, x, moved, retain_graph=True)
    return math.log10(float(moved.norm(dim=1).max()))
