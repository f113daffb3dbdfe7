"""The closed-form outputs: directions with known correlations, sums of clients, and distances."""

import numpy as np
import pytest
import torch

from streaming.encoder import Encoder, iq
from streaming.shape import EncoderShape
from streaming.weights import folded
from training.pretraining.canonical import (
    Agreement,
    added,
    agreement,
    directions,
    pooled,
    round_weights,
    set_outputs,
)

SMALL = EncoderShape(channels=4, depth=2, reduced=6, outputs=9, pooling="mean")


def sums(p, q):
    own, cross = (p.T @ p + q.T @ q) / 2, (p.T @ q + q.T @ p) / 2
    return Agreement(len(p), (p + q).sum(0) / 2, own, cross)


def test_directions_find_what_two_views_share():
    rng = np.random.default_rng(0)
    shared, mix = rng.normal(size=(200_000, 3)), np.array([[1, 0.5, 0], [0, 1, 0.5], [0.3, 0, 1]])
    noise = np.array([0.5, 1.0, 3.0])
    p, q = ((shared + noise * rng.normal(size=shared.shape)) @ mix + 7.0 for _ in range(2))
    rho, V = directions(sums(p, q))
    assert rho == pytest.approx(1 / (1 + noise**2), abs=0.01)  # var(signal) / (var(signal) + var(noise))
    source = np.linalg.inv(mix)  # the directions that undo the mixing
    for i in range(3):
        cosine = V[:, i] @ source[:, i] / np.linalg.norm(V[:, i]) / np.linalg.norm(source[:, i])
        assert abs(cosine) == pytest.approx(1, abs=0.01)


def test_sums_do_not_depend_on_who_has_which_frames():
    rng = np.random.default_rng(1)
    frames = (rng.standard_normal((30, 20)) + 1j * rng.standard_normal((30, 20))).astype(np.complex64)
    encoder = Encoder(SMALL, seed=2)
    parts = {"b": agreement(encoder, frames[:12]), "a": agreement(encoder, frames[12:])}
    whole, together = agreement(encoder, frames), added(parts)
    assert together.count == whole.count == 30
    for name in ("mean", "own", "cross"):
        assert np.allclose(getattr(together, name), getattr(whole, name), rtol=1e-5)


def test_sums_are_those_of_the_halves_pooled_features():
    rng = np.random.default_rng(3)
    frames = (rng.standard_normal((5, 8)) + 1j * rng.standard_normal((5, 8))).astype(np.complex64)
    encoder = Encoder(SMALL, seed=2)
    halves = [frames[:, :4], frames[:, 4:]]
    p, q = (
        encoder.pool(encoder.features(iq(h / np.sqrt((abs(h) ** 2).mean(1, keepdims=True))))).detach().numpy()
        for h in halves
    )
    expected, found = sums(p, q), agreement(encoder, frames)
    for name in ("mean", "own", "cross"):
        assert np.allclose(getattr(found, name), getattr(expected, name), rtol=1e-4, atol=1e-6)


def test_distances_of_the_outputs_are_those_of_the_faded_directions():
    rng = np.random.default_rng(4)
    frames = (rng.standard_normal((50, 20)) + 1j * rng.standard_normal((50, 20))).astype(np.complex64)
    encoder = Encoder(SMALL, seed=2)
    total = agreement(encoder, frames)
    rho, V = directions(total)
    set_outputs(encoder, total, power=1.5)
    with torch.no_grad():
        p = pooled(encoder, iq(frames))
        z = encoder.linear(torch.from_numpy(p).float()).numpy()
    faded = (p @ V) * rho**1.5
    for i, j in ((0, 1), (2, 7)):
        assert np.linalg.norm(z[i] - z[j]) == pytest.approx(np.linalg.norm(faded[i] - faded[j]), rel=1e-3)


def test_rounded_weights_are_bfloat16s_nearest_to_what_they_were():
    encoder = Encoder(SMALL, seed=5)
    before = folded(encoder)
    round_weights(encoder)
    for was, block in zip(before, folded(encoder), strict=True):
        for old, new in ((was.conv1.taps, block.conv1.taps), (was.conv2.taps, block.conv2.taps)):
            nearest = torch.from_numpy(old).bfloat16().float().numpy()
            assert np.allclose(new, nearest, rtol=3e-7, atol=0)  # but for weight-norm's own rounding
            assert np.array_equal(torch.from_numpy(new).bfloat16().float().numpy(), nearest)
