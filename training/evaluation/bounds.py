"""The paper's bounds on how far noise moves the gradient of the triplet loss, beside what is measured.

For an encoder of Psi convolutions with kernel chi and at most c channels, weights at most R and layers of
spectral norm at most R_mat, inputs at most zeta sqrt(P), and K negatives (the paper's lemmas):

    L_theta(l) = sqrt(T c chi) zeta sqrt(P) (c chi R)^(l-1) R_mat^(Psi-l)
    |z_i| <= Z = zeta sqrt(P) (c chi R)^Psi,   G = (K + 1) sqrt(outputs) Z
    Gamma = sqrt(K + 2) max(2 (T Z)^2 (K + 1)^2 + K + 1, 2 (K + 1) (T Z)^2 + 1)

Theorems 1 and 3 bound the gradient by one layer (parts 1 and 2) and by all (3 and 4), its norm and the square
of it. With E = E|n|^2, S1 the sum over layers of L_theta(l), S2 that of its square,

    norm     |clean| + a + b          a = 2 (K + 2) G S1     (ReLU)    b = Gamma L_x sqrt((K + 2)^3 E) S1
                                      a = (K + 2) Gamma_J G Psi sqrt(E)  (Softplus)
    square   2 |clean|^2 + 16 (K + 2)^2 G^2 S2 + 4 Gamma^2 L_x^2 (K + 2)^3 E S2                     (ReLU)
             2 |clean|^2 + 4 (K + 2)^2 Gamma_J^2 G^2 Psi E + 4 Gamma^2 L_x^2 (K + 2)^3 E S2     (Softplus)

where a layer alone has Psi = 1 and its own L_theta. The term in a for ReLU does not vanish with the noise.

Where the paper slips, this does not follow it: E is 2 T P / SNR, for I and Q both carry noise (the paper has
T P / SNR); L_x is that of a network with residuals (`training.evaluation.lipschitz`; the paper has
R_mat^Psi); and Softplus of 0 is ln 2, which every layer adds to Z. Gamma_J, the Lipschitz constant of the
Jacobian, has no formula in the paper: it is estimated from below, and what is shown for Softplus is an
estimate and no bound.
Bounds are far beyond what a float holds, so logarithms to base 10 are given.
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
from training.evaluation.lipschitz import convolution_norm, log_lipschitz
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
    log_lipschitz_input: float  # log10 L_x, residuals included
    activation: Activation = "relu"
    negatives: int = NEGATIVES  # K

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
        grown = [math.log10(self.peak * math.sqrt(self.power)) + self.layers * growth]
        if self.activation == "softplus":
            grown += [math.log10(math.log(2)) + layer * growth for layer in range(self.layers)]
        return log_sum(grown)

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

    def log_noise_energy(self, snr: float) -> float:
        """log10 E."""
        return math.log10(2 * self.samples * self.power / snr)

    def log_sums(self, layer: int | None) -> tuple[float, float]:
        """log10 S1 and S2, of one layer (from 1) or of all."""
        chosen = range(1, self.layers + 1) if layer is None else [layer]
        each = [self.log_lipschitz_layer(number) for number in chosen]
        return log_sum(each), log_sum([2 * x for x in each])

    def log_noise(self, snr: float, layer: int | None = None) -> float:
        """log10 b."""
        spread = (3 * math.log10(self.negatives + 2) + self.log_noise_energy(snr)) / 2
        return self.log_smoothness + self.log_lipschitz_input + spread + self.log_sums(layer)[0]

    def log_constant(self, snr: float, jacobian: float = 0.0, layer: int | None = None) -> float:
        """log10 a; with Softplus `jacobian` is Gamma_J."""
        first = math.log10(self.negatives + 2) + self.log_loss_gradient
        if self.activation != "softplus":
            return math.log10(2) + first + self.log_sums(layer)[0]
        psi = self.layers if layer is None else 1
        return first + math.log10(jacobian * psi) + self.log_noise_energy(snr) / 2

    def log_excess(self, snr: float, jacobian: float = 0.0, layer: int | None = None) -> float:
        """log10 of what is added to the clean gradient's norm: parts 1 (a layer) and 3."""
        return log_sum([self.log_constant(snr, jacobian, layer), self.log_noise(snr, layer)])

    def log_excess_square(self, snr: float, jacobian: float = 0.0, layer: int | None = None) -> float:
        """log10 of what is added to twice the clean gradient's square: parts 2 (a layer) and 4."""
        K, energy, squares = self.negatives, self.log_noise_energy(snr), self.log_sums(layer)[1]
        noise = 2 * (self.log_smoothness + self.log_lipschitz_input) + 3 * math.log10(K + 2) + energy
        first = 2 * (math.log10(K + 2) + self.log_loss_gradient)
        if self.activation != "softplus":
            return log_sum([math.log10(16) + first + squares, math.log10(4) + noise + squares])
        psi = self.layers if layer is None else 1
        varies = first + math.log10(4 * psi) + 2 * math.log10(jacobian) + energy
        return log_sum([varies, math.log10(4) + noise + squares])


