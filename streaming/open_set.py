"""Open-set detector: an ensemble of three-layer perceptrons, known classes against synthetic outliers.

A layer is one array (networks, 1 + inputs, outputs) for the whole ensemble, biases first; the last output of
the last layer is the outlier's. The answer is the mean over the ensemble of log p(outlier) / p(no outlier).
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Layers = Sequence[NDArray[np.floating]]
FARTHEST = 3.0  # standard deviations: what lies farther out is clipped to this


def fits(layers: Layers, entries: int) -> bool:
    """Whether the layers can be applied to the last of so many entries of an embedding."""
    if len(layers) != 3 or any(layer.ndim != 3 for layer in layers):
        return False
    chained = all(b.shape[:2] == (len(a), 1 + a.shape[2]) for a, b in pairwise(layers))
    return chained and layers[0].shape[1] - 1 <= entries and layers[-1].shape[2] >= 2


def outlier_odds(layers: Layers, z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standardised embeddings (m, D) to log odds (m,) of an outlier."""
    first, *more = layers
    inputs = z[:, 1 - first.shape[1] :]
    x = np.clip(inputs, -FARTHEST, FARTHEST).astype(np.float32) @ first[:, 1:] + first[:, :1]
    for layer in more:
        x = np.maximum(x, 0) @ layer[:, 1:] + layer[:, :1]  # (networks, m, outputs)
    odds = x[:, :, -1] - np.logaddexp.reduce(x[:, :, :-1], axis=2)
    return np.asarray(odds.mean(0), np.float64)
