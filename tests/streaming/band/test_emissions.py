"""What is told of emissions: each begins once, changes when it is another, ends; the book stays bounded."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from streaming.band import emissions
from streaming.band.box import Box
from streaming.band.emissions import Book
from streaming.band.frontend import Piece
from streaming.band.pipeline import BandPipeline
from streaming.block import Block
from streaming.engine import open_engine
from streaming.naming import Names
from streaming.prediction import UNKNOWN, Prediction
from tests.service.conftest import SHORT_HOP, small_bundle
from tests.service.scenes import RATE, band

NAMES = Names(("QPSK", "8PSK", "2FSK"), ("PSK", "PSK", "FSK"), 0.6)
BOX = Box(1000.0, 3000.0, 20.0, -30.0)
HZ = 10_000.0  # the rate of what is told here, and samples per second of each piece
BLOCK = Block(np.zeros(1, np.complex64), 0, HZ, 100e6, utc_ns=0)


def piece(emission, start, seconds=0.1, begins=None, ends=False, box=BOX):
    samples = np.zeros(round(seconds * HZ), np.complex64)
    return Piece(emission, emission, samples, start, 1.0, begins, box, False, ends)


def answer(emission, end, label="QPSK", family="PSK", probabilities=(0.8, 0.1, 0.1)):
    p = np.array(probabilities)
    return Prediction(end - 100, end, label, float(p.max()), p, "warm", emission=emission, family=family)


def listen(book, emission=1, seconds=3.0, begin=0.0, label=lambda at: ("QPSK", "PSK"), end=True):
    """Hear an emission in pieces of 0.1 s with an answer each; (state, when, label) of what is told."""
    told = []
    for i in range(round(seconds * 10)):
        at = begin + i / 10
        last = end and i == round(seconds * 10) - 1
        book.hear(piece(emission, at * HZ, begins=None if i else "signal", ends=last), BLOCK)
        book.answer(answer(emission, round((at + 0.1) * HZ), *label(at)))
        told += [(e.state, at, e.name.label) for e in book.take(BLOCK, round((at + 0.1) * HZ), 0.5)]
    return told


def test_an_emission_is_new_once_it_was_named_alike_for_a_while_then_goes_on_each_interval():
    told = listen(Book(NAMES), end=False)
    assert told[0] == ("new", pytest.approx(0.2), "QPSK")
    assert [state for state, _, _ in told[1:]] == ["update"] * 5
    assert np.diff([at for _, at, _ in told]) == pytest.approx(0.5)


def test_one_odd_answer_changes_nothing_and_two_make_another_name():
    def once(at):
        return ("2FSK", "FSK") if abs(at - 1.0) < 0.01 else ("QPSK", "PSK")

    def later(at):
        return ("2FSK", "FSK") if at > 0.95 else ("QPSK", "PSK")

    assert {label for _, _, label in listen(Book(NAMES), label=once)} == {"QPSK"}
    told = listen(Book(NAMES), label=later)
    assert next(at for _, at, label in told if label == "2FSK") == pytest.approx(1.1)


def test_a_short_burst_is_told_as_it_ends_and_ends_after_a_second_of_silence():
    book = Book(NAMES)
    assert [state for state, _, _ in listen(book, seconds=0.1)] == ["new"]
    assert book.take(BLOCK, round(1.0 * HZ), 0.5) == []
    (ended,) = book.take(BLOCK, round(1.2 * HZ), 0.5)
    assert (ended.state, ended.end, ended.bursts) == ("end", round(0.1 * HZ), 1)
    assert book.take(BLOCK, round(1.4 * HZ), 0.5) == []


def test_whoever_comes_back_is_the_same_one_and_its_bursts_and_duty_add_up():
    book = Book(NAMES)
    listen(book, seconds=1.0)
    (ended,) = book.take(BLOCK, round(5 * HZ), 0.5)
    assert (ended.bursts, ended.duty) == (1, pytest.approx(1))
    listen(book, seconds=1.0, begin=9.0)
    (ended,) = book.take(BLOCK, round(15 * HZ), 0.5)
    assert (ended.state, ended.start, ended.bursts, ended.duty) == ("end", 0, 2, pytest.approx(0.2))


def test_a_refused_emission_tells_the_nearest_families():
    book = Book(NAMES)
    book.hear(piece(1, 0.0, begins="signal", ends=True), BLOCK)
    book.answer(answer(1, 1000, UNKNOWN, None, (0.3, 0.3, 0.4)))
    (told,) = book.take(BLOCK, 1000, 0.5)
    assert told.nearest == (("PSK", pytest.approx(0.6)), ("FSK", pytest.approx(0.4)))


def test_a_box_that_moves_is_told_at_once():
    book = Book(NAMES)
    listen(book, seconds=0.5, end=False)
    book.hear(piece(1, 0.5 * HZ, box=replace(BOX, lower=2000.0, upper=4000.0)), BLOCK)
    (told,) = book.take(BLOCK, round(0.6 * HZ), 10.0)
    assert (told.state, told.box.lower) == ("update", 2000.0)


def test_what_is_too_short_to_be_named_is_counted():
    book = Book(NAMES)
    book.hear(piece(1, 0.0, begins="signal", ends=True), BLOCK)
    assert book.take(BLOCK, round(100 * HZ), 0.5) == []
    assert book.short == 1


def test_ten_thousand_emissions_are_all_told_and_few_are_kept(monkeypatch):
    monkeypatch.setattr(emissions, "MOST", 100)
    book, told = Book(NAMES), []
    for number in range(1, 10_001):
        book.hear(piece(number, 0.01 * number * HZ, 0.01, begins="signal", ends=True), BLOCK)
        book.answer(answer(number, round(0.01 * (number + 1) * HZ)))
        told += book.take(BLOCK, round(0.01 * (number + 1) * HZ), 0.5)
        assert len(book._of) <= 100
    book.end_all(BLOCK)
    told += book.take(BLOCK, round(102 * HZ), 0.5)
    for state in ("new", "end"):
        assert sorted(e.number for e in told if e.state == state) == list(range(1, 10_001))


def pipeline(bundle):
    return BandPipeline(bundle, bundle.heads["live"], open_engine(bundle.encoder, SHORT_HOP, "torch"))


def told_of(running, x, cuts, freq_hz=433e6):
    """What is told of a stream cut at these samples."""
    told = []
    edges = [0, *cuts, len(x)]
    for a, b in pairwise(edges):
        running.push(Block(x[a:b], a, RATE, freq_hz, utc_ns=round(a / RATE * 1e9)))
        told += running.changes(0.1)
    running.flush()
    return told + running.changes(0.1)


def test_beginnings_and_ends_do_not_depend_on_how_the_stream_is_cut():
    bundle, x = small_bundle(), band(1.5)
    cuts = np.cumsum(np.random.default_rng(0).integers(500, 60_000, 100))
    ways = [[], range(16_384, len(x), 16_384), cuts[cuts < len(x)].tolist()]
    found = [told_of(pipeline(bundle), x, list(way)) for way in ways]
    last = [
        {(e.number, e.start, e.end, e.box, e.name, e.bursts) for e in told if e.state == "end"}
        for told in found
    ]
    assert len(last[0]) == 2
    assert last[0] == last[1] == last[2]
    assert all({e.number for e in told if e.state == "new"} == {1, 2} for told in found)


def test_a_retune_ends_all_emissions_at_the_frequency_where_they_were_heard():
    bundle, x = small_bundle(), band(1.5)
    running = pipeline(bundle)
    told_of(running, x, [])
    running = pipeline(bundle)
    running.push(Block(x, 0, RATE, 100e6))
    running.push(Block(x, len(x), RATE, 200e6))
    told = running.changes(0.1)
    ended = [e for e in told if e.state == "end"]
    assert {e.freq_hz for e in ended} == {100e6}
    assert len(ended) == 2
    running.flush()
    ended = [e for e in running.changes(0.1) if e.state == "end"]
    assert ({e.freq_hz for e in ended}, {e.number for e in ended}) == ({200e6}, {3, 4})


def test_another_rate_ends_all_emissions_and_the_rest_is_heard_at_the_new_one():
    bundle = small_bundle()
    running = pipeline(bundle)
    running.push(Block(band(1.0), 0, RATE))
    running.push(Block(band(1.0, rate=2 * RATE), RATE, 2 * RATE))
    running.flush()
    ended = [e for e in running.changes(0.1) if e.state == "end"]
    assert [e.rate_hz for e in ended] == [RATE, RATE, 2 * RATE, 2 * RATE]
    for e in ended:
        assert min(abs(e.box.centre - centre) for centre in (-60e3, 50e3)) < 2e3


def test_a_pipeline_that_takes_over_keeps_numbers_and_what_is_known():
    bundle, x = small_bundle(), band(2.0)
    old, new = pipeline(bundle), pipeline(bundle)
    old.emission = 4  # so many were heard before
    at = round(1.2 * RATE)
    old.push(Block(x[:at], 0, RATE))
    before = {e.number: e for e in old.changes(0.1)}
    assert before.keys() == {5, 6}
    new.push(Block(x[:at], 0, RATE))
    new.take_over(old)
    assert new.emission == 6
    found = new.push(Block(x[at:], at, RATE)) + new.flush()
    assert {p.emission for p in found} - {None} == {5, 6}
    after = new.changes(0.1)
    assert {e.number for e in after if e.state == "end"} == {5, 6}
    assert not [e for e in after if e.state == "new"]
    assert {e.number: e.start for e in after} == {n: e.start for n, e in before.items()}
