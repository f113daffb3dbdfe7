"""Training of the projection: an embedding in which simulated emissions of one class lie together.

    loss = cross-entropy of the classes, on the embedding's linear map;   label smoothing, dropout, feature
    noise

The linear map is thrown away: local heads take its place. Four networks are trained in different ways (more
noise, more dropout, features left out) and stand side by side: on real air all together err less than each.

The open-set detector's networks are trained on the families against outliers: simulated signals of no class,
and *feature mixup*, which mixes the features of two emissions of different families and needs no guess at
what an outlier may look like.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from streaming.features import COUNT
from streaming.open_set import FARTHEST
from streaming.projection import Projection
from training.progress import Progress
from training.signals.classes import FAMILIES

Rows = NDArray[np.float32]
Labels = NDArray[np.int64]
HIDDEN, OUTPUTS = (256, 128), 32
OPEN_SET_HIDDEN, NETWORKS = (256, 128), 3
RIVALS = 12  # emissions from which the partner of a mixup is chosen
MASKED = 0.4  # of the features, in training of one of the networks
LEAST_SPREAD = 1e-3  # of a feature that hardly differs


@dataclass(frozen=True)
class Training:
    """How a network is trained: AdamW, one cycle of the learning rate."""

    epochs: int = 15
    open_set_epochs: int = 8
    batch: int = 256
    rate: float = 2e-3
    decay: float = 1e-3
    dropout: float = 0.15
    noise: float = 0.05  # standard deviations of a feature
    smoothing: float = 0.05
    masked: float = 0.0  # share of the features that are left out, others in each step


def fit_projection(
    known: Rows, labels: Labels, classes: Sequence[str], outliers: Rows, seed: int, training: Training
) -> Projection:
    """From features (n, COUNT) of known emissions and of outliers (m, COUNT)."""
    mean, scale = known.mean(0), known.std(0) + LEAST_SPREAD
    z = standardised(known, mean, scale)
    noisy = replace(training, noise=6 * training.noise)
    ways = (training, noisy, replace(noisy, dropout=2 * training.dropout), replace(training, masked=MASKED))
    networks = [
        train(z, labels, (*HIDDEN, OUTPUTS), nn.SiLU, len(classes), len(ways) * seed + i, way, "projection")
        for i, way in enumerate(ways)
    ]
    families = [FAMILIES[name] for name in classes]
    names = sorted(set(families))
    family = np.array([names.index(of) for of in families])[labels]
    mixed = feature_mixup(z, family, np.random.default_rng(seed))
    x = np.concatenate([z, standardised(outliers, mean, scale), mixed])
    target = np.concatenate([family, np.full(len(x) - len(z), len(names))])
    shorter = replace(training, epochs=training.open_set_epochs)
    ensemble = [
        train(x, target, OPEN_SET_HIDDEN, nn.ReLU, len(names) + 1, seed * NETWORKS + i, shorter, "open set")
        for i in range(NETWORKS)
    ]
    return Projection(mean, scale, *stacked(networks)[:3], *stacked(ensemble))


def standardised(features: Rows, mean: Rows, scale: Rows) -> Rows:
    """As the projection does it."""
    return np.asarray(np.clip((features - mean) / scale, -FARTHEST, FARTHEST), np.float32)


def feature_mixup(known: Rows, family: Labels, rng: np.random.Generator) -> Rows:
    """A mixture (n, COUNT) of each emission and the nearest of RIVALS others that is of another family.

    Every second one is a weighted mean, the others have each feature from either.
    """
    count = len(known)
    others = rng.integers(count, size=(RIVALS, count))
    apart = np.stack([np.square(known - known[other]).sum(1) for other in others])
    apart[family[others] == family] = np.inf
    other = others[apart.argmin(0), np.arange(count)]
    share = np.where(
        np.arange(count)[:, None] % 2, rng.uniform(0.25, 0.75, (count, 1)), rng.random((count, COUNT)) < 0.5
    )
    return np.asarray(share * known + (1 - share) * known[other], np.float32)


def train(
    x: Rows,
    labels: Labels,
    hidden: Sequence[int],
    activation: type[nn.Module],
    classes: int,
    seed: int,
    training: Training,
    what: str,
) -> nn.Sequential:
    """A perceptron that knows these labels (n,) of standardised features (n, COUNT)."""
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    width = x.shape[1]
    for size in hidden:
        layers += [nn.Linear(width, size), activation(), nn.Dropout(training.dropout)]
        width = size
    network = nn.Sequential(*layers, nn.Linear(width, classes))
    features, target = torch.from_numpy(x), torch.from_numpy(labels)
    batches = max(1, len(x) // training.batch)
    steps = training.epochs * batches
    optimiser = torch.optim.AdamW(network.parameters(), training.rate, weight_decay=training.decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, training.rate, total_steps=steps + 1)
    with Progress(f"training the {what}", steps) as progress:
        for epoch in range(training.epochs):
            order = torch.randperm(len(x), generator=generator)
            for i in range(batches):
                chosen = order[i * training.batch : (i + 1) * training.batch]
                inputs = features[chosen]
                noisy = inputs + training.noise * torch.randn(inputs.shape, generator=generator)
                if training.masked:
                    noisy *= torch.rand(inputs.shape, generator=generator) >= training.masked
                loss: Tensor = functional.cross_entropy(
                    network(noisy), target[chosen], label_smoothing=training.smoothing
                )
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                schedule.step()
                progress.to(epoch * batches + i + 1, loss=float(loss.detach()))
    return network.eval()


def stacked(networks: Sequence[nn.Sequential]) -> list[NDArray[np.float16]]:
    """The layers of an ensemble, each as one array (networks, 1 + inputs, outputs)."""
    return [np.stack(same) for same in zip(*(layers_of(one) for one in networks), strict=True)]


def layers_of(network: nn.Sequential) -> list[NDArray[np.float16]]:
    """The weights of each layer, the biases first."""
    found = [layer for layer in network if isinstance(layer, nn.Linear)]
    parts = [(layer.bias.detach().numpy()[None], layer.weight.detach().numpy().T) for layer in found]
    return [np.ascontiguousarray(np.concatenate(part), np.float16) for part in parts]
