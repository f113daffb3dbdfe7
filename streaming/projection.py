"""The projection: from an emission's features to the embedding that heads name, and the odds of an outlier.

    z = clip((f - mean) / scale, -3, 3),    embedding = s(W3 s(W2 s(W1 z + b1) + b2) + b3)
    s(x) = x / (1 + e^-x)

Trained on simulated emissions of all classes, so that emissions of one class lie close to each other and
those of others far away; an ensemble of such networks, side by side in the embedding, errs less on air that
is not like the simulation. Beside it stands an open-set detector: an ensemble of small perceptrons that know
the families and synthetic outliers. The log odds of an outlier, in the ensemble's mean, are the embedding's
last entry.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streaming import open_set
from streaming.errors import InputError
from streaming.features import COUNT
from streaming.open_set import FARTHEST

Rows = NDArray[np.float32]
Layer = NDArray[np.floating]  # (networks, 1 + inputs, outputs), the biases first


@dataclass(frozen=True, eq=False)
class Projection:
    """Layers of the embedding, and of the open-set detector's networks, stacked."""

    mean: Rows  # (COUNT,)
    scale: Rows  # (COUNT,)
    layer_1: Layer
    layer_2: Layer
    layer_3: Layer
    open_set_1: Layer  # (networks, 1 + COUNT, a)
    open_set_2: Layer  # (networks, 1 + a, b)
    open_set_3: Layer  # (networks, 1 + b, families and outliers)

    def __post_init__(self) -> None:
        layers = [self.layer_1, self.layer_2, self.layer_3]
        if self.mean.shape != (COUNT,) or self.scale.shape != (COUNT,) or not (self.scale > 0).all():
            raise InputError(f"the projection takes {self.mean.shape} features; this wavetell makes {COUNT}")
        for each in (layers, self._networks):
            if not open_set.fits(each, COUNT) or each[0].shape[1] != 1 + COUNT:
                raise InputError("the projection's layers do not fit each other")

    @property
    def _networks(self) -> list[Layer]:
        return [self.open_set_1, self.open_set_2, self.open_set_3]

    @cached_property
    def _exact(self) -> tuple[list[Rows], list[Rows]]:
        """The layers, and those of the networks, in float32: to convert them takes longer than a push."""
        layers = (self.layer_1, self.layer_2, self.layer_3)
        return [x.astype(np.float32) for x in layers], [x.astype(np.float32) for x in self._networks]

    @property
    def outputs(self) -> int:
        """Entries of an embedding, the odds aside."""
        return len(self.layer_3) * int(self.layer_3.shape[2])

    def push(self, features: Rows) -> Rows:
        """Features (n, COUNT) to embeddings and log odds of an outlier (n, outputs + 1)."""
        z = np.clip((features - self.mean) / self.scale, -FARTHEST, FARTHEST).astype(np.float32)
        layers, networks = self._exact
        x = z
        for layer in layers:
            x = sigmoid_linear(x @ layer[:, 1:] + layer[:, :1])  # (networks, n, outputs)
        x = np.moveaxis(x, 0, 1).reshape(len(features), self.outputs)
        odds = open_set.outlier_odds(networks, z)
        return np.concatenate([x, odds[:, None]], 1, dtype=np.float32)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays, for a bundle."""
        return {f.name: np.ascontiguousarray(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "Projection":
        """The projection of a bundle; whatever does not fit together is named."""
        wrong = {f.name for f in fields(cls)} ^ arrays.keys()
        if wrong:
            raise InputError(f"a projection must not have or lack {sorted(wrong)[0]}")
        return cls(**arrays)


def sigmoid_linear(x: Rows) -> Rows:
    """SiLU."""
    return np.asarray(x / (1 + np.exp(-np.clip(x, -60, 60))), np.float32)
