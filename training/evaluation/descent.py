"""What Theorems 2 and 4 promise of one federated round with a proximal term, from what is measured.

With B the clients' dissimilarity, g the norm of the global gradient, L the smoothness, -L_ the most negative
curvature, mu the proximal coefficient, m = mu - L_, eta the inexactness of the clients' solutions, and

    a = 2 (K + 2) G S    (ReLU; with Softplus (K + 2) Gamma_J G Psi sqrt(E))
    b = Gamma L_x sqrt((K + 2)^3 E) S,      S = sum_l L_theta(l),      E = E|n|^2 = 2 T P / SNR

one round gives

    loss(t+1) <= loss(t) - c g^2 + (a + b) (1 + eta) (1 + L / m) g / mu + 3/2 L (1 + eta)^2 (a^2 + b^2) / m^2
    c = (1 - B eta) / mu - B L (1 + eta) / (mu m) - 3/2 B^2 L (1 + eta)^2 / m^2

This is derived anew; the paper has 12 (K + 2)^2 G^2 where 3/2 a^2 = 6 (K + 2)^2 G^2, in Theorem 4 a 3 for the
3/2, and in both the term in b^2 without L. B, g, L and L_ are measured: L and L_ by power iteration on the
Hessian, hence from below.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from streaming.encoder import Encoder, iq
from training.datasets.synthetic import Client, Signal, make_frames
from training.evaluation.bounds import Constants, constants, jacobian_slope, log_sum, triplet_of
from training.evaluation.lipschitz import log_lipschitz, log_slope

FRAMES = 28  # a client
ITERATIONS = 8


@dataclass(frozen=True)
class Federation:
    """What is measured over the clients at one encoder, on clean frames."""

    dissimilarity: float  # B
    gradient: float  # g
    smoothness: float  # L, from below
    concavity: float  # L_, from below

    def coefficient(self, proximal: float, inexact: float = 0.0) -> float:
        """c, what a round gains for each unit of g^2; below 0 nothing is promised."""
        B, L, m, more = self.dissimilarity, self.smoothness, proximal - self.concavity, 1 + inexact
        if m <= 0:
            return -math.inf
        lost = B * L * more / (proximal * m) + 1.5 * B**2 * L * more**2 / m**2
        return (1 - B * inexact) / proximal - lost

    def least_proximal(self, inexact: float = 0.0) -> float:
        """The smallest mu from which on a round without noise descends; inf if none does."""
        if self.dissimilarity * inexact >= 1:
            return math.inf
        low = high = max(self.concavity, 1e-12)
        while self.coefficient(high, inexact) <= 0:
            low, high = high, 2 * high
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if self.coefficient(middle, inexact) > 0 else (middle, high)
        return high

    def best_proximal(self, inexact: float = 0.0) -> float:
        """The mu at which a round without noise is promised most: 1 / mu is the step size."""
        least = self.least_proximal(inexact)
        if math.isinf(least):
            return least
        return max((least * 1.02**i for i in range(200)), key=lambda mu: self.coefficient(mu, inexact))

    def log_error(
        self, known: Constants, snr: float, proximal: float, inexact: float = 0.0, jacobian: float = 0.0
    ) -> float:
        """log10 of all that noise may add to the loss in a round; with Softplus `jacobian` is Gamma_J."""
        m, more = proximal - self.concavity, 1 + inexact
        if m <= 0:
            return math.inf
        a, b = known.log_constant(snr, jacobian), known.log_noise(snr)
        linear = more * (1 + self.smoothness / m) * self.gradient / proximal
        square = 1.5 * self.smoothness * more**2 / m**2
        return log_sum([math.log10(linear) + log_sum([a, b]), math.log10(square) + log_sum([2 * a, 2 * b])])


def measure(encoder: Encoder, clients: Sequence[Client], seed: int = 0) -> Federation:
    """The federation of these clients at this encoder."""
    losses = [client_loss(encoder, client, seed + number) for number, client in enumerate(clients)]
    weights = list(encoder.parameters())
    gradients = torch.stack([flat(torch.autograd.grad(loss(), weights)) for loss in losses])  # (C, W)
    mean = gradients.mean(0)
    curvatures = [curvature(loss, weights) for loss in losses]
    squares = float(gradients.square().sum(1).mean())
    norm = float(mean.norm())
    return Federation(
        math.sqrt(squares) / max(norm, 1e-30),
        norm,
        max(max(abs(low), high) for low, high in curvatures),
        max(max(-low, 0.0) for low, _ in curvatures),
    )


def client_loss(encoder: Encoder, client: Client, seed: int) -> Callable[[], Tensor]:
    """The triplet loss of a client's clean frames."""
    signal = Signal(client.signal.samples, client.signal.classes, snr_db=(300.0, 300.0), rayleigh=0.0)
    counts = [max(1, round(FRAMES * count / sum(client.labelled))) for count in client.labelled]
    frames = iq(make_frames(signal, counts, seed).iq)
    return lambda: triplet_of(encoder, frames)


def curvature(loss: Callable[[], Tensor], weights: Sequence[Tensor]) -> tuple[float, float]:
    """The smallest and the largest eigenvalue of the Hessian, by power iteration."""
    gradient = flat(torch.autograd.grad(loss(), weights, create_graph=True))

    def top(shift: float) -> float:
        generator = torch.Generator().manual_seed(0)
        v, value = torch.randn(len(gradient), generator=generator), 0.0
        for _ in range(ITERATIONS):
            v = v / v.norm()
            turned = flat(torch.autograd.grad(gradient @ v, weights, retain_graph=True)) - shift * v
            value = float(v @ turned)
            v = turned
        return value + shift

    first = top(0.0)  # the larger of the two by its size
    other = top(first)
    return min(first, other), max(first, other)


def flat(parts: Sequence[Tensor]) -> Tensor:
    """Tensors as one row."""
    return torch.cat([part.flatten() for part in parts])


def promise(
    encoder: Encoder, federation: Federation, snr_db: float, inexact: float
) -> dict[str, float | None]:
    """What the theorems say of one round, by name; None where they promise nothing."""
    frames = iq(make_frames(Signal(snr_db=(300.0, 300.0), rayleigh=0.0), (8,) * 4, seed=0).iq)
    found: dict[str, float | None] = {
        "dissimilarity B": federation.dissimilarity,
        "norm of the global gradient": federation.gradient,
        "smoothness L, from below": federation.smoothness,
        "concavity L_, from below": federation.concavity,
        "log10 L_x, bound": log_lipschitz(encoder, frames.shape[1] // 2),
        "log10 L_x, steepest slope found": log_slope(encoder, frames[:, : frames.shape[1] // 2]),
    }
    least, best = federation.least_proximal(inexact), federation.best_proximal(inexact)
    promised = math.isfinite(least)
    found["proximal coefficient from which it descends"] = least if promised else None
    found["the best one"] = best if promised else None
    found["step size 1 / mu there"] = 1 / best if promised else None
    gain = federation.coefficient(best, inexact) * federation.gradient**2 if promised else None
    found["descent of the loss there, without noise"] = gain
    for activation in ("relu", "softplus"):
        same = Encoder.from_arrays(replace(encoder.shape, activation=activation), encoder.arrays())
        known, slope = constants(same, frames), jacobian_slope(same, frames)
        error = federation.log_error(known, 10 ** (snr_db / 10), best, inexact, slope) if promised else None
        found[f"log10 that noise of {snr_db:g} dB may add, {activation}"] = error
    return found
