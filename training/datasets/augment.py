"""Augmentation: random changes of a signal that keep its modulation.

    y[n] = g exp(j (phi + 2 pi f n)) x[n + s] + v[n],   scaled to unit power

phi ~ U(-rotation, rotation) rad, f ~ U(-cfo, cfo) cycles per sample, g ~ U(-level_db, level_db) dB, s from
0..shift samples around the frame's end, and v white with a standard deviation of I and of Q, relative to the
frame's RMS, ~ U(0, noise). Noise is followed by the scaling to unit power, and the level comes last. A frame
may also have its samples put into random order, one order for the whole batch: at one sample per symbol,
order carries nothing.

>>> Augment(rotation=np.pi).apply(torch.ones(1, 50, 2), np.random.default_rng(0)).shape
torch.Size([1, 50, 2])
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from streaming.block import Samples
from streaming.errors import ConfigError

Level = Literal["raw", "rms"]


@dataclass(frozen=True)
class Augment:
    """Ranges of the random changes; zero leaves a change out."""

    rotation: float = 0.0  # rad
    cfo: float = 0.0  # cycles per sample
    level_db: float = 0.0
    noise: float = 0.0  # relative to the RMS
    shift: int = 0  # samples
    shuffle: bool = False

    def __post_init__(self) -> None:
        for name in ("rotation", "cfo", "level_db", "noise", "shift"):
            if getattr(self, name) < 0:
                raise ConfigError(f"augment.{name} is {getattr(self, name)}; it must be at least 0")

    def apply(self, x: Tensor, rng: np.random.Generator) -> Tensor:
        """(B, T, 2) to (B, T, 2), every row changed in its own way."""
        B, T, _ = x.shape
        if self.shuffle:
            x = x[:, torch.from_numpy(rng.permutation(T))]
        if self.shift:
            start = rng.integers(0, self.shift + 1, (B, 1))
            order = torch.from_numpy((start + np.arange(T)) % T)  # (B, T)
            x = x.gather(1, order[:, :, None].expand(B, T, 2))
        if self.rotation or self.cfo:
            phase = rng.uniform(-self.rotation, self.rotation, (B, 1))
            phase = phase + 2 * np.pi * rng.uniform(-self.cfo, self.cfo, (B, 1)) * np.arange(T)
            rotation = torch.from_numpy(np.exp(1j * phase).astype(np.complex64))  # (B, T)
            x = torch.view_as_real(torch.view_as_complex(x.contiguous()) * rotation)
        if self.noise:
            sigma = rng.uniform(0, self.noise, (B, 1, 1)).astype(np.float32)
            x = x + torch.from_numpy(sigma * rng.standard_normal((B, T, 2), np.float32))
            x = unit_power(x)
        if self.level_db:
            gain = 10 ** (rng.uniform(-self.level_db, self.level_db, (B, 1, 1)) / 20)
            x = x * torch.from_numpy(gain.astype(np.float32))
        return x


def unit_power(x: Tensor) -> Tensor:
    """Each row (T, 2) divided by its RMS; a row of zeros stays."""
    power = x.square().sum(-1).mean(-1)  # (B,)
    return x * torch.rsqrt(power + 1e-20)[:, None, None]


def at_level(frames: Samples, level: Level) -> Samples:
    """Frames (n, N) as they come, or each divided by its RMS."""
    if level == "raw":
        return frames
    rms = np.sqrt((np.abs(frames) ** 2).mean(1, keepdims=True))
    return np.asarray(frames / np.maximum(rms, 1e-10), np.complex64)
