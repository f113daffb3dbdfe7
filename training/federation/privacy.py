"""Differential privacy of whole updates: each is clipped, their sum gets Gaussian noise.

    theta = B + (sum_c d_c min(1, C / |d_c|) + N(0, (z C)^2)) / n

The unit is one station's round: with or without a station's update, the probability of any outcome differs by
at most e^epsilon, but for a probability delta. Every station counts alike, for a weight would have to be kept
secret, too. Epsilons of successive rounds are composed by the RDP accountant of Opacus, every station being
in every round.

>>> round(epsilon_after(noise_for(8.0, 1e-5, rounds=10), 1e-5, rounds=10), 1)
8.0
"""

import warnings
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from streaming.errors import ConfigError
from training.federation.codec import Floats


@lru_cache
def epsilon_after(noise: float, delta: float, rounds: int) -> float:
    """What so many rounds with a noise multiplier z have spent."""
    from opacus.accountants import RDPAccountant

    if not rounds:
        return 0.0
    accountant = RDPAccountant()
    accountant.history = [(noise, 1.0, rounds)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at the end of its range of orders it is still an upper bound
        return float(accountant.get_epsilon(delta))


def noise_for(epsilon: float, delta: float, rounds: int) -> float:
    """The noise multiplier z with which so many rounds spend at most this epsilon."""
    from opacus.accountants.utils import get_noise_multiplier

    if epsilon <= 0 or not 0 < delta < 1:
        raise ConfigError(f"epsilon is {epsilon:g}, delta {delta:g}; expected above 0, and from 0 to 1")
    return float(
        get_noise_multiplier(
            target_epsilon=epsilon, target_delta=delta, sample_rate=1.0, steps=rounds, accountant="rdp"
        )
    )


def norm(delta: Floats) -> float:
    """Of all tensors together."""
    return float(np.sqrt(sum(np.square(array, dtype=np.float64).sum() for array in delta.values())))


def clipped(delta: Floats, clip: float) -> Floats:
    """A whole update with a norm of at most `clip`."""
    share = min(1.0, clip / max(norm(delta), 1e-300))
    return {name: (share * array).astype(np.float32) for name, array in delta.items()}


def own_part(delta: Floats, clip: float, noise: float, stations: int, rng: np.random.Generator) -> Floats:
    """A station's clipped update with its part of the noise; that of so many adds up to all of it."""
    deviation = noise * clip / np.sqrt(stations)
    return {
        name: (array + deviation * rng.standard_normal(array.shape)).astype(np.float32)
        for name, array in clipped(delta, clip).items()
    }


def private_model(
    base: Floats, updates: Iterable[Floats], clip: float, noise: float, rng: np.random.Generator
) -> Floats:
    """The next model; updates are read one after the other."""
    total = {name: np.zeros(array.shape) for name, array in base.items()}
    count = 0
    for update in updates:
        for name, array in clipped(update, clip).items():
            total[name] += array
        count += 1
    if noise:
        total = {n: array + noise * clip * rng.standard_normal(array.shape) for n, array in total.items()}
    return {name: (base[name] + total[name] / count).astype(np.float32) for name in base}
