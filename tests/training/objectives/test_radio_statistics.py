"""The statistics that radio's encoder learns to predict, and the objective that asks for them."""

import numpy as np
import torch

from streaming.encoder import Encoder, iq
from streaming.shape import EncoderShape
from training.objectives.describe import Describe, DescribeSettings
from training.objectives.objective import make_objective
from training.objectives.radio_statistics import CLIP, LAGS, LEVELS, count, raw, statistics


def noise(rows, samples, seed=0):
    rng = np.random.default_rng(seed)
    parts = rng.standard_normal((rows, samples, 2)) / np.sqrt(2)
    return (parts[..., 0] + 1j * parts[..., 1]).astype(np.complex64)


def test_moments_of_the_level_are_those_that_theory_gives_for_noise():
    found = raw(iq(noise(1, 200_000)))[0].numpy()
    # A Rayleigh level of unit power: E a = sqrt(pi)/2, E a^3 = 3 sqrt(pi)/4, E a^4 = 2, E a^6 = 6.
    assert np.allclose(found[:3], [np.sqrt(np.pi) / 2, 0.75 * np.sqrt(np.pi), 2.0], rtol=0.02)
    assert np.isclose(found[3], np.log(6), rtol=0.03)
    first = 4 + len(LEVELS)
    assert np.abs(found[first : first + len(LAGS)]).max() < 0.02  # the level of white noise is white


def test_a_carrier_keeps_everything_and_noise_nothing():
    carrier = np.exp(2j * np.pi * 0.01 * np.arange(4_096))[None].astype(np.complex64)
    first = 4 + len(LEVELS) + len(LAGS)  # |E x x*| begins here, then those of x^2 and x^4
    kept = raw(iq(np.concatenate([carrier, noise(1, 4_096)])))[:, first : first + 3 * len(LAGS)].numpy()
    assert np.allclose(kept[0], 1, atol=1e-3)
    assert kept[1].max() < 0.2


def test_no_phase_or_gain_changes_a_statistic():
    x = noise(3, 512)
    assert torch.allclose(raw(iq(x)), raw(iq((x * 5 * np.exp(1j)).astype(np.complex64))), atol=2e-3)


def test_statistics_are_in_units_of_their_spread_and_bounded():
    found = statistics(iq(noise(4, 256)))
    assert found.shape == (4, count())
    assert found.abs().max() <= CLIP


def test_the_objective_asks_for_both_parts_and_teaches_the_encoder():
    shape = EncoderShape(channels=4, depth=2, reduced=8, outputs=8, pooling="mean")
    encoder = Encoder(shape)
    objective = make_objective(DescribeSettings(part=64), shape.outputs, seed=0)
    assert isinstance(objective, Describe)
    frames = noise(16, 200)
    losses = [objective.loss(encoder, frames, 8, np.random.default_rng(7)) for _ in range(2)]
    assert losses[0].item() == losses[1].item()  # all randomness comes from the generator
    losses[0].backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in encoder.parameters())
