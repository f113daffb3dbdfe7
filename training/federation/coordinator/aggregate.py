"""From the stations' updates to the next model, in order of the stations' names and in float64.

    theta_c = B_c + d_c,      mean      sum_c n_c theta_c / sum_c n_c          (the paper's Algorithm 1)
                              clipped   the same with d_c min(1, median|d| / |d_c|)
                              trimmed   of every coordinate, the mean without the k smallest and k largest
                              median    of every coordinate

B_c is the model that station c started from, in its own precision. Files are read in pieces of all stations
at once, so that memory does not grow with their number, and a replay gives the same bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.federation.codec import Body, Floats, pieces
from training.federation.manifest import Manifest, Method
from training.pretraining.averaging import mean_array

BUDGET = 1 << 21  # values of all stations in memory at once


@dataclass(frozen=True)
class Vote:
    """One station's update."""

    station: str
    body: Body
    base: Body
    examples: int
    norm: float


def outliers(votes: Sequence[Vote], factor: float) -> dict[str, str]:
    """Why stations are refused whose norm exceeds `factor` medians of a round of three stations or more."""
    if len(votes) < 3:
        return {}
    middle = float(np.median([vote.norm for vote in votes]))
    return {
        vote.station: f"its norm is {vote.norm:.3g}; the round's median is {middle:.3g}, and at most "
        f"{factor:g} times that counts"
        for vote in votes
        if vote.norm > factor * middle
    }


def aggregate(votes: Sequence[Vote], manifest: Manifest, method: Method, trim: float = 0.0) -> Floats:
    """The next model."""
    votes = sorted(votes, key=lambda vote: vote.station)
    clip = np.ones(len(votes))
    if method == "clipped":
        norms = np.array([vote.norm for vote in votes])
        clip = np.minimum(1.0, np.median(norms) / np.maximum(norms, 1e-300))
    weights = np.array([vote.examples for vote in votes], np.float64)
    model: Floats = {name: np.empty(manifest.size(name), np.float32) for name in manifest.tensors}
    for name, start, stop in pieces(manifest, max(1, BUDGET // len(votes))):
        bases = {
            body.path: body.read(name, start, stop) for body in {v.base.path: v.base for v in votes}.values()
        }
        rows = np.empty((len(votes), stop - start))
        for i, vote in enumerate(votes):
            update = clip[i] * vote.body.read(name, start, stop).astype(np.float64)
            rows[i] = (bases[vote.base.path] + update).astype(np.float32)  # what the station had: float32
        model[name][start:stop] = combine(rows, weights, method, trim)
    return {name: array.reshape(manifest.tensors[name]) for name, array in model.items()}


def combine(
    rows: NDArray[np.float64], weights: NDArray[np.float64], method: Method, trim: float
) -> NDArray[np.floating[Any]]:
    """(stations, values) to (values,)."""
    if method == "median":
        return np.asarray(np.median(rows, axis=0))
    if method == "trimmed":
        out = int(trim * len(rows))
        return np.asarray(np.sort(rows, axis=0)[out : len(rows) - out].mean(axis=0))
    return mean_array(list(rows), weights.tolist())
