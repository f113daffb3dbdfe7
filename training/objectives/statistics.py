"""Label-free statistics that separate modulations: harmonics of the phase, by radius,

    c_k(q) = mean_n exp(-(|x[n]| - q)^2 / (2 w^2)) (x[n] / |x[n]|)^k,      k = 0, 1, 2, 4, 8

the Fourier series, in angle, of a stretch's distribution in the plane, smoothed over radius. For samples that
are independent given the parameters this distribution is a sufficient statistic. Values are in standard
deviations from what white Gaussian noise of the same length and power shows: no data is needed to scale them.

>>> statistics(torch.randn(4, 50, 2)).shape
torch.Size([4, 63])
"""

import math
from functools import cache

import torch
from torch import Tensor

from training.datasets.augment import unit_power

RADII = tuple(0.2 + i / 3 for i in range(7))  # of a stretch with unit power
WIDTH = 0.3
HARMONICS = (1, 2, 4, 8)
COUNT = len(RADII) * (1 + 2 * len(HARMONICS))


def terms(x: Tensor) -> Tensor:
    """What is averaged: (..., 2) to (..., COUNT)."""
    radius = x.norm(dim=-1)
    bumps = torch.exp(-(((radius[..., None] - torch.tensor(RADII)) / WIDTH) ** 2) / 2)  # (..., R)
    z = torch.view_as_complex(x.contiguous()) / radius.clamp_min(1e-9)
    powers = torch.stack([z**k for k in HARMONICS], -1)  # (..., H)
    waves = torch.cat([torch.ones_like(radius)[..., None], powers.real, powers.imag], -1)  # (..., 1 + 2 H)
    return (bumps[..., :, None] * waves[..., None, :]).flatten(-2)


@cache
def noise_moments() -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of each term for white noise of unit power, by quadrature."""
    radius = (torch.arange(2_000, dtype=torch.float64) + 0.5) * (5 / 2_000)
    weight = 2 * radius * torch.exp(-(radius**2)) * (5 / 2_000)  # Rayleigh density of E|x|^2 = 1
    angle = torch.arange(32, dtype=torch.float64) * (2 * torch.pi / 32)
    grid = radius[:, None, None] * torch.stack([angle.cos(), angle.sin()], -1)  # (2000, 32, 2)
    values = terms(grid)  # (2000, 32, COUNT)
    mean = (weight[:, None] * values.mean(1)).sum(0)
    square = (weight[:, None] * values.square().mean(1)).sum(0)
    return mean.float(), (square - mean**2).sqrt().float()


def statistics(x: Tensor) -> Tensor:
    """Stretches (B, T, 2) to (B, COUNT), in standard deviations of white noise of that length."""
    mean, deviation = noise_moments()
    scale = math.sqrt(x.shape[1]) / deviation
    return (terms(unit_power(x)).mean(1) - mean) * scale
