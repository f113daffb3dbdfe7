"""Every supervised update rule against its equation, worked out in numpy on two linear layers."""

from dataclasses import replace

import numpy as np
import pytest

from tests.training.methods.small import BUDGET, Linear2, Numpy2, close, start, step, two_clients
from training.methods import pmsgd
from training.methods.fedah import ETA, FedAh
from training.methods.fedavg import FedAvg, batches
from training.methods.feddyn import FedDyn
from training.methods.fedeamc import FedeAmc
from training.methods.fedprox import FedProx
from training.methods.fedrep import FedRep
from training.methods.track import Track

RATE, SEED = 0.1, 3
# One batch an epoch: one step that order cannot change.
FULL = replace(BUDGET, rounds=2, batch=1_000, rate=RATE, optimiser="sgd")
CLIENTS = two_clients()
BY_HAND = [Numpy2(client) for client in CLIENTS]
N = [hand.n for hand in BY_HAND]


def fitted(method, budget=FULL):
    method.fit(CLIENTS, budget, SEED, Track())
    return method


def mean(parts, weights):
    total = sum(weights)
    return {n: sum(w * p[n] for w, p in zip(weights, parts, strict=True)) / total for n in parts[0]}


def test_fedavg_is_the_sample_weighted_mean_of_local_steps():
    theta = start(SEED)
    for _ in range(2):
        theta = mean([step(theta, hand.gradient(theta), RATE) for hand in BY_HAND], N)
    close(fitted(FedAvg(Linear2)).rounds.shared, theta)


def test_adam_takes_the_step_of_its_paper():
    theta = start(SEED)
    parts = []
    for hand in BY_HAND:
        g = hand.gradient(theta)  # after one step the corrected moments are g and g^2
        parts.append({n: theta[n] - RATE * g[n] / (np.abs(g[n]) + 1e-8) for n in theta})
    found = fitted(FedAvg(Linear2), replace(FULL, rounds=1, optimiser="adam")).rounds.shared
    close(found, mean(parts, N), tolerance=1e-4)  # where g is nearly 0, its sign is float32's


def test_fedprox_pulls_back_with_half_mu_times_the_squared_distance():
    theta, mu = start(SEED), 0.7
    for _ in range(2):
        parts = []
        for hand in BY_HAND:
            local = theta
            for _ in range(3):
                pull = {n: hand.gradient(local)[n] + mu * (local[n] - theta[n]) for n in theta}
                local = step(local, pull, RATE)
            parts.append(local)
        theta = mean(parts, N)
    found = fitted(FedProx(Linear2, mu=mu), replace(FULL, epochs=3))
    close(found.rounds.shared, theta)


def test_fedeamc_weighs_classes_by_the_largest_count_over_theirs():
    theta = start(SEED)
    weights = [np.bincount(hand.y, minlength=4).max() / np.bincount(hand.y, minlength=4) for hand in BY_HAND]
    assert weights[0].tolist() == [1, 2, 4, 4]
    for _ in range(2):
        pairs = zip(BY_HAND, weights, strict=True)
        theta = mean([step(theta, hand.gradient(theta, w), RATE) for hand, w in pairs], N)
    close(fitted(FedeAmc(Linear2)).rounds.shared, theta)


def test_feddyn_follows_its_three_equations():
    a, cloud = 0.2, start(SEED)
    h = [{n: np.zeros_like(v) for n, v in cloud.items()} for _ in CLIENTS]
    for _ in range(2):
        parts = []
        for i, hand in enumerate(BY_HAND):
            strength = a / (len(N) * N[i] / sum(N))
            local = cloud
            for _ in range(2):
                g = hand.gradient(local)
                g = {n: g[n] + strength * (h[i][n] - cloud[n]) + strength * local[n] for n in g}
                norm = np.sqrt(sum((v**2).sum() for v in g.values()))
                assert norm < 10  # nothing is cut here
                local = step(local, g, RATE)
            h[i] = {n: h[i][n] + local[n] - cloud[n] for n in local}
            parts.append(local)
        average = mean(parts, [1, 1])
        cloud = {n: average[n] + mean(h, [1, 1])[n] for n in average}
    method = fitted(FedDyn(Linear2, strength=a), replace(FULL, epochs=2))
    close(method.personal(0), average)
    close(method.rounds.shared, cloud)
    close(method.rounds.own[1], h[1])


