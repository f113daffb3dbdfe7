"""Many streams in one engine answer as each would alone; too slow an engine drops blocks, counted."""

import threading
import time
from itertools import pairwise

import numpy as np
import pytest

import service.live.streams
from hardware.source import Counts, Source
from service.live.answers import Answers
from service.live.events import Detector
from service.live.hub import Hub
from service.live.runtime import Runtime
from service.live.streams import Limits, Stream
from service.models.live import open_live
from streaming.block import Block
from streaming.engine import open_engine
from streaming.errors import DeviceLost
from streaming.pipeline import open_pipeline
from tests.service.conftest import HOP, level_bundle
from tests.service.journal import Kept

RNG = np.random.default_rng(5)
SIGNALS = [(RNG.standard_normal((30_000, 2)) @ [1, 1j]).astype(np.complex64) for _ in range(3)]


class Played(Source):
    """Plays samples in blocks of odd sizes, the last third once it may, then ends or fails."""

    def __init__(self, samples, error=None, go_on=None):
        self.go_on = go_on
        self.rate_hz, self.samples, self.error, self.counts = 48_000.0, samples, error, Counts()
        self.address = "played:"

    def blocks(self):
        edges = [0, *np.cumsum(RNG.integers(1, 900, 100)).tolist()]
        for a, b in pairwise(edges):
            if self.go_on and a > len(self.samples) * 2 // 3:
                self.go_on.wait(60)
            if len(self.samples[a:b]):
                self.counts.samples += len(self.samples[a:b])
                yield Block(self.samples[a:b], a, self.rate_hz, utc_ns=round(a / 48e3 * 1e9))
                time.sleep(0.0005)
        if self.error:
            raise self.error

    def close(self):
        pass


@pytest.fixture
def bundle():
    return level_bundle()


@pytest.fixture
def runtime(bundle):
    runtime = Runtime(open_live("small", bundle, backend="torch"))
    runtime.start()
    yield runtime
    runtime.close()


PATIENT = Limits(queue_ms=60_000)


def play(runtime, monkeypatch, samples, error=None, limits=PATIENT, go_on=None):
    """A stream that plays these samples, with every prediction it gives."""
    monkeypatch.setattr(service.live.streams, "open_source", lambda _: Played(samples, error, go_on))
    stream, journal = Stream("played:", "", limits, runtime.work), Kept()
    answers = Answers(
        stream,
        runtime.model.heads["live"],
        "sha",
        hub=Hub(),
        journal=journal,
        detector=Detector("", 1, 0),
        report_ms=100,
    )
    found = []
    push = answers.push
    answers.push = lambda block, predictions: (found.extend(predictions), push(block, predictions))
    runtime.add(stream, answers)
    stream.start()
    return stream, found, journal


def finished(runtime, *streams):
    end = time.monotonic() + 30
    while any(stream.state == "running" or stream.queue for stream in streams):
        assert time.monotonic() < end
        time.sleep(0.01)
    runtime.call(lambda: None)


def test_streams_in_one_engine_answer_as_each_would_alone(runtime, bundle, monkeypatch):
    playing = [play(runtime, monkeypatch, signal) for signal in SIGNALS]
    finished(runtime, *[stream for stream, _, _ in playing])
    for (stream, found, journal), signal in zip(playing, SIGNALS, strict=True):
        alone = open_pipeline(bundle, bundle.heads["live"], open_engine(bundle.encoder, HOP, "torch"))
        expected = alone.push(Block(signal, 0, 48_000.0, utc_ns=0))
        assert [(p.start, p.end, p.past) for p in found] == [(p.start, p.end, p.past) for p in expected]
        np.testing.assert_allclose(
            [p.probabilities for p in found], [p.probabilities for p in expected], atol=1e-4
        )
        assert stream.counts.processed == len(signal)
        runtime.call(runtime.answers[stream.id].flush)
        assert sum(run.hops for run in journal.runs.values()) == len(expected)


