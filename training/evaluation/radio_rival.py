"""A supervised baseline for `radio`: a network of the encoder's shape, trained on the labels alone."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy

from streaming.block import Samples
from streaming.encoder import Encoder, EncoderShape, iq
from training.datasets.augment import Augment, unit_power
from training.heads.search import Labels
from training.pretraining.encode import encode
from training.pretraining.initialisation import Initialisation, redraw

CROP = 512  # samples of a signal that a step looks at


def train_rival(
    shape: EncoderShape, start: Initialisation, signals: Samples, labels: Labels, *, steps: int, seed: int
) -> Encoder:
    """An encoder whose outputs are the classes' scores; trained on crops, rotated and shifted at random."""
    classes = int(labels.max()) + 1
    network = Encoder(EncoderShape(**{**vars(shape), "outputs": classes}), seed)
    redraw(network, start, seed)
    adam = torch.optim.Adam(network.parameters(), foreach=False)
    augment, rng = Augment(rotation=np.pi, cfo=0.003), np.random.default_rng(seed)
    for step in range(steps):
        adam.param_groups[0]["lr"] = 3e-3 * (0.5 + 0.5 * np.cos(np.pi * step / steps))
        rows = rng.integers(0, len(signals), (16, 1))
        begin = rng.integers(0, signals.shape[1] - CROP + 1, (16, 1))
        x = augment.apply(unit_power(iq(signals[rows, begin + np.arange(CROP)])), rng)
        loss = cross_entropy(encode(network, x), torch.from_numpy(labels[rows[:, 0]]))
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        adam.step()
    return network


def rival_says(network: Encoder, signals: Samples) -> NDArray[np.int64]:
    """The class of each whole signal."""
    power = np.sqrt(np.square(np.abs(signals)).mean(1, keepdims=True))
    return np.asarray(network.encode((signals / power).astype(np.complex64), 8).argmax(1), np.int64)
