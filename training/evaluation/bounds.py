"""The paper's bounds on how far noise moves the gradient of the triplet loss, beside what is measured.

For an encoder of Psi convolutions with kernel chi and at most c channels, weights at most R and layers of
spectral norm at most R_mat, inputs at most zeta sqrt(P), and K negatives (the paper's lemmas):

    L_x = R_mat^Psi,   L_theta(l) = sqrt(T c chi) zeta sqrt(P) (c chi R)^(l-1) R_mat^(Psi-l)
    |z_i| <= Z = zeta sqrt(P) (c chi R)^Psi,   G = (K + 1) sqrt(outputs) Z
    Gamma = sqrt(K + 2) max(2 (T Z)^2 (K + 1)^2 + K + 1, 2 (K + 1) (T Z)^2 + 1)

The expected gradient norm at the signal-to-noise ratio g exceeds the clean one by at most (Theorems 1 and 3)

    ReLU      [2 (K + 2) G + Gamma L_x sqrt(T (K + 2)^3 P / g)] sum_l L_theta(l)
    Softplus  (K + 2) Gamma_J G Psi sqrt(T P / g) + Gamma L_x sqrt(T (K + 2)^3 P / g) sum_l L_theta(l)

The first term for ReLU does not vanish with the noise; both for Softplus do. Gamma_J, the Lipschitz constant
of the Jacobian, has no formula in the paper: it is estimated from below on frames. Bounds are far beyond what
a float holds, so logarithms to base 10 are given.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from streaming.encoder import CausalConv, Encoder, iq
from streaming.shape import Activation
from training.datasets.synthetic import Signal, make_frames
from training.objectives.triplet import triplet_loss

NEGATIVES = 10
DRAWS = 4  # of the noise, for each measured expectation


@dataclass(frozen=True)
class Constants:
    """What the bounds are made of."""

    layers: int  # Psi
    kernel: int  # chi
    channels: int  # c
    outputs: int
    samples: int  # T
    largest_weight: float  # R
    spectral_norm: float  # R_mat
    peak: float  # zeta, largest input over sqrt(P)
    power: float  # P, of each of I and Q
    negatives: int = NEGATIVES  # K

    @property
    def log_lipschitz_input(self) -> float:
        """log10 L_x."""
        return self.layers * math.log10(self.spectral_norm)

    def log_lipschitz_layer(self, layer: int) -> float:
        """log10 L_theta(l), l from 1."""
        growth = math.log10(self.channels * self.kernel * self.largest_weight)
        width = math.log10(self.samples * self.channels * self.kernel) / 2
        below = (self.layers - layer) * math.log10(self.spectral_norm)
        return width + math.log10(self.peak * math.sqrt(self.power)) + (layer - 1) * growth + below

    @property
    def log_output(self) -> float:
        """log10 Z."""
        growth = math.log10(self.channels * self.kernel * self.largest_weight)
        return math.log10(self.peak * math.sqrt(self.power)) + self.layers * growth

    @property
    def log_loss_gradient(self) -> float:
        """log10 G."""
        return math.log10(self.negatives + 1) + math.log10(self.outputs) / 2 + self.log_output

    @property
    def log_smoothness(self) -> float:
        """log10 Gamma."""
        K, square = self.negatives, 2 * (math.log10(self.samples) + self.log_output)
        reference = log_sum([math.log10(2 * (K + 1) ** 2) + square, math.log10(K + 1)])
        other = log_sum([math.log10(2 * (K + 1)) + square, 0.0])
        return math.log10(K + 2) / 2 + max(reference, other)

    def log_excess(self, activation: Activation, snr: float, jacobian: float = 0.0) -> float:
        """log10 of what the bound adds to the clean gradient's norm; `jacobian` is Gamma_J, for Softplus."""
        K, P, T = self.negatives, self.power, self.samples
        noise = math.log10(T * (K + 2) ** 3 * P / snr) / 2
        grows = self.log_smoothness + self.log_lipschitz_input + noise + self.log_lipschitz_layers
        if activation != "softplus":
            return log_sum([grows, self.log_floor])
        varies = math.log10((K + 2) * jacobian * self.layers) + math.log10(T * P / snr) / 2
        return log_sum([grows, varies + self.log_loss_gradient])

    @property
    def log_lipschitz_layers(self) -> float:
        """log10 sum_l L_theta(l)."""
        return log_sum([self.log_lipschitz_layer(i + 1) for i in range(self.layers)])

    @property
    def log_floor(self) -> float:
        """log10 of the term that no SNR makes vanish with ReLU."""
        return math.log10(2 * (self.negatives + 2)) + self.log_loss_gradient + self.log_lipschitz_layers


