"""Differential privacy of updates: clipping and noise against numpy, epsilon against the exact one."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm as normal

from service.federation.page import metrics, page
from streaming.errors import ConfigError
from tests.training.federation.support import a_model, body_of, federation
from training.federation.codec import sha256_of
from training.federation.coordinator import intake
from training.federation.manifest import Terms
from training.federation.privacy import clipped, epsilon_after, noise_for, norm, private_model


def exact_epsilon(noise, delta, rounds):
    """Of the Gaussian mechanism (Balle and Wang, 2018, Theorem 8); rounds are one with less noise."""
    z = noise / np.sqrt(rounds)

    def gap(epsilon):
        low, high = normal.cdf(0.5 / z - epsilon * z), normal.logcdf(-0.5 / z - epsilon * z)
        return low - np.exp(epsilon + high) - delta

    return brentq(gap, 0, 200)


@pytest.mark.parametrize(("noise", "rounds"), [(1.0, 1), (2.0, 10), (5.0, 100), (20.0, 50)])
def test_the_accountant_is_never_below_the_exact_epsilon_and_close_to_it(noise, rounds):
    exact = exact_epsilon(noise, 1e-5, rounds)
    assert exact <= epsilon_after(noise, 1e-5, rounds) <= 1.25 * exact


@pytest.mark.parametrize("epsilon", [1.0, 8.0])
def test_the_noise_for_an_epsilon_spends_no_more(epsilon):
    assert 0.95 * epsilon <= epsilon_after(noise_for(epsilon, 1e-5, 10), 1e-5, 10) <= epsilon


def test_a_whole_update_is_clipped_to_the_norm():
    delta = a_model(1, 3.0)
    flat = np.concatenate([array.ravel() for array in delta.values()]).astype(np.float64)
    assert norm(delta) == pytest.approx(np.linalg.norm(flat))
    assert norm(clipped(delta, 0.7)) == pytest.approx(0.7, rel=1e-6)
    small = a_model(1, 1e-3)
    assert all((clipped(small, 0.7)[name] == small[name]).all() for name in small)


def test_the_noise_is_gaussian_with_the_deviation_that_was_asked_for():
    base = {"w": np.zeros(200_000, np.float32)}
    updates = [{"w": np.zeros(200_000, np.float32)}] * 4
    model = private_model(base, updates, clip=0.5, noise=3.0, rng=np.random.default_rng(1))
    assert model["w"].std() == pytest.approx(3.0 * 0.5 / 4, rel=0.01)
    assert abs(model["w"].mean()) < 4 * 3.0 * 0.5 / 4 / np.sqrt(200_000)


def send(coordinator, station, delta, **meta):
    body = body_of(coordinator, delta, **meta)
    path = coordinator.store.temporary()
    path.write_bytes(body)
    number = coordinator.current()["number"]
    return intake.accept(coordinator, station, number, "float32", path, sha256_of(body))


def test_a_station_with_a_huge_update_moves_the_model_no_further_than_the_others(tmp_path):
    names = ("s1", "s2", "s3", "s4")
    coordinator, _ = federation(tmp_path, 2, names, noise=1e-6, clip=1.0)
    before = coordinator.models.open(coordinator.models.of(0)["float32"]).arrays()
    for name in names[:3]:
        send(coordinator, name, {n: 0 * a for n, a in a_model().items()})
    huge = a_model(5, 1e4)
    send(coordinator, names[3], huge, examples="1000000")
    assert coordinator.tick()
    after = coordinator.models.open(coordinator.models.of(1)["float32"]).arrays()
    step = {name: after[name] - before[name] for name in after}
    assert norm(step) == pytest.approx(1.0 / 4, rel=1e-3)  # counts as one of four, whatever it claims
    rows = coordinator.store.query("SELECT state FROM updates WHERE station = 's4'")
    assert rows == [{"state": "aggregated"}]


def test_what_was_spent_is_told_after_every_round(tmp_path):
    coordinator, _ = federation(tmp_path, 3, ("s1", "s2"), noise=2.0, clip=1.0)
    for generation in (1, 2):
        for name in ("s1", "s2"):
            send(coordinator, name, a_model(generation, 0.01))
        coordinator.tick()
        spent = epsilon_after(2.0, 1e-5, generation)
        assert f"epsilon {spent:.3g} at delta 1e-05" in page(coordinator)
        assert f"wavetell_federation_epsilon {spent:.6g}" in metrics(coordinator)
    notes = coordinator.store.query("SELECT note FROM rounds WHERE state = 'PUBLISHED' ORDER BY number")
    assert [row["note"].split()[1] for row in notes] == [f"{epsilon_after(2.0, 1e-5, n):.3g}" for n in (1, 2)]


@pytest.mark.parametrize("wrong", [{"noise": 1.0}, {"clip": 1.0}, {"noise": -1.0, "clip": 1.0}])
def test_noise_needs_a_clip(wrong):
    with pytest.raises(ConfigError, match="noise and clip"):
        Terms(**wrong)
