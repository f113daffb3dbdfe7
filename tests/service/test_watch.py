"""Watch rules raise alerts with clips, within their limits, and they reach whoever wants to know."""

import io
import json
import random
import struct
import tarfile
import threading
import time
import zlib
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import numpy as np
import pytest
from websockets.sync.client import connect

from service.storage.alerts import AlertQuery, find_alert, find_alerts, last_heard_ns, put_alerts
from service.watch.alert import Limit, alert_row
from service.watch.band import WatchedBand, busy
from service.watch.judges import open_judge
from service.watch.places import Places
from service.watch.rules import Rule
from tests.ports import free_port
from tests.service.conftest import serving, within
from tests.service.scenes import RATE, band, write
from tests.service.servers import mosquitto
from tests.service.test_events import Reader, waited
from tests.service.test_history import NOW, SECOND, emission, history, server  # noqa: F401

FREQ = 433e6
LOWER, UPPER = FREQ - 60e3, FREQ + 50e3  # centres of what `band` sends
AROUND_LOWER = {"f_low": LOWER - 5e3, "f_high": LOWER + 5e3}
# paho leaves the listener of its socket pair to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def hear(service, source, pace="fast"):
    """Let a recording play to its end; the stream."""
    stream = service.stream(f"file:{source}?pace={pace}")
    service.until(f"/v1/streams/{stream}", lambda s: s["state"] == "ended", seconds=within(60))
    return stream


def raised(service, count=1):
    """So many alerts, newest first."""
    page = service.until("/v1/alerts", lambda page: len(page["alerts"]) >= count, seconds=within(20))
    assert len(page["alerts"]) == count
    return page["alerts"]


def pixels(content):
    """Rows of palette indices of a PNG, read by the standard's own words."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    at, data, size = 8, b"", None
    while at < len(content):
        (length,), kind = struct.unpack(">I", content[at : at + 4]), content[at + 4 : at + 8]
        body = content[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", content[at + 8 + length : at + 12 + length])[0]
        size = struct.unpack(">II", body[:8]) if kind == b"IHDR" else size
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height = size
    lines = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, width + 1)
    assert not lines[:, 0].any()
    return lines[:, 1:]


def sigmf_of(service, alert):
    """Samples and metadata of an alert's clip."""
    with tarfile.open(fileobj=io.BytesIO(service.get(f"/{alert['clip']['iq']}").content)) as tar:
        members = {name.rpartition(".")[2]: tar.extractfile(name).read() for name in tar.getnames()}
    return np.frombuffer(members["sigmf-data"], "<c8"), json.loads(members["sigmf-meta"])


