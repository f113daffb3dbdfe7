"""Clients small enough to work out by hand, and a network of two linear layers that numpy can follow."""

import numpy as np
import torch
from torch import nn

from training.datasets.frames import Frames
from training.datasets.synthetic import Signal, make_frames
from training.heads.search import Search
from training.methods.base import Budget, ClientFrames

SAMPLES = 32
SIGNAL = Signal(SAMPLES, snr_db=(5.0, 10.0))
BUDGET = Budget(
    rounds=2,
    batch=8,
    pretrain_rounds=1,
    pretrain_steps=2,
    pretrain_batch=4,
    tune_epochs=2,
    search=Search(C=(1.0,), gamma=(1.0,), folds=2),
    recipe_share=0.005,
)


def frames(counts, seed, labels=True):
    made = make_frames(SIGNAL, counts, seed)
    label = made.label if labels else np.full(len(made), -1)
    return Frames(made.iq, label, made.snr_db, made.classes)


def client(name, counts, seed, **more):
    """A client with these labelled frames."""
    return ClientFrames(
        name,
        frames((6, 6, 6, 6), seed, labels=False),
        frames(counts, seed + 1),
        frames((2, 2, 2, 2), seed + 2),
        signal=SIGNAL,
        priors=tuple(max(c, 1) for c in counts),
        **more,
    )


def two_clients():
    """Of different sizes and classes."""
    return [client("a", (8, 4, 2, 2), 10), client("b", (2, 2, 2, 2), 20)]


class Linear2(nn.Module):
    """scores = W2 (W1 x + b1) + b2, on flattened frames."""

    def __init__(self, samples, classes):
        super().__init__()
        self.body = nn.Linear(2 * samples, 3)
        self.head = nn.Linear(3, classes)

    def forward(self, x):
        return self.head(self.body(x.flatten(1)))


class Numpy2:
    """The same network by hand: forward, cross-entropy, gradients."""

    NAMES = ("body.weight", "body.bias", "head.weight", "head.bias")

    def __init__(self, client):
        rms = np.sqrt((np.abs(client.labelled.iq) ** 2).mean(1, keepdims=True))
        iq = client.labelled.iq.astype(np.complex128) / rms
        self.x = np.stack([iq.real, iq.imag], -1).reshape(len(iq), -1)
        self.y = client.labelled.label
        self.n = len(iq)

    def probabilities(self, theta):
        hidden = self.x @ theta["body.weight"].T + theta["body.bias"]
        scores = hidden @ theta["head.weight"].T + theta["head.bias"]
        grown = np.exp(scores - scores.max(1, keepdims=True))
        return hidden, grown / grown.sum(1, keepdims=True)

    def loss(self, theta, weights=None):
        _, p = self.probabilities(theta)
        w = np.ones(self.n) if weights is None else weights[self.y]
        return -(w * np.log(p[np.arange(self.n), self.y])).sum() / w.sum()

    def gradient(self, theta, weights=None):
        hidden, p = self.probabilities(theta)
        w = np.ones(self.n) if weights is None else weights[self.y]
        d = (p - np.eye(p.shape[1])[self.y]) * (w / w.sum())[:, None]
        back = d @ theta["head.weight"]
        return {
            "body.weight": back.T @ self.x,
            "body.bias": back.sum(0),
            "head.weight": d.T @ hidden,
            "head.bias": d.sum(0),
        }


def start(seed, samples=SAMPLES, classes=4):
    """The weights that a method with this network starts from."""
    from training.methods.base import generator

    generator(seed)
    network = Linear2(samples, classes)
    return {name: t.detach().numpy().astype(np.float64) for name, t in network.state_dict().items()}


def step(theta, gradient, rate, only=""):
    """Plain gradient descent, on the tensors whose names start so."""
    return {n: v - rate * gradient[n] if n.startswith(only) else v for n, v in theta.items()}


def close(found, expected, tolerance=2e-6):
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=tolerance, err_msg=name)


torch.set_num_threads(1)
