"""Review: activity and occupancy added up by both databases; what is too old or has no room goes."""

import shutil
import time
from dataclasses import astuple, replace

import numpy as np
import pytest

from service.storage.alerts import AlertQuery, find_alerts, put_alerts
from service.storage.database import open_database
from service.storage.history import PUT_EMISSION
from service.storage.queries import EmissionQuery, find_emissions
from service.storage.review import Times, find_activity, find_edges, find_occupancy
from service.storage.rollup import roll_up
from service.watch.alert import alert_row
from service.watch.rules import Rule
from tests.service.conftest import serving, within
from tests.service.scenes import band, write
from tests.service.test_history import NOW, SECOND, emission, history, server  # noqa: F401
from tests.service.test_watch import AROUND_LOWER, hear, raised

HOUR = 3600 * SECOND
LOW, HIGH, CELLS = 433e6, 434e6, 50
BEGIN = NOW // HOUR * HOUR
DAY = Times(BEGIN, BEGIN + 24 * HOUR, HOUR)
ADDED_UP = pytest.mark.parametrize("hours", [0, 13, 30], ids=["from emissions", "half added up", "added up"])


def drawn(count=400, seed=2):
    """Emissions of a day, short and long, narrow and wide; some reach over the edges."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(count):
        start = BEGIN + round(rng.uniform(-1, 24) * HOUR)
        long = rng.exponential(3 * HOUR) if i % 10 == 0 else rng.exponential(60 * SECOND)
        lower = rng.uniform(LOW - 2e4, HIGH)
        width = rng.uniform(1e5, 4e5) if i % 20 == 0 else rng.uniform(5e3, 3e4)
        label, family = [("OOK", "ASK"), ("2FSK", "FSK"), ("unknown", None)][i % 3]
        row = replace(emission(i, label, family=family), from_ns=start, to_ns=start + round(long))
        rows.append(replace(row, lower_hz=lower, upper_hz=lower + width, duty=float(rng.uniform(0.001, 1))))
    return rows


@pytest.fixture
def day(history):  # noqa: F811
    rows = drawn()
    for row in [*rows, emission(999, stream="other")]:
        history.follow(row)
    history.flush()
    return history.database, rows


def add_up(database, hours):
    """As the service does while time passes."""
    database.run([(f"DELETE FROM {table}", [()]) for table in ("rollup", "rolled")])
    while hours and roll_up(database, "s", BEGIN + hours * HOUR + 45 * SECOND):
        pass


@ADDED_UP
def test_activity_is_what_counting_one_by_one_gives(day, hours):
    database, rows = day
    add_up(database, hours)
    counted = {}
    for row in rows:
        if DAY.from_ns <= row.from_ns < DAY.to_ns:
            step = (row.from_ns - DAY.from_ns) // HOUR
            name = row.family or row.label
            counted[step, name] = counted.get((step, name), 0) + 1
    found = find_activity(database, "s", DAY)
    assert {(step, name): count for step, name, count in found} == counted


@ADDED_UP
def test_occupancy_is_what_adding_up_one_by_one_gives(day, hours):
    """Each emission is spread over the cells that it touches, by its overlap with each hour."""
    database, rows = day
    add_up(database, hours)
    width, used = (HIGH - LOW) / CELLS, np.zeros((24, CELLS))
    for row in rows:
        edges = LOW + np.arange(CELLS + 1) * width
        cells = (edges[:-1] < row.upper_hz) & (edges[1:] > row.lower_hz)
        for hour in range(24):
            begin = BEGIN + hour * HOUR
            inside = min(row.to_ns, begin + HOUR) - max(row.from_ns, begin)
            used[hour, cells] += max(0, inside) / HOUR * row.duty
    found = np.zeros_like(used)
    for (step, cell), share in find_occupancy(database, "s", DAY, (LOW, HIGH), CELLS).items():
        found[step, cell] = share
    wrong = np.abs(found - np.minimum(used, 1)) > 1e-6
    assert wrong.mean() < 0.01  # an edge that lies on that of a cell may count to either
    low, high = min(r.lower_hz for r in rows if heard(r)), max(r.upper_hz for r in rows if heard(r))
    assert find_edges(database, "s", DAY) == pytest.approx((low, high), abs=10)
    assert find_edges(database, "nobody", DAY) is None


def heard(row):
    return row.to_ns > DAY.from_ns and row.from_ns < DAY.to_ns


def test_the_interface_gives_both_and_refuses_what_makes_no_sense(tmp_path, model):
    source = write(tmp_path, band())
    with serving(tmp_path / "data", model, f"file:{source}?pace=fast") as service:
        (stream,) = (each["id"] for each in service.get("/v1/streams").json())
        past = f"/v1/streams/{stream}/emissions?state=past"
        emissions = service.until(past, lambda page: len(page["emissions"]) == 2, seconds=within(20))[
            "emissions"
        ]
        review = service.get(f"/v1/streams/{stream}/review").json()
        assert review["steps"] == 144
        assert sum(each["emissions"] for each in review["activity"]) == 2
        busy = service.get(f"/v1/streams/{stream}/occupancy?cells=64&step_s=60").json()
        assert busy["f_low"] == pytest.approx(min(each["lower_hz"] for each in emissions), abs=0.1)
        total_s = sum(60 * cell["share"] for cell in busy["occupancy"] if cell["cell"] == 0)
        lowest = min(emissions, key=lambda each: each["lower_hz"])
        assert total_s == pytest.approx((lowest["end"] - lowest["begin"]) * lowest["duty"], rel=0.05)
        for query in (
            "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
            "step_s=1",
            "step_s=0",
            "f_low=5&f_high=4",
        ):
            kind = "occupancy" if "f_low" in query else "review"
            assert service.get(f"/v1/streams/{stream}/{kind}?{query}").status_code == 422, query
        assert service.get("/v1/streams/nobody/occupancy").json()["occupancy"] == []


def test_alerts_go_by_their_own_age_and_emissions_by_theirs(tmp_path, model):
    data = tmp_path / "data"
    with serving(data, model):
        pass
    database, days = open_database("", data), 86_400 * SECOND
    rows = [alert_row(Rule("unknown"), None, None, time.time_ns() - age * days) for age in (400, 100)]
    put_alerts(database, rows)
    for row in rows:
        (data / "clips" / f"{row.id}.png").write_bytes(b"picture")
    old = replace(emission(0), to_ns=time.time_ns() - 100 * days)
    database.run([(PUT_EMISSION, [astuple(old)])])
    with serving(data, model) as service:
        service.until("/v1/storage", lambda kept: kept["removed"], seconds=within(20))
        kept = service.get("/v1/alerts").json()["alerts"]
        assert [each["id"] for each in kept] == [rows[1].id]
        assert [path.stem for path in (data / "clips").iterdir()] == [rows[1].id]
        end = time.monotonic() + within(20)
        while find_emissions(database, EmissionQuery("s")).rows:
            assert time.monotonic() < end
            time.sleep(0.1)
        assert len(find_alerts(database, AlertQuery()).rows) == 1
    database.close()


def test_the_oldest_samples_go_when_the_disk_is_full_and_that_is_told(tmp_path, model):
    """A disk that must have more free than it has is full."""
    source, data = write(tmp_path, band()), tmp_path / "data"
    free_mb = shutil.disk_usage(tmp_path).free >> 20
    argv = ("--allow-folders", str(tmp_path))
    with serving(data, model, *argv) as service:
        service.post("/v1/watches", json={"kind": "new", **AROUND_LOWER})
        stream = hear(service, source)
        (alert,) = raised(service)
        recording = service.post(f"/v1/streams/{stream}/recordings", json={"seconds": 1}).json()["id"]
        assert alert["clip"]["iq"]
        assert service.get("/v1/storage").json()["removed"] == {}
    full = ("--min-free-mb", str(free_mb + 10_000))
    with serving(data, model, *full) as service:
        kept = service.until("/v1/storage", lambda kept: kept["problem"], seconds=within(20))
        assert kept["removed"] == {"I/Q of a clip, disk full": 1}
        assert kept["recordings"] > 0
        clip = service.get(f"/v1/alerts/{alert['id']}").json()["clip"]
        assert clip["picture"]
        assert clip["iq"] is None
        assert service.get("/v1/ready").status_code == 503
        assert [each["id"] for each in service.get("/v1/recordings").json()] == [recording]
    with serving(data, model, *full, "--keep-recordings-days", "30") as service:
        kept = service.until("/v1/storage", lambda kept: kept["removed"], seconds=within(20))
        assert kept["removed"] == {"recording, disk full": 1}
        assert service.get("/v1/recordings").json() == []
