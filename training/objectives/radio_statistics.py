"""Label-free statistics of a signal: the targets that the model `radio` is pretrained to predict.

With x at unit power, a = |x|, and averages over time, for several lags l,

    how the level is spread    E a^n,  shares of time above levels,  autocorrelation of a^2
    how the phase moves        |E x[n] x*[n-l]|,  the spread of the phase increment and its
                               autocorrelation
    what powers keep           |E x^m[n] x*^m[n-l]| for m = 2, 4, 8, also of u = x / (a + 0.1)

Timing, phase and small carrier offsets hardly change them: they suit 2 to 4 samples per symbol, unlocked.
Each is standardised over a fixed set of simulated signals, which every station can make itself.
"""

from functools import cache

import numpy as np
import torch
from torch import Tensor

from streaming.encoder import iq
from training.datasets.emissions import HEARD
from training.datasets.radio_signals import make_signals
from training.signals.conditions import Conditions

LAGS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)
SOFT = 0.1  # of the edge of a share, and of what keeps u finite
LEVELS = tuple(np.linspace(0.1, 2.2, 12))
INCREMENTS = tuple(np.linspace(-1.5, 1.5, 13))  # rad
REFERENCE_SEED, REFERENCE_EACH, REFERENCE_SAMPLES = 433, 6, 512
CLIP = 4.0  # standard deviations: one odd signal must not outweigh a batch


def statistics(x: Tensor) -> Tensor:
    """Signals (B, T, 2) to standardised statistics (B, COUNT)."""
    mean, spread = reference()
    return ((raw(x) - mean) / spread).clamp(-CLIP, CLIP)


@cache
def reference() -> tuple[Tensor, Tensor]:
    """Mean and spread over the fixed set of signals."""
    counts = [REFERENCE_EACH] * len(HEARD)
    signals = make_signals(
        HEARD, counts, samples=REFERENCE_SAMPLES, conditions=Conditions(), seed=REFERENCE_SEED
    )
    found = raw(iq(signals.iq))
    return found.mean(0), found.std(0) + 1e-3


@cache
def count() -> int:
    """How many statistics there are."""
    return raw(torch.ones(1, 2 * LAGS[-1], 2)).shape[1]


def raw(signals: Tensor) -> Tensor:
    """Signals (B, T, 2) to statistics (B, COUNT), in their own units."""
    x = torch.view_as_complex(signals.contiguous())  # (B, T)
    x = x / (x.abs().square().mean(1, keepdim=True) + 1e-12).sqrt()
    a = x.abs()
    u = x / (a + SOFT)
    x2, u2 = x * x, u * u
    x4, u4 = x2 * x2, u2 * u2
    level = a.square() - 1
    out = [a.mean(1), (a**3).mean(1), (a**4).mean(1), (a**6).mean(1).log()]
    out += [torch.sigmoid((a - edge) / SOFT).mean(1) for edge in LEVELS]
    out += correlations(level, 0.05)
    out += kept(x, 1.0)
    out += kept(x2, (a**4).mean(1)) + kept(x4, (a**8).mean(1))
    out += kept(u2, 1.0) + kept(u4, 1.0) + kept(u4 * u4, 1.0)[:4]
    return torch.stack([*out, *increments(x, level)], 1)


def increments(x: Tensor, level: Tensor) -> list[Tensor]:
    """Statistics of the phase increment less its mean, weighted by the level."""
    step = x[:, 1:] * x[:, :-1].conj()
    mean = step.mean(1)
    increment = torch.angle(step * mean.conj()[:, None])  # (B, T - 1)
    weight = step.abs() / step.abs().mean(1, keepdim=True)
    spread = (weight * increment.square()).mean(1)
    third, fourth = (weight * increment**3).mean(1), (weight * increment**4).mean(1)
    out = [spread, third, fourth / (spread.square() + 0.01)]
    out += [torch.angle(mean)]
    out += [(weight * torch.exp(-(((increment - centre) / 0.15) ** 2))).mean(1) for centre in INCREMENTS]
    swing = increment.clamp(-1, 1).square()
    out += correlations(weight * increment, 0.01)
    out += correlations(swing - swing.mean(1, keepdim=True), 0.01)[:8]
    for lag in LAGS[:3]:  # does the frequency move where the level does?
        out += [(level[:, lag:] * increment.abs()[:, : level.shape[1] - lag]).mean(1)]
    return out


def correlations(y: Tensor, floor: float) -> list[Tensor]:
    """E y[n] y[n-l] over E y^2 + floor."""
    power = y.square().mean(1) + floor
    return [(y[:, lag:] * y[:, :-lag]).mean(1) / power for lag in LAGS]


def kept(y: Tensor, power: Tensor | float) -> list[Tensor]:
    """|E y[n] y*[n-l]| over the power."""
    return [(y[:, lag:] * y[:, :-lag].conj()).mean(1).abs() / power for lag in LAGS]
