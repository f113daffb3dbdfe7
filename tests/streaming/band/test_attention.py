"""Attention: a budget thins answers of what is known first, and follows the queue of the stream."""

import itertools
import math

import numpy as np
import pytest

from streaming.band.attention import LEAST, Attention
from streaming.band.box import Box
from streaming.band.evidence import Question
from streaming.band.pipeline import BandPipeline
from streaming.block import Block
from streaming.engine import open_engine
from tests.service.conftest import SHORT_HOP, small_bundle
from tests.service.scenes import RATE, band

NOTHING = np.empty(0, np.complex64)


def questions(per_second, seconds, begins=None):
    times = np.arange(1, round(per_second * seconds) + 1) / per_second
    return [Question(NOTHING, 0.0, t, 0.0, begins, Box(0, 1, 0, 0), 1, 1.0, False) for t in times.tolist()]


def test_without_a_budget_everything_is_answered():
    attention = Attention()
    assert len(attention.choose(questions(1000, 2), 1.0)) == 2000
    assert (attention.answered, attention.thinned) == (2000, 0)


@pytest.mark.parametrize("budget", [5.0, 50.0])
def test_a_budget_is_kept_and_what_is_left_out_is_counted(budget):
    attention = Attention()
    attention.set_budget(budget)
    chosen = attention.choose(questions(1000, 10), 1.0)
    assert len(chosen) == pytest.approx(10 * budget, abs=1)
    assert attention.thinned == 10_000 - len(chosen)


def test_a_new_emission_is_answered_where_a_known_one_is_not():
    attention = Attention()
    attention.set_budget(2.0)
    attention.choose(questions(1000, 1), 1.0)
    assert attention.choose(questions(1000, 1.001), 1.0)[:0] == []
    assert len(attention.choose(questions(1000, 0.005, "signal"), 1.0)) == 5


def test_the_budget_falls_while_the_queue_is_full_and_rises_again_without_bound():
    attention, budgets = Attention(), []
    for i in range(200):
        attention.choose([q for q in questions(100, 0.05)], 1.0)
        attention.adapt(0.5, i / 20)
        budgets.append(attention.budget)
    assert budgets[0] < 100
    assert all(b <= a for a, b in itertools.pairwise(budgets))
    assert budgets[-1] == LEAST
    for i in range(200, 400):
        attention.adapt(0.1, i / 20)  # neither full nor empty
    assert attention.budget == LEAST
    for i in range(400, 800):
        attention.adapt(0.0, i / 20)
    assert attention.budget == math.inf


def test_what_is_thinned_does_not_depend_on_how_the_stream_is_cut():
    bundle, x = small_bundle(), band(2.0)
    found = []
    for size in (len(x), 16_384, 5_001):
        engine = open_engine(bundle.encoder, SHORT_HOP, "torch")
        pipeline = BandPipeline(bundle, bundle.heads["live"], engine)
        pipeline.attention.set_budget(4.0)
        predictions = []
        for start in range(0, len(x), size):
            predictions += pipeline.push(Block(x[start : start + size], start, RATE))
        predictions += pipeline.flush()
        answers = sorted((p.start, p.end, p.label) for p in predictions if p.emission)
        found.append((answers, pipeline.attention.thinned))
    assert found[0][1] > 0
    assert found[0] == found[1] == found[2]
