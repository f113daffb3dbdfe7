"""Events must last; they reach files, a real broker, web hooks and sockets; a dead sink slows nobody."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from websockets.sync.client import connect

from service.live.events import Detector
from service.sinks import open_sinks
from service.sinks.sink import DEPTH, Sink, Unavailable
from streaming.errors import ConfigError
from tests.ports import free_port
from tests.service.conftest import serving
from tests.service.servers import mosquitto
from tests.service.test_history import event, run

EVENT = event(0).describe()
SENT = EVENT.model_dump()  # as a receiver reads it
# paho leaves the listener of its socket pair to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def waited(condition, seconds=15):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def published(reports, families=None):
    """The labels of the events that these (label, hops) reports of a second each make."""
    detector = Detector("", hits=25, min_ms=1500)
    families = families or {}
    runs = [
        run(i, label, hops=hops, family=families.get(label, label if label in families.values() else None))
        for i, (label, hops) in enumerate(reports)
    ]
    found = [detector.push(each) for each in runs]
    return [(each.label, each.previous, each.start_sample) for each in found if each]


def test_a_change_is_an_event_once_it_has_lasted():
    assert published([("A", 100)]) == []  # long enough in hops, not in time
    assert published([("A", 100), ("A", 100)]) == [("A", "", 0)]
    assert published([("A", 5)] * 4) == []  # long enough in time, not in hops
    assert published([("A", 20), ("A", 20), ("B", 90), ("A", 9), ("B", 90)]) == [("A", "", 0)]
    assert published([("A", 90)] * 2 + [("B", 90)] * 5) == [("A", "", 0), ("B", "A", 2000)]


def test_a_family_is_no_change_from_its_class_but_from_another_one():
    families = {"QPSK": "PSK", "8PSK": "PSK", "16QAM": "QAM"}
    doubtful = [("QPSK", 90)] * 2 + [("PSK", 90)] * 5
    assert published(doubtful, families) == [("QPSK", "", 0)]
    assert published([*doubtful, *[("QAM", 90)] * 2], families)[1:] == [("QAM", "QPSK", 7000)]
    assert published([*doubtful, *[("8PSK", 90)] * 2], families)[1:] == [("8PSK", "QPSK", 7000)]


@pytest.fixture
def hook():
    """A web hook that answers with the given codes in turn, then 200."""

    class Handler(BaseHTTPRequestHandler):
        codes, got = [], []

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.got.append((body, self.headers["Idempotency-Key"]))
            self.send_response(self.codes.pop(0) if self.codes else 200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Handler.url = f"http://127.0.0.1:{server.server_port}/hook"
    yield Handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_web_hook_is_tried_again_until_it_takes_the_event(hook):
    hook.codes[:] = [500, 429]
    (sink,) = open_sinks(hook.url)
    sink.put(EVENT)
    waited(lambda: sink.sent == 1)
    assert hook.got == [(SENT, EVENT.id)] * 3
    hook.codes[:] = [400]
    sink.put(EVENT)
    waited(lambda: sink.lost == 1)  # it will never take it
    sink.close(5)


def test_lines_go_to_a_file_and_a_folder_that_is_missing_may_come_later(tmp_path):
    path = tmp_path / "later" / "events.jsonl"
    (sink,) = open_sinks(f"file:{path}")
    sink.put(EVENT)
    time.sleep(0.2)
    path.parent.mkdir()
    waited(lambda: sink.sent == 1)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [SENT]
    sink.close(5)


def test_a_sink_that_hangs_takes_everything_without_waiting_and_counts_what_it_gives_up():
    hangs, released = threading.Event(), threading.Event()

    class Hanging(Sink):
        def deliver(self, event):
            hangs.set()
            released.wait()
            raise Unavailable("nobody was there")

    sink = Hanging("hanging")
    sink.start()
    sink.put(EVENT)
    hangs.wait()
    for _ in range(DEPTH + 99):  # a `put` or a `close` that waited for the delivery would never return
        sink.put(EVENT)
    sink.close(0.1)
    assert sink.sent == 0
    assert sink.lost == DEPTH + 100
    released.set()


def test_a_sink_whose_other_side_is_away_is_closed_without_another_try():
    tries = []

    class Dead(Sink):
        def deliver(self, event):
            tries.append(event)
            raise Unavailable("nobody is there")

    sink = Dead("dead")
    sink.start()
    sink.put(EVENT)
    waited(lambda: tries)
    sink.close(60)
    assert not sink.thread._thread.is_alive()
    assert (len(tries), sink.sent, sink.lost) == (1, 0, 1)


def test_an_unknown_sink_is_refused():
    with pytest.raises(ConfigError, match="must begin with"):
        open_sinks("carrier-pigeon:")


@pytest.mark.parametrize("kind", ["mqtt", "mqtts", "http", "https"])
@pytest.mark.parametrize(
    "where", ["", ":1883", "[x", "x:99999", "x:0", "x:port", "a..b", "me:secret@[", "me:secret@x:99999"]
)
def test_a_sink_that_cannot_be_reached_ever_is_refused_without_its_password(kind, where):
    with pytest.raises(ConfigError, match=f"an {kind} sink") as caught:
        open_sinks(f"{kind}://{where}/path")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


class Reader:
    """A subscriber of everything."""

    def __init__(self, port):
        self.got = []
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2)
        self.client.on_message = lambda _, __, message: self.got.append((message.topic, message.payload))
        self.client.on_connect = lambda client, *_: client.subscribe("#", qos=1)
        waited(lambda: self.connects(port))
        self.client.loop_start()

    def connects(self, port):
        try:
            return self.client.connect("127.0.0.1", port) == 0
        except OSError:
            return False

    def close(self):
        self.client.disconnect()
        self.client.loop_stop()


def test_the_broker_gets_every_event_also_those_of_its_absence(tmp_path):
    port = free_port()
    (sink,) = open_sinks(f"mqtt://127.0.0.1:{port}/air?discovery=homeassistant")
    sink.put(EVENT)
    time.sleep(0.3)  # nobody is there yet
    with mosquitto(tmp_path, port):
        reader = Reader(port)
        waited(lambda: sink.sent == 1)
        waited(lambda: len(reader.got) >= 4)
        got = dict(reader.got)
        assert json.loads(got["air/s/event"]) == SENT
        assert json.loads(got["air/s/state"]) == SENT
        assert got["air/status"] == b"online"
        config = json.loads(got["homeassistant/sensor/wavetell_s/config"])
        assert config["state_topic"] == "air/s/state"
        reader.close()
    sink.put(EVENT.model_copy(update={"id": "second"}))
    time.sleep(0.5)
    with mosquitto(tmp_path, port):
        reader = Reader(port)
        waited(lambda: sink.sent == 2)
        waited(lambda: "air/s/event" in dict(reader.got) or "air/s/state" in dict(reader.got))
        assert json.loads(dict(reader.got)["air/s/state"])["id"] == "second"
        sink.close(5)
        waited(lambda: dict(reader.got).get("air/status") == b"offline")
        reader.close()


def test_events_of_a_service_reach_every_kind_of_reader(tmp_path, model, hook):
    port = free_port()
    lines = tmp_path / "events.jsonl"
    dead = f"http://127.0.0.1:{free_port()}/nobody"
    sinks = f"file:{lines},mqtt://127.0.0.1:{port}/air,{hook.url},{dead},stdout"
    with mosquitto(tmp_path, port), serving(tmp_path / "data", model, "--sinks", sinks) as service:
        reader = Reader(port)
        with connect(f"ws{service.base[4:]}/v1/events/live") as socket:
            stream = service.stream("tone:?rate=48k", name="a tone")
            live = json.loads(socket.recv(timeout=15))
        waited(lambda: lines.exists() and hook.got and f"air/{stream}/event" in dict(reader.got))
        assert json.loads(lines.read_text()) == live
        assert hook.got[0][0] == live
        assert json.loads(dict(reader.got)[f"air/{stream}/event"]) == live
        waited(lambda: f"air/{stream}/emission" in dict(reader.got))
        began = json.loads(dict(reader.got)[f"air/{stream}/emission"])
        assert (began["state"], began["emission"]) == ("new", live["emission"])
        assert len(lines.read_text().splitlines()) == 1  # other sinks get events alone
        assert json.loads(service.process.stdout.readline()) == live
        assert live["name"] == "a tone"
        before = service.get(f"/v1/streams/{stream}").json()
        service.until(f"/v1/streams/{stream}", lambda s: s["latest"]["start"] > before["latest"]["start"])
        assert before["samples"]["dropped"] == {}
        reader.close()
        service.stop()
