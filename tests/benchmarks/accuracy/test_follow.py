"""The delay is counted from the true change to the first right answer that stays."""

import numpy as np
import pytest

from benchmarks.accuracy.follow import Answer, as_text, ask, cut, delay, end_of, make_trial, quantile


def answers(*labels):
    """One per 50 samples."""
    return [Answer(50.0 * (1 + i), label) for i, label in enumerate(labels)]


def test_the_delay_ends_with_the_first_right_answer_that_no_wrong_one_follows_within_a_window():
    said = answers("A", "A", "B", "A", "B", "B", None, "B", "B", "B", "B")
    assert delay(said, "B", change=100.0, window=40) == 3 * 50 - 100
    assert delay(said, "B", change=100.0, window=60) == 5 * 50 - 100
    assert delay(said, "B", change=100.0, window=150) == 8 * 50 - 100
    assert delay(said, "C", change=100.0, window=10) == np.inf


def test_right_answers_before_the_change_do_not_count():
    assert delay(answers(*"BBBBBBBB"), "B", change=220.0, window=100) == 250 - 220


def test_quantiles_take_what_never_came_as_infinite():
    assert quantile([1.0, 2.0, float("inf")], 0.5) == 2
    assert quantile([1.0, 2.0, float("inf")], 0.9) == np.inf


@pytest.fixture(scope="module")
def trial():
    return make_trial(0.4, ("BPSK", "QPSK"), 20.0, seed=1)


def test_a_trial_is_the_first_class_then_the_second(trial):
    samples = np.concatenate([piece.samples for piece in trial.pieces]).astype(complex)
    at = round((trial.change - trial.pieces[0].start) / trial.step)
    before, after = (np.square(part) / np.mean(np.abs(part) ** 2) for part in (samples[:at], samples[at:]))
    line = [np.abs(np.fft.fft(part)).max() / len(part) for part in (before, after)]
    assert line[0] > 0.5  # the square of BPSK keeps a carrier
    assert line[1] < 0.1


def test_what_is_cut_restarts_at_the_change_and_loses_nothing(trial):
    pieces = cut(trial)
    assert len(pieces) == len(trial.pieces) + 1
    (begun,) = [piece for piece in pieces[1:] if piece.begins]
    assert begun.begins == "change"
    assert begun.start == pytest.approx(trial.change, abs=trial.step)
    whole = np.concatenate([piece.samples for piece in trial.pieces])
    assert np.array_equal(np.concatenate([piece.samples for piece in pieces]), whole)
    assert end_of(pieces) == pytest.approx(end_of(trial.pieces))


def test_where_the_change_is_known_nothing_from_before_counts(trial):
    late = [question for question in ask(cut(trial), None) if question.end > trial.change]
    first = late[0]
    assert len(first.samples) == 512
    assert first.end - trial.change == pytest.approx(512 * trial.step, abs=trial.step)


def test_both_ways_have_a_line():
    row = {"from": "BPSK", "to": "16QAM", "samples": 512.0, "ms": 2.0, "steady": 0.5}
    text = as_text([row | {"way": way} for way in ("as it runs", "change known")])
    assert len(text.splitlines()) == 3
    assert "512" in text
