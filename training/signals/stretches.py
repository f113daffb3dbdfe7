"""Training batches: many stretches, each with its past, made as a stream makes them.

A stretch is what an engine that has run for a while sees last. In some, the past begins with another signal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streaming.errors import ConfigError
from training.datasets.frames import Frames
from training.signals.classes import check_class
from training.signals.conditions import Conditions
from training.signals.emission import Emission
from training.signals.receiver import Receiver
from training.signals.stream import ramped


@dataclass(frozen=True)
class Stretches(Frames):
    """Frames (n, past + samples), and the truth about the emission that each ends with."""

    offset: NDArray[np.float32]  # (n,), of the occupied band's centre, cycles per sample
    bandwidth: NDArray[np.float32]  # (n,), 99 %
    symbol_rate: NDArray[np.float32]  # (n,)
    since: NDArray[np.int64]  # (n,), index of its first sample: 0, or where the past changes


def make_stretches(
    classes: Sequence[str],
    counts: Sequence[int],
    *,
    samples: int,
    past: int,
    conditions: Conditions,
    seed: int,
    change: float = 0.25,
) -> Stretches:
    """Stretches with these class counts, in random order; the same seed gives the same.

    In a share `change` of them the emission begins within the past, after another class.
    """
    for name in classes:
        check_class(name)
    if len(counts) != len(classes) or min(counts) < 0 or samples < 1 or past < 0:
        raise ConfigError(
            f"counts are {tuple(counts)}, samples {samples}, past {past}; expected {len(classes)} numbers of "
            "at least 0, samples of at least 1 and a past of at least 0"
        )
    rng = np.random.default_rng(seed)
    label = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    n, T = len(label), past + samples
    iq = np.empty((n, T), np.complex64)
    truth = np.empty((n, 4), np.float32)
    since = np.where(rng.random(n) < change, rng.integers(0, past + 1, n), 0)
    for i, (index, begin) in enumerate(zip(label.tolist(), since.tolist(), strict=True)):
        own = rng.spawn(1)[0]
        emission = Emission(classes[index], conditions, own)
        clean = emission.next(T - begin)
        level = emission.power
        if begin:
            other = Emission(classes[int(own.integers(len(classes)))], conditions, own)
            clean = np.concatenate([ramped(other.next(begin), 0, begin), ramped(clean, 0, T)])
            level = max(level, other.power)
        iq[i] = Receiver(conditions, 1 + level, own).push(clean)
        truth[i] = emission.snr_db, emission.offset, emission.bandwidth, emission.symbol_rate
    snr_db, offset, bandwidth, symbol_rate = truth.T
    return Stretches(iq, label, snr_db, tuple(classes), offset, bandwidth, symbol_rate, since)
