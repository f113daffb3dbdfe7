"""Attention: answers keep to their share of the processor, new emissions first, and nobody is left out."""

from collections import Counter

import numpy as np
import pytest

from streaming.band.attention import BURST_S, DEBT_S, OLD_S, Attention
from streaming.band.box import Box
from streaming.band.evidence import Question
from streaming.band.pipeline import BandPipeline
from streaming.block import Block
from streaming.engine import open_engine
from tests.service.conftest import SHORT_HOP, small_bundle
from tests.service.scenes import RATE, band

NOTHING = np.empty(0, np.complex64)
PRICE_S, JUDGED_S = 0.002, 0.001


def question(emission, at_s):
    return Question(NOTHING, 0.0, at_s, 0.0, None, Box(0, 1, 0, 0), emission, 1.0, False)


def ask(attention, seconds, emissions, ticks_per_s=50):
    """A question about each of these emissions in every tick; those that were answered."""
    begin, answered = max(0.0, attention.at_s), []
    for i in range(1, round(seconds * ticks_per_s) + 1):
        at_s = begin + i / ticks_per_s
        attention.advance(at_s)
        answered += attention.choose([question(emission, at_s) for emission in emissions], 1.0)
    return answered


def test_without_a_limit_everything_is_answered():
    attention = Attention()
    assert len(ask(attention, 2, range(20))) == 2000
    assert (attention.answered, attention.thinned) == (2000, 0)
    assert attention.judges()
    assert (attention.judged, attention.unjudged) == (1, 0)


@pytest.mark.parametrize("share", [0.02, 0.2])
def test_a_share_is_kept_and_what_is_left_out_is_counted(share):
    attention = Attention()
    attention.afford(share, PRICE_S, JUDGED_S)
    answered = ask(attention, 10, range(20))
    free_s = DEBT_S + PRICE_S  # that those never answered may owe
    assert 10 * share - PRICE_S <= PRICE_S * len(answered) <= 10 * share + free_s
    assert attention.answered == len(answered)
    attention.choose_all([])
    assert attention.answered + attention.thinned == 10_000


def test_one_that_was_never_answered_comes_first_and_the_others_take_turns():
    attention = Attention()
    attention.afford(0.1, PRICE_S, JUDGED_S)  # an answer each tick
    ask(attention, 10, range(10))
    answered = Counter(one.emission for one in ask(attention, 10, range(10)))
    assert max(answered.values()) - min(answered.values()) <= 2
    attention.advance(attention.at_s + 0.02)
    chosen = attention.choose([question(n, attention.at_s) for n in (1, 2, 99)], 1.0)
    assert 99 in [one.emission for one in chosen]


def test_what_is_answered_late_is_not_old():
    attention = Attention()
    attention.afford(0.02, PRICE_S, JUDGED_S)
    ask(attention, 1, range(10))
    for _ in range(200):
        attention.advance(attention.at_s + 0.005)
        asked = [question(n, attention.at_s) for n in range(10)]
        assert all(attention.at_s - one.end <= OLD_S + 0.005 for one in attention.choose(asked, 1.0))


def test_judgements_are_left_out_before_answers():
    attention = Attention()
    attention.afford(0.1, PRICE_S, JUDGED_S)
    ask(attention, 1, range(10))
    attention.advance(attention.at_s)
    judged = sum(attention.judges() for _ in range(100))
    assert judged <= BURST_S / JUDGED_S + 1
    assert attention.unjudged == 100 - judged


def test_what_is_thinned_does_not_depend_on_how_the_stream_is_cut():
    bundle, x = small_bundle(), band(2.0)
    found = []
    for size in (len(x), 16_384, 5_001):
        engine = open_engine(bundle.encoder, SHORT_HOP, "torch")
        pipeline = BandPipeline(bundle, bundle.heads["live"], engine)
        pipeline.attention.afford(0.004, 0.001, 0.001)
        predictions = []
        for start in range(0, len(x), size):
            predictions += pipeline.push(Block(x[start : start + size], start, RATE))
        predictions += pipeline.flush()
        answers = sorted((p.start, p.end, p.label) for p in predictions if p.emission)
        found.append((answers, pipeline.attention.thinned))
    assert found[0][1] > 0
    assert found[0] == found[1] == found[2]