def test_a_source_that_dies_ends_its_stream_alone(runtime, monkeypatch):
    dead, _, _ = play(runtime, monkeypatch, SIGNALS[0], DeviceLost("the radio is gone"))
    broken, _, _ = play(runtime, monkeypatch, SIGNALS[1], ZeroDivisionError("a bug"))
    fine, found, _ = play(runtime, monkeypatch, SIGNALS[2])
    finished(runtime, dead, broken, fine)
    assert (dead.state, dead.error) == ("failed", "the radio is gone")
    assert broken.state == "failed"
    assert "a bug" in broken.error
    assert fine.state == "ended"
    assert len(found) == 291


def test_too_slow_an_engine_drops_what_waits_and_goes_on_behind_a_gap(runtime, monkeypatch):
    push, fast, waiting = runtime.model.engine.push, threading.Event(), []

    def slow_at_first(work):
        fast.wait(0.2)
        waiting.append(stream.queued)
        return push(work)

    monkeypatch.setattr(runtime.model.engine, "push", slow_at_first)
    stream, found, _ = play(runtime, monkeypatch, SIGNALS[0], limits=Limits(queue_ms=50), go_on=fast)
    while not stream.counts.dropped["overload"] or stream.queue:
        time.sleep(0.01)
    stream.limits = PATIENT
    fast.set()
    finished(runtime, stream)
    assert 0 < max(waiting) <= 0.05 * 48_000
    assert stream.counts.processed + stream.counts.dropped["overload"] == stream.source.counts.samples
    assert stream.counts.gaps > 0
    assert {"gap", "warm"} <= {p.past for p in found} <= {"cold", "gap", "warm"}
    assert found[-1].past == "warm"


def test_a_swap_of_the_whole_model_leaves_no_gap_and_answers_as_the_new_one(runtime, bundle, monkeypatch):
    go_on = threading.Event()
    stream, found, _ = play(runtime, monkeypatch, SIGNALS[0], go_on=go_on)
    while not found:
        time.sleep(0.01)
    new = level_bundle("new", seed=2)
    runtime.swap(open_live("new", new, backend="torch"), {stream.id: new.heads["live"]})
    go_on.set()
    finished(runtime, stream)
    assert [p.end for p in found] == list(range(1000, 30_001, HOP))
    alone = open_pipeline(new, new.heads["live"], open_engine(new.encoder, HOP, "torch"))
    expected = alone.push(Block(SIGNALS[0], 0, 48_000.0))
    np.testing.assert_allclose(found[-1].probabilities, expected[-1].probabilities, atol=1e-3)
    assert runtime.answers[stream.id].sha256 == new.sha256


def test_another_head_of_the_same_encoder_takes_over_the_states_as_they_are(runtime, bundle, monkeypatch):
    go_on = threading.Event()
    stream, found, _ = play(runtime, monkeypatch, SIGNALS[0], go_on=go_on)
    while not found:
        time.sleep(0.01)
    before, fitted = runtime.pipelines[stream.id], level_bundle("fitted")
    runtime.swap(open_live("fitted", fitted, before=runtime.model), {stream.id: fitted.heads["other"]})
    assert runtime.pipelines[stream.id] is before
    go_on.set()
    finished(runtime, stream)
    assert [p.end for p in found] == list(range(1000, 30_001, HOP))
    alone = open_pipeline(fitted, fitted.heads["other"], open_engine(bundle.encoder, HOP, "torch"))
    expected = alone.push(Block(SIGNALS[0], 0, 48_000.0))
    np.testing.assert_allclose(found[-1].probabilities, expected[-1].probabilities, atol=1e-6)


def test_threads_end_when_the_runtime_closes(bundle, monkeypatch):
    before = threading.active_count()
    runtime = Runtime(open_live("small", bundle, backend="torch"))
    runtime.start()
    stream, _, _ = play(runtime, monkeypatch, SIGNALS[0])
    runtime.close()
    assert threading.active_count() == before
    assert stream.queued == 0
