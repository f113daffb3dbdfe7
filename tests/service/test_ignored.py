"""What is ignored raises no event and reaches no sink; history still has it."""

import json

import pytest

from tests.ports import free_port
from tests.service.conftest import serving, within
from tests.service.scenes import band, write
from tests.service.servers import mosquitto
from tests.service.test_events import Reader, waited

FREQ = 433e6
LOWER, UPPER = FREQ - 60e3, FREQ + 50e3  # centres of what `band` sends


# paho leaves the listener of its socket pair to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def told(reader, stream):
    """Centres of the emissions that the broker was told of."""
    got = [json.loads(payload) for topic, payload in reader.got if topic == f"air/{stream}/emission"]
    return {LOWER if emission["centre_hz"] < FREQ else UPPER for emission in got}


def hear(service, source):
    """Let a recording play to its end; the stream."""
    stream = service.stream(f"file:{source}?pace=fast")
    service.until(f"/v1/streams/{stream}", lambda s: s["state"] == "ended", seconds=within(30))
    url = f"/v1/streams/{stream}/emissions?state=past"
    service.until(url, lambda page: len(page["emissions"]) == 2, seconds=within(10))
    return stream


def test_a_part_of_the_spectrum_is_ignored_until_it_is_told_again(tmp_path, model):
    source, port = write(tmp_path, band()), free_port()
    argv = ("--allow-folders", str(tmp_path), "--sinks", f"mqtt://127.0.0.1:{port}/air")
    with mosquitto(tmp_path, port), serving(tmp_path / "data", model, *argv) as service:
        reader = Reader(port)
        rule = service.post("/v1/ignored", json={"f_low": LOWER - 5e3, "f_high": LOWER + 5e3})
        assert rule.status_code == 201, rule.text
        stream = hear(service, source)
        waited(lambda: UPPER in told(reader, stream), within(10))
        assert told(reader, stream) == {UPPER}
        events = service.get(f"/v1/events?stream={stream}").json()["events"]
        assert events
        assert all(event["centre_hz"] is None or event["centre_hz"] > FREQ for event in events)
        history = service.get(f"/v1/streams/{stream}/emissions").json()["emissions"]
        assert {emission["centre_hz"] > FREQ for emission in history} == {False, True}

        assert service.http.delete(f"/v1/ignored/{rule.json()['id']}").status_code == 204
        assert service.get("/v1/ignored").json() == {"ignored": []}
        stream = hear(service, source)
        waited(lambda: told(reader, stream) == {LOWER, UPPER}, within(10))
        reader.close()


def test_rules_outlast_a_kill_and_end_by_themselves(tmp_path, model):
    with serving(tmp_path / "data", model) as service:
        kept = service.post("/v1/ignored", json={"label": "FSK", "stream": "one"}).json()
        hour = service.post("/v1/ignored", json={"emission": "some-1", "seconds": 3600}).json()
        service.post("/v1/ignored", json={"label": "AM", "seconds": 0.001})
        service.kill()
    assert kept["until"] is None
    assert hour["until"] > hour["created"]
    with serving(tmp_path / "data", model) as service:
        assert service.get("/v1/ignored").json()["ignored"] == [kept, hour]


def test_a_damaged_list_is_set_aside(tmp_path, model):
    data = tmp_path / "data"
    data.mkdir()
    (data / "ignored.json").write_text('[{"id": 1, "created_ns": 2}]')
    with serving(data, model) as service:
        assert service.get("/v1/ignored").json() == {"ignored": []}
    assert len(list(data.glob("ignored.json.damaged-*"))) == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"label": "FSK", "emission": "x"},
        {"f_low": 1e6},
        {"f_low": 2e6, "f_high": 1e6},
        {"label": "FSK", "seconds": 0},
        {"label": "FSK", "seconds": 1e30},
        {"label": "\x00"},
        {"label": ""},
        {"label": "FSK", "more": 1},
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_in_one_line(service, body):
    answer = service.post("/v1/ignored", json=body)
    assert answer.status_code == 422
    assert "\n" not in answer.json()["detail"]


def test_a_rule_that_is_not_there_is_not_found(service):
    answer = service.http.delete("/v1/ignored/nobody")
    assert (answer.status_code, answer.json()["detail"]) == (404, "nothing is ignored under nobody")
