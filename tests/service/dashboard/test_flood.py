"""A flood of emissions: within limits, nothing dropped, nothing lost, and the page can still be used."""

import json
import os
import re
import threading
import time
from contextlib import contextmanager

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.replay_radio import need_replay_radio
from tests.service.conftest import serving, within
from tests.service.dashboard.conftest import expect, looking
from tests.service.scenes import RATE, band

MINUTES = float(os.environ.get("WAVETELL_FLOOD_MINUTES", "10"))
MEMORY_MINUTES = float(os.environ.get("WAVETELL_MEMORY_MINUTES", "30"))
PER_HOUR = 6
FRAMES = """seconds => new Promise((done) => {
    let frames = 0;
    const end = performance.now() + 1000 * seconds;
    const next = () => performance.now() < end ? (frames++, requestAnimationFrame(next)) : done(frames);
    requestAnimationFrame(next);
})"""


@contextmanager
def flooded(folder, model, a_minute, monkeypatch):
    """A service on a radio, with a flood; and its stream."""
    need_replay_radio()
    monkeypatch.setenv("WAVETELL_FLOOD", str(a_minute))
    raw = folder / "band.cf32"
    raw.write_bytes(band(4.0).tobytes())
    source = f"soapy:driver=replay,buffer=30,file={raw}?freq=433000000&rate={RATE}"
    program = "tests.service.dashboard.flood"
    with serving(folder / "data", model, source, program=program) as service:
        (stream,) = (each["id"] for each in service.get("/v1/streams").json())
        yield service, stream


@contextmanager
def reading(service, stream):
    """What a live reader is told of emissions: those that ended, and how many messages it missed."""
    ended, missed = set(), []

    def read():
        try:
            for text in socket:
                message = json.loads(text)
                if message["type"] == "missed":
                    missed.append(message["messages"])
                elif message["type"] == "emission" and message["state"] == "end":
                    ended.add(message["emission"])
        except ConnectionClosed:
            pass

    with connect(f"ws{service.base[4:]}/v1/streams/{stream}/live", max_size=None) as socket:
        thread = threading.Thread(target=read)
        thread.start()
        yield ended, missed
    thread.join()


def metric(service, name):
    return sum(
        float(value)
        for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", service.get("/metrics").text, re.M)
    )


def in_history(service, stream):
    """Every emission that is on disk."""
    text = service.get(f"/v1/streams/{stream}/emissions/download?format=jsonl").text
    return {json.loads(line)["emission"] for line in text.splitlines()}


def frames(page, empty, seconds=3):
    """Frames that the page and an empty one get drawn, the best of some tries: the machine may be busy."""
    tries = [(page.evaluate(FRAMES, seconds), empty.evaluate(FRAMES, seconds)) for _ in range(3)]
    return max(mine / max(1, bare) for mine, bare in tries)


def flood(service, stream, page, empty, minutes):
    """Watch a flood for so long; labels that were acknowledged, and the page's shares of frames."""
    labels, shares = [], []
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end or not labels:
        body = {"stream": stream, "seconds": 0.2, "label": "flood"}
        answer = service.post("/v1/labels", json=body)
        labels += [answer.json()["id"]] if answer.status_code == 201 else []
        for name in ("Alerts", "Review", "Emissions"):
            page.get_by_role("tab", name=name).click(timeout=1000 * within(20))
        expect(page.locator("table.emissions tbody tr").nth(20)).to_be_visible(timeout=1000 * within(20))
        shares.append(frames(page, empty))
        page.wait_for_timeout(1000 * min(30, 6 * minutes))
    return labels, shares


def judge(folder, model, monkeypatch, browser, minutes):
    """Samples dropped, which a busy machine may, and the page's share of an empty one's frames."""
    with flooded(folder, model, 10_000, monkeypatch) as (service, stream):
        rules = [{"kind": "new", "collapse_s": 0}, {"kind": "unknown", "collapse_s": 0}]
        for rule in rules:
            answer = service.post("/v1/watches", json=rule | {"per_hour": PER_HOUR})
            assert answer.status_code == 201, answer.text
        with (
            looking(browser, service.base) as page,
            looking(browser, "about:blank") as empty,
            reading(service, stream) as (ended, missed),
        ):
            began = service.get(f"/v1/streams/{stream}").json()["samples"]["processed"]
            labels, shares = flood(service, stream, page, empty, minutes)
            about = service.get(f"/v1/streams/{stream}").json()
            signal_s = (about["samples"]["processed"] - began) / RATE
            assert len(ended) + sum(missed) > 0.9 * 10_000 / 60 * signal_s - 500
            told = set(ended)
            while told - in_history(service, stream):  # the test's own limit ends it
                time.sleep(1)
        for name in ("history_lost_rows_total", "watch_lost_emissions_total"):
            assert metric(service, f"wavetell_{name}") == 0
        alerts = service.get("/v1/alerts?limit=100").json()["alerts"]
        assert 2 <= len(alerts) <= 2 * PER_HOUR
        assert sum(alert["count"] for alert in alerts) > len(alerts)  # the others are counted in these
        service.kill()
    with serving(folder / "data", model) as service:
        assert told <= in_history(service, stream)
        assert set(labels) <= {each["id"] for each in service.get("/v1/labels").json()["labels"]}
        again = {each["id"] for each in service.get("/v1/alerts?limit=100").json()["alerts"]}
        assert {alert["id"] for alert in alerts} <= again
    print(
        f"{signal_s:.0f} s, {len(told)} emissions told, {sum(missed)} messages missed by a slow reader, "
        f"{len(alerts)} alerts, {len(labels)} labels, "
        f"frames {min(shares):.2f} to {max(shares):.2f} of an empty page's"
    )
    return about["samples"]["dropped"], max(shares)


def test_a_flood_stays_within_limits_and_loses_nothing(tmp_path, model, monkeypatch, browser):
    judge(tmp_path, model, monkeypatch, browser, 0.1)


@pytest.mark.acceptance
@pytest.mark.timeout(60 * MINUTES + 1800)
def test_a_flood_of_ten_minutes(tmp_path, model, monkeypatch, browser):
    dropped, share = judge(tmp_path, model, monkeypatch, browser, MINUTES)
    assert dropped == {}
    assert share > 0.1


@pytest.mark.acceptance
@pytest.mark.timeout(60 * MEMORY_MINUTES + 1800)
def test_the_memory_of_the_page_stays_flat(tmp_path, model, monkeypatch, browser):
    """At 200 emissions a minute; what the page remembers of them is full after ten minutes."""
    with (
        flooded(tmp_path, model, 200, monkeypatch) as (service, _),
        looking(browser, service.base) as page,
    ):
        session, held = page.context.new_cdp_session(page), []
        end = time.monotonic() + 60 * MEMORY_MINUTES
        while time.monotonic() < end:
            page.wait_for_timeout(10_000)
            session.send("HeapProfiler.collectGarbage")
            usage = session.send("Runtime.getHeapUsage")["usedSize"]
            held.append((usage, page.evaluate("document.querySelectorAll('*').length")))
        half = len(held) // 2
        before, after = max(held[half // 2 : half]), max(held[half:])
        print(f"heap {before[0] / 1e6:.1f} MB then {after[0] / 1e6:.1f} MB; elements {before[1]}, {after[1]}")
        assert after[0] < 1.2 * before[0]
