"""Whatever one stream, row, event or thread does, the others go on, and what is wrong is said."""

import threading
import time
from dataclasses import replace

import pytest

from service.live.events import Event
from service.live.runs import Run
from service.sinks.sink import Sink
from service.storage.database import Database
from service.storage.history import History
from service.storage.queries import RunQuery, find_events, find_runs
from service.supervised import Supervised
from tests.service.conftest import within

RUN = Run(
    id="1", stream="s", from_ns=1, to_ns=2, start_sample=0, end_sample=1, label="A", probability=0.5,
    lowest=0.5, probabilities={"A": 0.5}, hops=1, past="warm", snr_db=None, rate_hz=1.0, freq_hz=None,
    sha256="", family=None, emission=None, bandwidth_hz=None, offset_hz=None, centre_hz=None,
)  # fmt: skip
EVENT = Event(
    id="1", stream="s", name="n", since_ns=1, label="A", previous="", probability=0.5, snr_db=None,
    freq_hz=None, start_sample=0, family=None, emission=None, bandwidth_hz=None, offset_hz=None,
    centre_hz=None,
)  # fmt: skip


def until(holds, seconds=20):
    end = time.monotonic() + within(seconds)
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def history(tmp_path):
    told = []
    made = History(Database(tmp_path / "history.sqlite"), told.append, keep_days=36_500, keep_mb=10)
    made.told = told
    yield made
    made.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"from_ns": 2**63}, {"to_ns": -(2**70)}, {"start_sample": 10**30}, {"probability": float("nan")},
        {"rate_hz": float("inf")}, {"label": "\ud800"}, {"emission": "a\0b"},
    ],
)  # fmt: skip
def test_a_run_that_no_database_holds_is_counted_and_the_others_are_written(history, wrong):
    history.keep(replace(RUN, id="bad", **wrong))
    history.keep(RUN)
    until(lambda: find_runs(history.database, RunQuery("s")).rows)
    assert [run.id for run in find_runs(history.database, RunQuery("s")).rows] == ["1"]
    assert history.lost == 1
    assert not history.thread.wrong


def test_an_event_that_no_database_holds_is_counted_and_the_others_are_handed_on(history):
    history.publish(replace(EVENT, id="bad", since_ns=2**64))
    history.publish(EVENT)
    until(lambda: history.told)
    assert history.told == [EVENT]
    assert [event.id for event in find_events(history.database, "", 10, "").rows] == ["1"]
    assert history.lost == 1


def test_whoever_gets_an_event_cannot_stop_the_history(history):
    def broken(event):
        history.told.append(event.id)
        raise RuntimeError("the loop is closed")

    history.on_event = broken
    for name in ("1", "2"):
        history.publish(replace(EVENT, id=name))
    until(lambda: len(history.told) == 2)
    assert not history.thread.wrong


def test_a_history_whose_thread_died_says_so_and_goes_on(history):
    write, left = history.database.run, [1]

    def failing(statements):
        if left[0]:
            left[0] -= 1
            raise ZeroDivisionError("not foreseen")
        write(statements)

    history.database.run = failing
    history.keep(replace(RUN, id="gone"))
    until(lambda: history.thread.wrong)
    assert "thread history failed" in history.thread.wrong
    assert "not foreseen" in history.thread.wrong
    history.keep(RUN)
    until(lambda: find_runs(history.database, RunQuery("s")).rows)
    assert history.lost >= 1


class Fragile(Sink):
    """Cannot take one event, for a reason that nobody foresaw."""

    def __init__(self):
        super().__init__("fragile")
        self.got = []

    def deliver(self, event):
        if event.label == "bad":
            raise KeyError(event.label)
        self.got.append(event.label)
        return True


def test_an_event_that_a_sink_chokes_on_is_counted_and_the_next_is_delivered():
    sink = Fragile()
    sink.start()
    for label in ("good", "bad", "better"):
        sink.put(replace(EVENT, label=label).describe())
    until(lambda: len(sink.got) == 2)
    sink.close(10)
    assert (sink.got, sink.sent, sink.lost) == (["good", "better"], 2, 1)


def test_a_thread_that_dies_is_restarted_until_it_is_told_to_stop():
    starts, stop = [], threading.Event()

    def run():
        starts.append(time.monotonic())
        if len(starts) < 3:
            raise ValueError(f"start {len(starts)}")
        stop.wait()

    thread = Supervised("x", run)
    thread.start()
    until(lambda: len(starts) == 3)
    assert thread.failures == 2
    assert "start 2" in thread.wrong
    stop.set()
    thread.join(10)
    assert len(starts) == 3