def test_feddyn_cuts_gradients_at_norm_ten():
    method, theta = FedDyn(Linear2, strength=1e4), start(SEED)
    found = fitted(method, replace(FULL, rounds=1, rate=1e-3))
    moved = [found.rounds.own[i] for i in range(2)]  # h is what a client moved by in its first round
    for i, hand in enumerate(BY_HAND):
        norm = np.sqrt(sum((v**2).sum() for v in moved[i].values()))
        assert norm <= 1e-3 * 10 * (1 + 1e-5)
        # the first gradient is f's alone: the two terms cancel at theta = theta^t
        assert norm == pytest.approx(
            1e-3 * min(10, np.sqrt(sum((v**2).sum() for v in hand.gradient(theta).values()))), rel=1e-3
        )


def test_pmsgd_takes_the_rate_with_the_lowest_training_loss(monkeypatch):
    monkeypatch.setattr(pmsgd, "SHARE", 1.0)  # all frames: numpy need not know which were drawn
    monkeypatch.setattr(pmsgd, "RATES", (30.0, 0.5, 1e-4))
    theta, rates = start(SEED), []
    for _ in range(2):
        parts = []
        for hand in BY_HAND:
            trials = {rate: hand.loss(step(theta, hand.gradient(theta), rate)) for rate in pmsgd.RATES}
            rates.append(min(trials, key=trials.__getitem__))
            parts.append(step(theta, hand.gradient(theta), rates[-1]))
        theta = mean(parts, N)
    method = fitted(pmsgd.Pmsgd(Linear2))
    assert list(method.rates.values()) == rates[-2:]
    close(method.rounds.shared, theta)


def test_pmsgd_tries_a_fifth_of_the_frames(monkeypatch):
    seen = []
    method = pmsgd.Pmsgd(Linear2)
    monkeypatch.setattr(
        method,
        "trial",
        lambda client, number, shared, rows, rate: seen.append((client, rate, len(rows))) or rate,
    )
    fitted(method, replace(FULL, rounds=1))
    assert seen == [(0, r, 3) for r in pmsgd.RATES] + [(1, r, 2) for r in pmsgd.RATES]
    assert set(method.rates.values()) == {1e-4}  # the smallest "loss"


def test_fedrep_trains_heads_then_bodies_and_averages_bodies_alone():
    theta = start(SEED)
    heads = [{n: theta[n] for n in theta if n.startswith("head")} for _ in CLIENTS]
    for _ in range(2):
        parts = []
        for i, hand in enumerate(BY_HAND):
            local = theta | heads[i]
            local = step(local, hand.gradient(local), RATE, "head")
            local = step(local, hand.gradient(local), RATE, "body")
            heads[i] = {n: local[n] for n in heads[i]}
            parts.append(local)
        theta = mean(parts, N)
    method = fitted(FedRep(Linear2))
    for i, hand in enumerate(BY_HAND):
        last = theta | heads[i]
        close(method.personal(i), step(last, hand.gradient(last), RATE, "head"))


def test_fedah_mixes_heads_by_weights_that_are_learnt():
    theta, names = start(SEED), ("head.weight", "head.bias")
    local_heads = [{n: theta[n] for n in names} for _ in CLIENTS]
    weights = [{n: np.ones_like(theta[n]) for n in names} for _ in CLIENTS]

    def mix(i, theta):
        apart = {n: theta[n] - local_heads[i][n] for n in names}
        head = {n: local_heads[i][n] + apart[n] * weights[i][n] for n in names}
        g = BY_HAND[i].gradient(theta | head)
        weights[i] = {n: np.clip(weights[i][n] - ETA * g[n] * apart[n], 0, 1) for n in names}
        return {n: local_heads[i][n] + apart[n] * weights[i][n] for n in names}

    rate = 1.0  # heads that differ enough for W to move
    for _ in range(3):
        parts = []
        for i, hand in enumerate(BY_HAND):
            local = theta | mix(i, theta)
            local = step(local, hand.gradient(local), rate, "head")
            local = step(local, hand.gradient(local), rate, "body")
            local_heads[i] = {n: local[n] for n in names}
            parts.append(local)
        theta = mean(parts, N)
    method = fitted(FedAh(Linear2), replace(FULL, rounds=3, rate=rate))
    for i in range(2):
        close(method.personal(i), theta | mix(i, theta), tolerance=1e-5)
        assert min(w.min() for w in weights[i].values()) < 1  # W did move


def test_batches_hold_every_row_once_and_no_batch_of_one():
    rng = np.random.default_rng(0)
    found = [batch.numpy() for batch in batches(np.arange(10), 4, rng)]
    assert sorted(np.concatenate(found)) == list(range(10))
    assert [len(b) for b in batches(np.arange(9), 4, rng)] == [4, 4]
    assert [len(b) for b in batches(np.arange(9), 4, rng, most=1)] == [4]
