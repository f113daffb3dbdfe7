"""Newcomers: what was written apart keeps to the rules, no type is in both sets, the figures are right."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.accuracy.newcomers import SETS, Heard, Newcomers, Played, as_text, draw, hear, judge
from streaming.encoder import Encoder
from streaming.shape import EncoderShape
from tests.models import tiny_head
from training.evaluation.radio_evaluate import Embedded
from training.signals.measure import occupied

SHAPE = EncoderShape(channels=2, depth=1, reduced=2, outputs=2)
TYPES = [(types, name) for types, names in SETS.items() for name in names]


@pytest.mark.parametrize(("types", "name"), TYPES, ids=[f"{types} {name}" for types, name in TYPES])
def test_each_type_is_a_steady_signal_within_its_band(types, name):
    make = SETS[types][name]
    x = make(np.random.default_rng(5), 30_000)
    assert x.dtype == np.complex64
    assert x.shape == (30_000,)
    assert np.square(np.abs(x)).mean() == pytest.approx(1, abs=0.1)
    low, high = occupied(x)
    assert 0.03 < high - low < 0.62
    loud = np.flatnonzero(np.abs(x) > 0.1)
    assert np.diff(loud).max() < 300  # no pause that would end it
    assert not np.array_equal(x, make(np.random.default_rng(6), 30_000))


def test_no_type_is_in_both_sets():
    assert not {*SETS["practice"]} & {*SETS["exam"]}


def test_a_signal_is_the_same_whoever_makes_it_and_lies_where_it_is_said_to():
    one, again = (Newcomers("exam", 3).make(4) for _ in range(2))
    assert np.array_equal(one.samples, again.samples)
    assert one.snr_db == again.snr_db
    assert 0 <= one.snr_db <= 30
    assert len(one.samples) > 62_500
    spectrum = np.abs(np.fft.fft(one.samples[-62_500:])) ** 2
    f = np.fft.fftfreq(62_500, 1 / one.rate_hz)
    inside = (f >= one.lower_hz) & (f <= one.upper_hz)
    ratio = spectrum[inside].mean() / np.median(spectrum[~inside])
    assert 10 * np.log10(ratio) > one.snr_db - 3


def test_what_was_made_is_played_again_and_again():
    played = Played(np.arange(5, dtype=np.complex64))
    assert played.make(3).real.tolist() == [0, 1, 2]
    assert played.make(6).real.tolist() == [3, 4, 0, 1, 2, 3]


def test_every_type_counts_the_same_and_false_alarms_stand_beside(tmp_path):
    head = replace(tiny_head(Encoder(SHAPE)), outlier_limit=1.5)
    line = np.linspace(-2, 2, 100)
    known = Heard(head.outlier_limit + line - 1.9, line, ["QPSK"] * 100, np.tile([5.0, 15.0], 50))
    odds = head.outlier_limit + np.array([1, 1, -1, -9, 1, -9, 1, -9])  # one of four; one of two, from 10 dB
    label, snr_db = np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([20.0, 5, 20, 20, 20, 20, 5, 5])
    new = Heard(odds, np.full(8, 9.0), ["OOK"] * 8, snr_db)
    result = judge(head, known, new, label, ["one", "two"])
    assert result["types"]["one"] == {
        "flagged": 50,
        "flagged_high": pytest.approx(100 / 3),
        "taken_for": {"OOK": 2},
    }
    assert result["high"]["flagged"]["percent"] == pytest.approx((100 / 3 + 50) / 2)
    assert result["all"]["false_alarms"] == pytest.approx(3)
    assert result["all"]["at_5"]["doubt"]["percent"] == 100
    assert "one                             50          33   OOK 2" in as_text(result)
    draw(result, tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1_000
    json.dumps(result)


def test_what_is_heard_has_the_odds_of_its_embedding_and_the_heads_doubt():
    head = replace(tiny_head(Encoder(SHAPE)), outlier_limit=1.5)
    rows = np.array([[0.1, 0.2, 3.0], [0.5, -1.0, -2.0]], np.float32)
    heard = hear(head, Embedded(rows, np.arange(2), np.array([5.0, 15.0]), np.empty(0)))
    assert heard.odds.tolist() == [3.0, -2.0]
    assert heard.high.tolist() == [False, True]
    assert np.allclose(heard.doubt, 1 - head.probabilities(rows).max(1))
