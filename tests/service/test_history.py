"""History: the same answers from SQLite and PostgreSQL, pages without overlap, retention, outages."""

import sqlite3
import time
from dataclasses import replace

import pytest

from service.errors import NotFound
from service.live.emissions import EmissionRow
from service.live.events import Event
from service.live.runs import Run, RunKeeper
from service.storage.database import OUTAGE, open_database
from service.storage.history import History
from service.storage.ids import new_id
from service.storage.queries import (
    EmissionQuery,
    RunQuery,
    find_emission,
    find_emissions,
    find_events,
    find_runs,
)
from streaming.errors import ConfigError
from tests.service.servers import postgres

SECOND = 10**9
NOW = time.time_ns()


def run(i, label="A", stream="s", probability=0.9, hops=10, family=None, emission="s-1"):
    return Run(
        id=new_id(),
        stream=stream,
        from_ns=NOW + i * SECOND,
        to_ns=NOW + (i + 1) * SECOND,
        start_sample=i * 1000,
        end_sample=(i + 1) * 1000,
        label=label,
        probability=probability,
        lowest=probability - 0.1,
        probabilities={"A": probability, "B": 1 - probability},
        hops=hops,
        past="warm",
        snr_db=None,
        rate_hz=1000.0,
        freq_hz=433.92e6,
        sha256="x",
        family=family,
        emission=emission,
        bandwidth_hz=25_000.0,
        offset_hz=-3000.0,
        centre_hz=433.917e6,
    )


def event(i, stream="s"):
    return Event(
        id=new_id(),
        stream=stream,
        name="name",
        since_ns=NOW + i * SECOND,
        label="A",
        previous="B",
        probability=0.9,
        snr_db=12.5,
        freq_hz=None,
        start_sample=i,
        family="AM",
        emission="s-1",
        bandwidth_hz=25_000.0,
        offset_hz=-3000.0,
        centre_hz=None,
    )


