"""The delay is counted from the true change to the first of stable right answers."""

import numpy as np
import pytest

from benchmarks.accuracy.follow import delay, quantile
from benchmarks.accuracy.forgetting import Follower, Heard, Trial, cut, found_window, on_paper
from streaming.bundle import Bundle
from streaming.bundle_meta import Meta
from streaming.changes import Changes
from streaming.encoder import Encoder, EncoderShape
from streaming.engine import Hops, open_engine
from streaming.intake import LevelSettings
from tests.models import tiny_head

HOP, WINDOW = 50, 200


@pytest.fixture(scope="module")
def model():
    encoder = Encoder(EncoderShape(channels=4, depth=2, reduced=6, outputs=5), seed=1)
    head = tiny_head(encoder, name="live", mode="live", window=WINDOW, hop=HOP)
    bundle = Bundle(encoder, {"live": head}, Meta(LevelSettings(agc_samples=500.0)), "tiny")
    return Follower(bundle, head, open_engine(encoder, HOP, "torch"))


def test_the_delay_ends_with_the_first_of_stable_answers():
    labels = np.array([0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1])
    assert delay(labels, 1, change=100.0, hop=50, stable=3) == 5 * 50 - 100
    assert delay(labels, 1, change=100.0, hop=50, stable=4) == 9 * 50 - 100
    assert delay(labels, 1, change=100.0, hop=50, stable=5) == np.inf


def test_right_answers_before_the_change_do_not_count():
    assert delay(np.ones(10, int), 1, change=220.0, hop=50, stable=2) == 250 - 220


def test_quantiles_take_what_never_came_as_infinite():
    assert quantile([1.0, 2.0, float("inf")], 0.5) == 2
    assert quantile([1.0, 2.0, float("inf")], 0.9) == np.inf


def test_a_trial_is_the_first_class_then_the_second(model):
    trial = on_paper(model.bundle, ("BPSK", "QPSK"), 30.0, seed=1)
    squared = trial.samples.astype(complex) ** 2
    at = round(trial.change)
    turns = np.exp(-4j * np.pi * 1e-4 * np.arange(len(squared)))
    before, after = abs((squared * turns)[:at].mean()), abs((squared * turns)[at:].mean())
    assert before > 0.9
    assert after < 0.1


def heard(total):
    """Hops with these features; the samples do not count where a model has no features."""
    return Heard(np.zeros(len(total) * HOP, np.complex64), Hops(total, total))


def test_once_a_change_is_found_only_the_newest_hops_count(model):
    total = np.random.default_rng(3).standard_normal((240, 6)).astype(np.float32)
    total[180:] += 4
    (at,) = model.changes(heard(total))
    trial = Trial(("A", "B"), np.zeros(0, np.complex64), 3000.0, 1.0, 1.0)
    found, plain = found_window(model, trial, heard(total)), model.labels(heard(total), False)
    assert (found[: at - 1] == plain[: at - 1]).all()
    since = heard(total[at - Changes(HOP).recent :])
    assert (found[at - 1 :] == model.labels(since, True)[Changes(HOP).recent - 1 :]).all()


def test_an_emptied_window_sees_nothing_from_before(model):
    rng = np.random.default_rng(4)
    old, new = rng.standard_normal((2, 20, 6)).astype(np.float32)
    both = heard(np.concatenate([old, new]))
    np.testing.assert_array_equal(cut(model, both, [20])[20:], model.labels(heard(new), True))