@dataclass(frozen=True)
class Row:
    """One activation at one SNR."""

    activation: Activation
    snr_db: float
    clean: float  # norm of the clean gradient
    noisy: float  # mean norm of the noisy one
    moved: float  # mean norm of their difference
    square: float  # mean square of the noisy norm
    log_norm_bound: float  # log10 of part 3
    log_square_bound: float  # log10 of part 4
    log_layer_bounds: tuple[float, ...]  # log10 of part 1, layer by layer
    log_layer_square_bounds: tuple[float, ...]  # log10 of part 2
    log_floor: float  # log10 of what part 3 adds to the clean norm at any SNR; -inf for Softplus
    bound: bool  # False where Gamma_J is estimated from below


def log_sum(logs: Sequence[float]) -> float:
    """log10(sum 10^x)."""
    top = max(logs)
    return top + math.log10(sum(10 ** (x - top) for x in logs))


def constants(encoder: Encoder, frames: Tensor) -> Constants:
    """The constants of an encoder on the halves of these clean frames (B, 2 T, 2)."""
    samples = frames.shape[1] // 2
    convs = [module for module in encoder.modules() if isinstance(module, CausalConv)]
    power = float(frames.square().mean())
    return Constants(
        layers=len(convs),
        kernel=encoder.shape.kernel,
        channels=max(encoder.shape.channels, encoder.shape.reduced),
        outputs=encoder.shape.outputs,
        samples=samples,
        largest_weight=max(float(conv.weight().abs().max().detach()) for conv in convs),
        spectral_norm=max(map(convolution_norm, convs)),
        peak=float(frames.abs().max()) / math.sqrt(power),
        power=power,
        log_lipschitz_input=log_lipschitz(encoder, samples),
        activation=encoder.shape.activation,
    )


def triplet_of(encoder: Encoder, frames: Tensor) -> Tensor:
    """The triplet loss of frames: each one's halves against those of K others."""
    half = frames.shape[1] // 2
    z = encoder(torch.cat([frames[:, :half], frames[:, half : 2 * half]]))
    ref, pos = z.chunk(2)
    neg = torch.stack([pos.roll(k + 1, 0) for k in range(NEGATIVES)], 1)  # (B, K, E)
    return triplet_loss(ref, pos, neg, mean_negatives=False)


def gradients(encoder: Encoder, frames: Tensor) -> list[Tensor]:
    """The gradient of each convolution's parameters, and of all parameters last."""
    parts = torch.autograd.grad(triplet_of(encoder, frames), list(encoder.parameters()))
    found = {id(p): g.flatten() for p, g in zip(encoder.parameters(), parts, strict=True)}
    convs = [module for module in encoder.modules() if isinstance(module, CausalConv)]
    layers = [torch.cat([found[id(p)] for p in conv.parameters()]) for conv in convs]
    return [*layers, torch.cat(list(found.values()))]


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
        clean = gradients(same, frames)
        for snr_db in snrs_db:
            sigma = math.sqrt(known.power * 10 ** (-snr_db / 10))
            noisy = [gradients(same, frames + sigma * draw) for draw in noise]
            rows.append(row(known, slope, snr_db, clean, noisy))
    return rows


def row(known: Constants, slope: float, snr_db: float, clean: list[Tensor], noisy: list[list[Tensor]]) -> Row:
    """Measured gradients beside every part of the theorem."""
    snr = 10 ** (snr_db / 10)
    layers: list[int | None] = [*range(1, known.layers + 1), None]
    norms = [max(float(g.norm()), 1e-300) for g in clean]
    first = [
        log_sum([math.log10(norm), known.log_excess(snr, slope, layer)])
        for norm, layer in zip(norms, layers, strict=True)
    ]
    second = [
        log_sum([math.log10(2) + 2 * math.log10(norm), known.log_excess_square(snr, slope, layer)])
        for norm, layer in zip(norms, layers, strict=True)
    ]
    whole = torch.stack([draw[-1] for draw in noisy])  # (draws, W)
    floor = known.log_constant(snr) if known.activation != "softplus" else -math.inf
    return Row(
        activation=known.activation,
        snr_db=snr_db,
        clean=norms[-1],
        noisy=float(whole.norm(dim=1).mean()),
        moved=float((whole - clean[-1]).norm(dim=1).mean()),
        square=float(whole.square().sum(1).mean()),
        log_norm_bound=first[-1],
        log_square_bound=second[-1],
        log_layer_bounds=tuple(first[:-1]),
        log_layer_square_bounds=tuple(second[:-1]),
        log_floor=floor,
        bound=known.activation != "softplus",
    )
