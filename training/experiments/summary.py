"""Cells of several seeds as one number with its interval.

Right answers and frames are added up over seeds for each client; the mean is the plain one over clients, as
the paper's, with the 95 % interval that the number of test frames gives. `spread` is the standard deviation
of the seeds' own means: what another seed may change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from training.evaluation.accuracy import Accuracy, mean_share

Result = dict[str, Any]


@dataclass(frozen=True)
class Summary:
    """In percent."""

    mean: float
    half: float  # of the 95 % interval
    spread: float  # over seeds; 0 of one
    seeds: int
    frames: int  # test frames in all


def summarise(results: Sequence[Result], client: int | None = None) -> Summary:
    """Cells that differ only by their seed."""
    by_seed = [chosen(result, client) for result in results]
    clients = [
        Accuracy(sum(a.right for a in same), sum(a.total for a in same))
        for same in zip(*by_seed, strict=False)
    ]
    share, half = mean_share(clients)
    means = [mean_share(accuracies)[0] for accuracies in by_seed]
    spread = float(np.std(means, ddof=1)) if len(means) > 1 else 0.0
    return Summary(
        100 * share, 100 * half, 100 * spread, len(results), sum(accuracy.total for accuracy in clients)
    )


def chosen(result: Result, client: int | None) -> list[Accuracy]:
    """The accuracies of one client or of all."""
    found = list(result["result"]["clients"].values())
    return [
        Accuracy(round(one["accuracy"] * one["frames"]), one["frames"])
        for one in (found if client is None else [found[client]])
    ]


def by_snr(results: Sequence[Result]) -> list[tuple[float, Accuracy]]:
    """SNR in dB and the accuracy there, over seeds and clients."""
    right: dict[float, int] = {}
    total: dict[float, int] = {}
    for result in results:
        for point in result["result"]["by_snr"]:
            snr = point["snr_db"]
            right[snr] = right.get(snr, 0) + round(point["accuracy"] * point["frames"])
            total[snr] = total.get(snr, 0) + point["frames"]
    return [(snr, Accuracy(right[snr], total[snr])) for snr in sorted(total)]


def confusion(results: Sequence[Result]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Counts, truth down, answers across."""
    return np.asarray(np.sum([result["result"]["confusion"] for result in results], axis=0), np.int64)