@dataclass(frozen=True)
class Row:
    """One activation at one SNR."""

    activation: Activation
    snr_db: float
    clean: float  # norm of the clean gradient
    noisy: float  # mean norm of the noisy one
    moved: float  # mean norm of their difference
    log_bound: float  # log10 of the bound on the noisy norm
    log_floor: float  # log10 of what the bound adds to the clean norm at any SNR; -inf for Softplus


def log_sum(logs: Sequence[float]) -> float:
    """log10(sum 10^x)."""
    top = max(logs)
    return top + math.log10(sum(10 ** (x - top) for x in logs))


def spectral_norm(conv: CausalConv, samples: int, iterations: int = 30) -> float:
    """The largest singular value of the convolution on sequences of this length, by power iteration."""
    x = torch.randn(1, samples, conv.v.shape[1], generator=torch.Generator().manual_seed(0))
    value = 0.0
    for _ in range(iterations):
        x = (x / x.norm()).requires_grad_()
        y = conv(x) - conv.bias
        value = float(y.norm().detach())
        (x,) = torch.autograd.grad(y.square().sum() / 2, x)  # W' W x
    return value


def constants(encoder: Encoder, frames: Tensor) -> Constants:
    """The constants of an encoder on these clean frames (B, T, 2)."""
    convs = [module for module in encoder.modules() if isinstance(module, CausalConv)]
    power = float(frames.square().mean())
    return Constants(
        layers=len(convs),
        kernel=encoder.shape.kernel,
        channels=max(encoder.shape.channels, encoder.shape.reduced),
        outputs=encoder.shape.outputs,
        samples=frames.shape[1],
        largest_weight=max(float(conv.weight().abs().max().detach()) for conv in convs),
        spectral_norm=max(spectral_norm(conv, frames.shape[1]) for conv in convs),
        peak=float(frames.abs().max()) / math.sqrt(power),
        power=power,
    )


def gradient(encoder: Encoder, frames: Tensor) -> Tensor:
    """The triplet loss's gradient by all parameters; each frame's halves against K others."""
    half = frames.shape[1] // 2
    z = encoder(torch.cat([frames[:, :half], frames[:, half : 2 * half]]))
    ref, pos = z.chunk(2)
    neg = torch.stack([pos.roll(k + 1, 0) for k in range(NEGATIVES)], 1)  # (B, K, E)
    loss = triplet_loss(ref, pos, neg, mean_negatives=False)
    return torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(encoder.parameters()))])


def jacobian_slope(encoder: Encoder, frames: Tensor, step: float = 0.05) -> float:
    """A lower estimate of Gamma_J: the largest |u'J(x + d) - u'J(x)| / |d| on frames, with random unit u."""
    generator = torch.Generator().manual_seed(0)
    largest = 0.0
    for x in frames[:8, None]:
        u = torch.randn(encoder.shape.outputs, generator=generator)
        d = torch.randn(x.shape, generator=generator) * step
        weights = list(encoder.parameters())
        rows = [torch.autograd.grad((encoder(at) @ (u / u.norm())).sum(), weights) for at in (x, x + d)]
        apart = torch.stack([(p - q).square().sum() for p, q in zip(*rows, strict=True)]).sum().sqrt()
        largest = max(largest, float(apart / d.norm()))
    return largest


def report(encoder: Encoder, snrs_db: Sequence[float] = (-10, 0, 10, 20, 40), seed: int = 0) -> list[Row]:
    """Bounds and measured gradients of the encoder's weights with ReLU and with Softplus."""
    signal = Signal(snr_db=(300.0, 300.0), rayleigh=0.0)  # clean
    frames = iq(make_frames(signal, (8,) * len(signal.classes), seed).iq)
    rng = np.random.default_rng(seed)
    # the same draws at every SNR, so that rows differ by the SNR alone
    noise = torch.from_numpy(rng.standard_normal((DRAWS, *frames.shape), np.float32))
    rows = []
    for activation in ("relu", "softplus"):
        same = Encoder.from_arrays(replace(encoder.shape, activation=activation), encoder.arrays())
        known = constants(same, frames)
        slope = jacobian_slope(same, frames)
        clean = gradient(same, frames)
        for snr_db in snrs_db:
            snr = 10 ** (snr_db / 10)
            sigma = math.sqrt(known.power / snr)
            noisy = [gradient(same, frames + sigma * draw) for draw in noise]
            norm = float(clean.norm())
            bound = log_sum([math.log10(norm), known.log_excess(same.shape.activation, snr, slope)])
            mean = float(torch.stack([g.norm() for g in noisy]).mean())
            moved = float(torch.stack([(g - clean).norm() for g in noisy]).mean())
            floor = known.log_floor if activation == "relu" else -math.inf
            rows.append(Row(same.shape.activation, snr_db, norm, mean, moved, bound, floor))
    return rows