def test_a_new_emitter_in_a_range_is_an_alert_with_a_picture_and_its_samples(tmp_path, model):
    source = write(tmp_path, band())
    with serving(tmp_path / "data", model, "--allow-folders", str(tmp_path)) as service:
        rule = service.post("/v1/watches", json={"kind": "new", "name": "gate", **AROUND_LOWER})
        assert rule.status_code == 201, rule.text
        stream = hear(service, source)
        (alert,) = raised(service)
        assert (alert["rule"], alert["kind"], alert["name"]) == (rule.json()["id"], "new", "gate")
        assert (alert["stream"], alert["count"], alert["quiet"]) == (stream, 1, False)
        assert (alert["lower_hz"] + alert["upper_hz"]) / 2 == pytest.approx(LOWER, abs=2e3)
        assert alert["message"].startswith("gate: ")
        assert "at 432.9" in alert["message"]
        assert alert["emission"].startswith(stream)

        drawn = pixels(service.get(f"/{alert['clip']['picture']}").content)
        bright = drawn.astype(float).mean(0)
        inside = np.flatnonzero(bright > (bright.min() + bright.max()) / 2)
        assert 0.3 < inside.mean() / drawn.shape[1] < 0.7  # it is in the middle of what is shown

        samples, meta = sigmf_of(service, alert)
        assert alert["clip"]["recording"] is None
        assert meta["captures"][0]["core:frequency"] == pytest.approx(LOWER, abs=2e3)
        assert meta["annotations"][0]["core:description"] == alert["message"]
        power = np.abs(np.fft.fftshift(np.fft.fft(samples[len(samples) // 2 :]))) ** 2
        f = np.linspace(-0.5, 0.5, len(power)) * meta["global"]["core:sample_rate"]
        assert power[np.abs(f) < 6e3].sum() > 0.95 * power.sum()

        assert service.get("/v1/watches").json()["watches"][0]["raised"] == 1
        assert service.http.delete(f"/v1/alerts/{alert['id']}").status_code == 204
        assert service.get(f"/v1/alerts/{alert['id']}").status_code == 404
        assert service.get(f"/{alert['clip']['picture']}").status_code == 404


def test_alerts_outlast_a_kill_and_a_known_emitter_is_not_new_again(tmp_path, model):
    source = write(tmp_path, band())
    listen = f"file:{source}?pace=fast"
    with serving(tmp_path / "data", model) as service:
        service.post("/v1/watches", json={"kind": "new", **AROUND_LOWER})
        service.kill()
    with serving(tmp_path / "data", model, listen) as service:
        before = raised(service)
        (stream,) = service.get("/v1/streams").json()
        past = f"/v1/streams/{stream['id']}/emissions?state=past"
        service.until(past, lambda page: len(page["emissions"]) == 2, seconds=within(20))
        service.kill()
    with serving(tmp_path / "data", model, listen) as service:
        service.until(past, lambda page: len(page["emissions"]) == 4, seconds=within(20))
        assert raised(service) == before
        assert service.get("/v1/watches").json()["watches"][0]["last"] == before[0]["at"]


def test_a_clip_is_a_part_of_a_recording_that_goes_on_and_no_copy(tmp_path, model):
    source = write(tmp_path, np.concatenate([band(3.0, seed=2, emissions=()), band(5.0)]))
    with serving(tmp_path / "data", model, "--allow-folders", str(tmp_path)) as service:
        service.post("/v1/watches", json={"kind": "new", **AROUND_LOWER})
        stream = service.stream(f"file:{source}?pace=realtime")
        recording = service.post(f"/v1/streams/{stream}/recordings", json={"next_seconds": 60}).json()["id"]
        (alert,) = raised(service)
        assert alert["clip"]["recording"] == recording
        assert not list((tmp_path / "data" / "clips").glob("*.sigmf-data"))
        samples, meta = sigmf_of(service, alert)
        assert meta["global"]["core:sample_rate"] == RATE
        sent = np.fromfile(source, "<c8")
        start = next(i for i in np.flatnonzero(sent == samples[0]) if sent[i + 1] == samples[1])
        np.testing.assert_array_equal(samples, sent[start : start + len(samples)])
        service.post(f"/v1/recordings/{recording}/finish")
        assert sigmf_of(service, alert)[0].tobytes() == samples.tobytes()
        service.http.delete(f"/v1/recordings/{recording}")
        kept = service.get(f"/v1/alerts/{alert['id']}").json()["clip"]
        assert kept["picture"]
        assert kept["iq"] is None
        assert service.get(f"/v1/alerts/{alert['id']}/clip").status_code == 404


def test_silence_is_told_once_after_its_time(tmp_path, model):
    """Four seconds of an emission, then noise."""
    x = np.concatenate([band(4.0), band(16.0, seed=2, emissions=())])
    source = write(tmp_path, x)
    with serving(tmp_path / "data", model, "--allow-folders", str(tmp_path)) as service:
        rule = {"kind": "silent", "minutes": 0.05, "collapse_s": 0, **AROUND_LOWER}
        service.post("/v1/watches", json=rule)
        service.stream(f"file:{source}?pace=realtime")
        (alert,) = raised(service)
        assert "nothing is heard any more" in alert["message"]
        assert alert["emission"] is None
        service.until("/v1/streams", lambda streams: streams[0]["state"] == "ended", seconds=within(40))
        assert len(service.get("/v1/alerts").json()["alerts"]) == 1


@pytest.fixture
def phone():
    """A server as ntfy's: it keeps the POSTs."""

    got = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, dict(self.headers), body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    listening = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    yield SimpleNamespace(got=got, base=f"http://127.0.0.1:{listening.server_port}")
    listening.shutdown()
    thread.join()
    listening.server_close()


def test_an_alert_reaches_the_page_a_phone_a_web_hook_and_home_assistant(tmp_path, model, phone):
    source, port = write(tmp_path, band()), free_port()
    sinks = f"ntfy:{phone.base}/topic,{phone.base}/hook,mqtt://127.0.0.1:{port}/air?discovery=homeassistant"
    argv = ("--allow-folders", str(tmp_path), "--sinks", sinks)
    with mosquitto(tmp_path, port), serving(tmp_path / "data", model, *argv) as service:
        reader = Reader(port)
        rule = service.post("/v1/watches", json={"kind": "new", "name": "Türe", **AROUND_LOWER}).json()["id"]
        with connect(service.base.replace("http", "ws") + "/v1/alerts/live") as socket:
            stream = hear(service, source)
            shown = json.loads(socket.recv(timeout=within(20)))
        (alert,) = raised(service)
        assert shown == alert
        picture = service.get(f"/{alert['clip']['picture']}").content

        def posted(path):
            return [(headers, body) for where, headers, body in phone.got if where == path]

        waited(lambda: posted("/topic") and posted("/hook"), within(20))
        headers, body = posted("/topic")[0]
        assert body == picture
        assert headers["Title"] == "=?utf-8?b?VMO8cmU=?="
        assert headers["Filename"].endswith(".png")
        assert len(posted("/topic")) == 1  # no events
        hooked = [json.loads(body) for _, body in posted("/hook")]
        assert [each for each in hooked if each["type"] == "alert"] == [alert]

        waited(lambda: any(topic == f"air/alert/{rule}" for topic, _ in reader.got), within(20))
        told = dict(reader.got)
        assert json.loads(told[f"air/alert/{rule}"]) == alert
        assert told[f"air/picture/{rule}"] == picture
        announced = {topic: json.loads(text) for topic, text in told.items() if topic.endswith("/config")}
        kinds = {topic.split("/")[1]: config for topic, config in announced.items() if rule in topic}
        assert set(kinds) == {"binary_sensor", "image", "sensor"}
        assert kinds["binary_sensor"]["state_topic"] == f"air/alert/{rule}"
        assert kinds["image"]["image_topic"] == f"air/picture/{rule}"
        assert kinds["sensor"]["state_topic"] == f"air/watch/{rule}"
        of_streams = {topic for topic in announced if rule not in topic}
        assert of_streams == {f"homeassistant/sensor/wavetell_{stream}/config"}  # none of a single emission

        service.http.delete(f"/v1/watches/{rule}")
        gone = f"homeassistant/image/wavetell_{rule}/config"
        waited(lambda: dict(reader.got)[gone] == b"", within(20))
        reader.close()


def test_a_quiet_time_keeps_alerts_and_tells_nobody(tmp_path, model, phone):
    source = write(tmp_path, band())
    argv = ("--allow-folders", str(tmp_path), "--sinks", f"ntfy:{phone.base}/topic")
    with serving(tmp_path / "data", model, *argv) as service:
        quiet = {"quiet_from": "00:00", "quiet_to": "23:59"}
        service.post("/v1/watches", json={"kind": "new", **AROUND_LOWER, **quiet})
        loud = {"f_low": UPPER - 5e3, "f_high": UPPER + 5e3}
        service.post("/v1/watches", json={"kind": "new", "name": "loud", **loud})
        hear(service, source)
        assert {alert["name"]: alert["quiet"] for alert in raised(service, 2)}["loud"] is False
        waited(lambda: phone.got, within(10))
        assert [headers["Title"] for _, headers, _ in phone.got] == ["loud"]


def test_quiet_times_may_pass_midnight():
    at = [
        Rule("unknown", quiet_from="22:00", quiet_to="06:30").quiet(midnight() + 3600 * h) for h in range(24)
    ]
    assert [hour for hour, quiet in enumerate(at) if quiet] == [0, 1, 2, 3, 4, 5, 6, 22, 23]
    at = [
        Rule("unknown", quiet_from="13:00", quiet_to="15:00").quiet(midnight() + 3600 * h) for h in range(24)
    ]
    assert [hour for hour, quiet in enumerate(at) if quiet] == [13, 14]


def midnight():
    """Of a day without a change of the clock, in local time."""
    return time.mktime((2026, 1, 14, 0, 0, 0, 0, 0, -1))


def test_a_flood_stays_within_the_limits_and_every_match_is_counted():
    """Ten thousand a minute for ten minutes, then a quiet hour and one more."""
    rule = Rule("unknown", per_hour=5, collapse_s=30.0)
    limit, alerts, step = Limit(rule), {}, 6 * 10**6
    for i in range(100_000):
        alert, new = limit.take(alert_row(rule, emission(0), None, NOW + i * step))
        assert new == (alert.id not in alerts)
        alerts[alert.id] = alert
    assert len(alerts) == 1  # it never stopped: one alert
    assert sum(alert.count for alert in alerts.values()) == 100_000
    later = NOW + 100_000 * step
    times = [later + i * 60 * SECOND for i in range(1, 61)]  # one a minute, above what collapses
    for at in times:
        alert, _ = limit.take(alert_row(rule, None, None, at))
        alerts[alert.id] = alert
    starts = sorted(alert.at_ns for alert in alerts.values())
    assert all(sum(a <= at < a + 3600 * SECOND for at in starts) <= 5 for a in starts)
    assert sum(alert.count for alert in alerts.values()) == 100_060
    again = Limit(rule, sorted(alerts.values(), key=lambda alert: alert.at_ns))  # after a restart
    assert again.take(alert_row(rule, None, None, times[-1] + 60 * SECOND))[1] == (
        sum(at > times[-1] - 3540 * SECOND for at in starts) < 5
    )


def test_a_place_is_known_by_where_it_lies_not_by_its_exact_edges():
    places, first = Places(), emission(0, low=433e6)  # 500 Hz wide
    assert places.hear(first) is None
    moved = replace(first, lower_hz=first.lower_hz + 100, upper_hz=first.upper_hz + 150, to_ns=NOW + 9)
    assert places.hear(moved) == pytest.approx(first.to_ns, abs=1000)
    beside = replace(first, lower_hz=first.upper_hz + 300, upper_hz=first.upper_hz + 800)
    assert places.hear(beside) is None
    wide = replace(first, lower_hz=first.lower_hz - 1e4, upper_hz=first.upper_hz + 1e4)
    assert places.hear(wide) == pytest.approx(first.to_ns, abs=1000)


def judged(rule, rows, quiet=("noise",)):
    """Which of these emissions are matches."""
    judge, places = open_judge(rule, NOW, quiet, armed=False), Places()
    return [judge.hear(row, places.hear(row)) for row in rows if rule.covers(row)]


def test_labels_families_and_unknown_are_told_once_per_emission():
    rows = [emission(1), emission(2, "B", family="FM"), emission(1, state="update"), emission(3, "unknown")]
    assert judged(Rule("label", label="A"), rows) == [True, False, False, False]
    assert judged(Rule("label", label="AM"), rows) == [True, False, False, True]
    assert judged(Rule("unknown"), rows) == [False, False, False, True]
    later = [emission(1, "B"), emission(1, "A", state="update")]
    assert judged(Rule("label", label="A"), later) == [False, True]
    assert judged(Rule("label", label="A", stream="other"), rows) == []
    assert judged(Rule("label", label="A", f_low=433.0015e6, f_high=434e6), rows) == [False, False]


def test_what_comes_back_to_a_place_is_new_only_after_its_time():
    rule = Rule("new", minutes=1.0)
    first = emission(0)
    soon = replace(first, id="soon", from_ns=NOW + 50 * SECOND, to_ns=NOW + 51 * SECOND)
    late = replace(first, id="late", from_ns=NOW + 130 * SECOND, to_ns=NOW + 131 * SECOND)
    noise = replace(emission(9, "noise"), from_ns=NOW + 200 * SECOND)
    assert judged(rule, [first, soon, late, noise]) == [True, False, True, False]
    assert judged(rule, [replace(first, state="update"), first]) == [
        False,
        False,
    ]  # it was there before the rule


def test_silence_needs_something_before_it_and_counts_only_while_it_listens():
    judge = open_judge(Rule("silent", minutes=1.0), NOW, (), armed=False)
    assert not judge.tick(NOW + 999 * SECOND, True)
    judge = open_judge(Rule("silent", minutes=1.0), NOW, (), armed=False)
    judge.hear(emission(0), None)  # until NOW + 1 s
    assert not judge.tick(NOW + 30 * SECOND, True)
    assert not judge.tick(NOW + 60 * SECOND, False)  # the radio was away
    assert not judge.tick(NOW + 110 * SECOND, True)
    assert judge.tick(NOW + 121 * SECOND, True)
    assert not judge.tick(NOW + 999 * SECOND, True)  # once


def test_occupancy_is_the_share_of_moments_in_which_something_is_on():
    """Against drawing moments: each emission is on with its duty cycle, whatever the others do."""
    rng = random.Random(3)
    spans = [
        (a := rng.uniform(0, 900), a + rng.uniform(1, 60), rng.choice([1.0, 0.3, 0.05])) for _ in range(40)
    ]
    moments = [rng.uniform(100, 1000) for _ in range(60_000)]
    on = [any(a <= t < b and rng.random() < duty for a, b, duty in spans) for t in moments]
    assert busy(np.array(spans), 100, 1000) == pytest.approx(sum(on) / len(on), abs=0.01)
    assert busy(np.empty((0, 3)), 0, 1) == 0


def test_occupancy_above_its_limit_is_told_again_once_it_has_fallen():
    judge = open_judge(Rule("occupied", minutes=1.0, percent=50.0), NOW, (), armed=False)
    told = []
    for second in range(0, 300, 6):  # on for a minute, off for two, on again
        if second < 60 or second >= 180:
            row = replace(emission(second), from_ns=NOW + (second - 6) * SECOND, to_ns=NOW + second * SECOND)
            judge.hear(replace(row, duty=1.0), None)
        if judge.tick(NOW + second * SECOND, True):
            told.append(second)
    assert len(told) == 2
    assert 24 <= told[0] <= 42
    assert 204 <= told[1] <= 222
    assert judge.band.on_air(NOW + 294 * SECOND) == 1


def test_a_watched_band_forgets_what_is_older_than_its_window():
    watched = WatchedBand(1.0)
    for i in range(1000):
        watched.hear(emission(i))
    assert len(watched._spans) <= 62


def test_alerts_are_found_page_by_page_in_both_databases(history):  # noqa: F811
    history.database.run([("DELETE FROM alerts", [()])])
    rule = Rule("label", label="A")
    rows = [alert_row(rule, emission(i), None, NOW + i * SECOND) for i in range(25)]
    other = replace(alert_row(Rule("occupied", percent=10), None, 0.25, NOW), stream=None)
    put_alerts(history.database, [*rows, other])
    found, cursor = [], ""
    while True:
        page = find_alerts(history.database, AlertQuery(rule=rule.id, limit=10, cursor=cursor))
        found, cursor = found + page.rows, page.cursor
        if not cursor:
            break
    assert found == rows[::-1]
    grown = replace(rows[3], count=7, to_ns=NOW + 99 * SECOND)
    put_alerts(history.database, [grown])
    assert find_alert(history.database, grown.id) == grown
    lately = find_alerts(history.database, AlertQuery(from_ns=NOW + 20 * SECOND, stream="s")).rows
    assert lately == [*rows[:19:-1], grown]
    assert find_alert(history.database, other.id).occupancy == 0.25


def test_when_something_was_last_heard_is_asked_of_both_databases(history):  # noqa: F811
    for i in range(5):
        history.follow(emission(i, "AB"[i % 2], family=None))
    history.flush()
    assert last_heard_ns(history.database, Rule("silent")) == NOW + 5 * SECOND
    assert last_heard_ns(history.database, Rule("silent", label="B")) == NOW + 4 * SECOND
    assert last_heard_ns(history.database, Rule("silent", f_low=433e6, f_high=433.0015e6)) == NOW + 2 * SECOND
    assert last_heard_ns(history.database, Rule("silent", stream="other")) is None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"kind": "louder"},
        {"kind": "label"},
        {"kind": "unknown", "label": "A"},
        {"kind": "new", "f_low": 1e6},
        {"kind": "new", "f_low": 2e6, "f_high": 1e6},
        {"kind": "silent", "minutes": 0},
        {"kind": "occupied", "percent": 100},
        {"kind": "new", "quiet_from": "22:00"},
        {"kind": "new", "quiet_from": "24:00", "quiet_to": "06:00"},
        {"kind": "new", "name": "\x00"},
        {"kind": "new", "more": 1},
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_in_one_line(service, body):
    answer = service.post("/v1/watches", json=body)
    assert answer.status_code == 422
    assert "\n" not in answer.json()["detail"]


def test_what_is_not_there_is_not_found(service):
    for path in ("alerts/nobody", "alerts/nobody/picture", "alerts/nobody/clip"):
        assert service.get(f"/v1/{path}").status_code == 404
    assert service.http.delete("/v1/alerts/nobody").status_code == 404
    assert service.http.delete("/v1/watches/nobody").json()["detail"] == "there is no watch rule nobody"


def test_a_damaged_list_is_set_aside(tmp_path, model):
    data = tmp_path / "data"
    data.mkdir()
    (data / "watches.json").write_text('[{"kind": "new", "per_hour": "many"}]')
    with serving(data, model) as service:
        assert service.get("/v1/watches").json() == {"watches": []}
    assert len(list(data.glob("watches.json.damaged-*"))) == 1