def emission(i, label="A", state="end", family="AM", stream="s", low=433e6):
    return EmissionRow(
        id=f"{stream}-{i}",
        stream=stream,
        state=state,
        from_ns=NOW + i * SECOND,
        to_ns=NOW + (i + 1) * SECOND,
        start_sample=i * 1000,
        end_sample=(i + 1) * 1000,
        label=label,
        family=family,
        probability=0.9,
        nearest='{"AM": 0.6}',
        lower_hz=low + i * 1e3,
        upper_hz=low + i * 1e3 + 500.0,
        snr_db=12.0,
        level_db=-40.0,
        freq_hz=low,
        bursts=3,
        duty=0.25,
        utc_ns=None,
        rate_hz=1000.0,
        sha256="x",
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with postgres(tmp_path_factory.mktemp("pg")) as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def history(request, tmp_path):
    url = request.getfixturevalue("server")[0] if request.param == "postgresql" else ""
    published = []
    told = []
    history = History(open_database(url, tmp_path), published.append, 30, 500, told.append)
    history.database.run(
        [(f"DELETE FROM {table}", [()]) for table in ("runs", "events", "emissions", "embeddings")]
    )
    history.published, history.told = published, told
    yield history
    history.close()


def pages(history, **query):
    found, cursor = [], ""
    while True:
        page = find_runs(history.database, RunQuery("s", cursor=cursor, **query))
        found += page.rows
        cursor = page.cursor
        if not cursor:
            return found


def test_runs_are_found_by_time_label_and_confidence(history):
    runs = [run(i, "AB"[i % 2], probability=0.5 + i / 100) for i in range(20)]
    for each in [*runs, run(3, stream="other")]:
        history.keep(each)
    history.flush()
    assert pages(history) == runs[::-1]
    assert pages(history, order="oldest", limit=7) == runs
    assert pages(history, label="B", order="oldest") == runs[1::2]
    assert pages(history, from_ns=NOW + 5 * SECOND, to_ns=NOW + 8 * SECOND, order="oldest") == runs[5:8]
    assert pages(history, min_probability=0.6, max_probability=0.65, order="oldest") == runs[10:16]
    history.keep(run(30, "no signal", probability=0.0))  # nobody was asked, so nobody was unsure
    history.flush()
    assert pages(history, order="least_sure", limit=3)[:3] == runs[:3]


def test_emissions_are_found_by_time_frequency_label_and_state(history):
    rows = [emission(i, "AB"[i % 2], "end" if i < 8 else "update", "AM") for i in range(10)]
    for row in [*rows, emission(3, stream="other")]:
        history.follow(row)
    history.flush()

    def found(**query):
        page = find_emissions(history.database, EmissionQuery("s", **query))
        return page.rows[::-1]

    assert found() == rows
    assert found(label="B") == rows[1::2]
    assert found(family="AM") == rows
    assert found(family="FM") == []
    assert found(state="now") == rows[8:]
    assert found(state="past") == rows[:8]
    assert found(f_low=433.0025e6, f_high=433.0045e6) == rows[3:5]
    assert found(f_low=433.0024e6) == rows[2:]
    assert found(from_ns=NOW + 5 * SECOND, to_ns=NOW + 8 * SECOND) == rows[5:8]
    first = find_emissions(history.database, EmissionQuery("s", limit=4))
    rest = find_emissions(history.database, EmissionQuery("s", limit=100, cursor=first.cursor))
    assert (first.rows + rest.rows)[::-1] == rows
    assert find_emission(history.database, "s", "s-3") == rows[3]
    with pytest.raises(NotFound):
        find_emission(history.database, "s", "other-3")


def test_an_emission_is_written_over_as_it_grows_and_told_when_it_begins_and_ends(history):
    new = emission(1, state="new")
    grown = replace(new, state="update", end_sample=9000, bursts=7)
    ended = replace(grown, state="end", label="B")
    for row in (new, grown, ended):
        history.follow(row)
    assert history.waiting == 1
    history.flush()
    assert find_emissions(history.database, EmissionQuery("s")).rows == [ended]
    assert history.told == [new, ended]


def test_emissions_that_are_too_old_are_deleted(history):
    old = replace(emission(1), to_ns=NOW - 31 * 86_400 * SECOND)
    for row in (old, emission(2)):
        history.follow(row)
    history.flush()
    history.retain()
    assert [row.id for row in find_emissions(history.database, EmissionQuery("s")).rows] == ["s-2"]


def test_pages_neither_overlap_nor_skip_while_rows_come_in(history):
    runs = [run(i) for i in range(30)]
    for each in runs:
        history.keep(each)
    history.flush()
    first = find_runs(history.database, RunQuery("s", limit=10))
    history.keep(run(100))
    history.flush()
    second = find_runs(history.database, RunQuery("s", limit=10, cursor=first.cursor))
    assert first.rows + second.rows == runs[:9:-1]


def test_a_run_that_grows_is_one_row(history):
    keeper = RunKeeper()
    for i in range(5):
        history.keep(keeper.push(run(i, probability=0.5 + i / 10, hops=i + 1)))
        history.flush()
    (row,) = pages(history)
    assert (row.from_ns, row.to_ns, row.hops) == (NOW, NOW + 5 * SECOND, 15)
    assert row.probability == pytest.approx(sum((0.5 + i / 10) * (i + 1) for i in range(5)) / 15)
    assert row.probabilities["A"] == pytest.approx(row.probability)
    assert row.lowest == pytest.approx(0.4)


def test_a_run_ends_with_its_label_at_a_gap_and_with_its_model():
    keeper = RunKeeper()
    first = keeper.push(run(0))
    assert keeper.push(run(1)).id == first.id
    assert keeper.push(run(2, label="B")).id != first.id
    second = keeper.push(run(3, label="B"))
    assert keeper.push(run(5, label="B")).id != second.id


def test_a_run_is_of_one_emission_and_has_its_newest_measurements(history):
    keeper = RunKeeper()
    first = keeper.push(run(0))
    wider = replace(run(1), bandwidth_hz=30_000.0, offset_hz=-2000.0, centre_hz=433.918e6)
    for each in (first, keeper.push(wider), keeper.push(run(2, emission="s-2"))):
        history.keep(each)
    history.flush()
    grown, other = pages(history, order="oldest")
    assert (grown.id, grown.emission, grown.to_ns) == (first.id, "s-1", NOW + 2 * SECOND)
    assert (grown.bandwidth_hz, grown.offset_hz, grown.centre_hz) == (30_000.0, -2000.0, 433.918e6)
    assert other.emission == "s-2"


def test_the_longest_run_of_a_stretch_is_found_without_the_database():
    keeper = RunKeeper()
    for each in (run(0, emission="s-1"), run(1, "no signal", emission=None), run(3, emission="s-2")):
        keeper.push(each)
    assert keeper.longest(500, 3200).emission == "s-1"
    assert keeper.longest(900, 5000).emission == "s-2"
    assert keeper.longest(1000, 2000) is None


def test_an_event_is_told_once_it_is_on_disk(history, tmp_path):
    events = [event(i) for i in range(3)]
    for each in events:
        history.publish(each)
    end = time.monotonic() + 10
    while len(history.published) < 3:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert history.published == events
    assert find_events(history.database, "s", 100, "").rows == events[::-1]
    page = find_events(history.database, "", 2, "")
    assert page.rows + find_events(history.database, "", 2, page.cursor).rows == events[::-1]


def test_what_is_too_old_goes_then_the_oldest_of_what_is_too_much(history):
    for i in range(2000):
        history.keep(run(i))
    history.keep(run(-40 * 86_400))
    history.publish(event(-40 * 86_400))
    history.flush()
    history.retain()
    assert len(pages(history, limit=1000)) == 2000
    history.keep_mb = 0
    before = history.size()
    assert before > 100_000
    history.keep_mb = 1
    for i in range(2000, 8000):
        history.keep(run(i))
    history.flush()
    history.retain()
    assert history.size() <= 1 << 20
    left = pages(history, limit=1000)
    assert left
    assert left[0].from_ns == NOW + 7999 * SECOND


@pytest.mark.parametrize("cursor", ["x", "e30", "W10", "WyJhIiwxXQ", "\x00", "é"])
def test_a_malformed_cursor_is_refused(history, cursor):
    with pytest.raises(ConfigError, match="cursor"):
        find_runs(history.database, RunQuery("s", cursor=cursor))


def test_rows_wait_in_memory_while_the_database_is_away(tmp_path):
    with postgres(tmp_path) as (url, stop, start):
        published = []
        history = History(open_database(url, tmp_path), published.append, 30, 500)
        stop()
        kept, happened = run(0), event(0)
        history.keep(kept)
        history.publish(happened)
        time.sleep(1.5)
        assert history.away
        assert not published
        start()
        end = time.monotonic() + 10
        while not published:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert pages(history) == [kept]
        history.close()


def test_a_lock_on_the_file_is_an_outage_not_a_loss(tmp_path):
    history = History(open_database("", tmp_path), lambda _: None, 30, 500)
    with sqlite3.connect(tmp_path / "history.sqlite") as other:
        other.execute("BEGIN IMMEDIATE")
        history.keep(run(0))
        with pytest.raises(OUTAGE):
            history.flush()
        assert history.waiting == 1
        other.rollback()
    other.close()
    history.flush()
    assert len(pages(history)) == 1
    history.close()


def test_another_kind_of_database_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="postgresql://"):
        open_database("mysql://x", tmp_path)
