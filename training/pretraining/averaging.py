"""The weighted mean of clients' models, wherever models are averaged,

    sum_c n_c x_c / sum_c n_c

in float64 and always in the same order, so that a replay gives the same bits.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.pretraining.checkpoint import Arrays


def mean_array(arrays: Sequence[NDArray[Any]], weights: Sequence[float]) -> NDArray[np.float64]:
    """The weighted mean of arrays of one shape."""
    total = np.zeros(arrays[0].shape)
    for array, weight in zip(arrays, weights, strict=True):
        total += weight * array.astype(np.float64)
    return np.asarray(total / sum(weights))


def weighted_mean(updates: Mapping[str, tuple[Mapping[str, NDArray[Any]], int]]) -> Arrays:
    """The mean of every tensor, in order of the clients' names.

    Parameters
    ----------
    updates
        For every client its tensors and its number of samples n_c.
    """
    models, samples = zip(*(updates[name] for name in sorted(updates)), strict=True)
    return {
        name: mean_array([model[name] for model in models], samples).astype(first.dtype)
        for name, first in models[0].items()
    }
