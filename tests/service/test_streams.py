"""Streams over REST: real sources, real sockets; what fails stays alone, and nothing is lost unseen."""

import json
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
import zmq
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

from service.live.retry import Retry
from service.live.spectrum import HEADER, MAGIC
from streaming.errors import SourceError
from tests.ports import free_port
from tests.service.conftest import serving

TONE = "tone:?rate=48k&snr_db=20"


def live(service, stream, query=""):
    return connect(f"ws{service.base[4:]}/v1/streams/{stream}/live{query}")


def evenly_spaced(hops):
    """None is left out: at the model's rate they lie a hop apart, in the source's samples up to rounding."""
    steps = np.diff([hop["end"] for hop in hops])
    return steps.min() > 0 and np.ptp(steps) <= 1


@pytest.fixture
def tone(service):
    stream = service.stream(TONE, name="a tone")
    yield stream
    service.http.delete(f"/v1/streams/{stream}")


@pytest.fixture
def hopping(level_service):
    """A service that answers every hop, and a stream of it."""
    stream = level_service.stream(TONE, name="a tone")
    yield level_service, stream
    level_service.http.delete(f"/v1/streams/{stream}")


def test_a_stream_is_created_listed_inspected_and_deleted(service):
    stream = service.stream(TONE, name="a tone")
    assert stream in [entry["id"] for entry in service.get("/v1/streams").json()]
    about = service.until(f"/v1/streams/{stream}", lambda s: s["latest"])
    assert about["name"] == "a tone"
    assert about["state"] == "running"
    assert about["rate_hz"] == 48000
    assert about["latest"]["label"] in about["classes"]
    in_band_db = 20 + 10 * np.log10(64)  # the front end takes a carrier for 1/64 of the band
    assert about["latest"]["snr_db"] == pytest.approx(in_band_db, abs=3)
    assert service.http.delete(f"/v1/streams/{stream}").status_code == 204
    assert service.get(f"/v1/streams/{stream}").status_code == 404
    assert service.http.delete(f"/v1/streams/{stream}").status_code == 404


def test_reports_come_over_a_websocket_and_follow_each_other(hopping):
    service, tone = hopping
    with live(service, tone) as socket:
        reports = [json.loads(socket.recv(timeout=10)) for _ in range(5)]
    reports = [message for message in reports if message["type"] == "report"]
    assert len(reports) >= 3
    assert all(b["start"] > a["start"] for a, b in pairwise(reports))
    assert reports[-1]["stream"] == tone
    assert reports[-1]["past"] == "warm"


def test_every_hop_comes_if_asked_for(hopping):
    service, tone = hopping
    hops = []
    with live(service, tone, "?hops=true") as socket:
        while len(hops) < 100:
            message = json.loads(socket.recv(timeout=10))
            hops += message["hops"] if message["type"] == "hops" else []
    assert evenly_spaced(hops)


def test_server_sent_events_carry_the_same_reports(service, tone):
    with service.http.stream("GET", f"/v1/streams/{tone}/live") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = (line for line in answer.iter_lines() if line.startswith("data: "))
        report = json.loads(next(lines)[6:])
    assert report["type"] in ("report", "event")
    assert report["stream"] == tone


def test_a_paused_stream_closes_its_source_and_goes_on_behind_a_gap(service, tone):
    service.until(f"/v1/streams/{tone}", lambda s: s["latest"])
    assert service.http.patch(f"/v1/streams/{tone}", json={"state": "paused"}).json()["state"] == "paused"
    before = service.get(f"/v1/streams/{tone}").json()
    time.sleep(0.3)
    assert service.get(f"/v1/streams/{tone}").json()["kept"]["end"] == before["kept"]["end"]
    with live(service, tone) as socket:
        service.http.patch(f"/v1/streams/{tone}", json={"state": "running"})
        message = json.loads(socket.recv(timeout=10))
        while message["type"] != "gap":
            message = json.loads(socket.recv(timeout=10))
    assert message["reason"] == "paused"
    assert message["samples"] >= 0.3 * 48000
    after = service.until(f"/v1/streams/{tone}", lambda s: s["latest"]["start"] > before["kept"]["end"])
    assert after["samples"]["gaps"] == 1


def test_another_head_answers_from_the_next_hop_on(hopping):
    service, tone = hopping
    service.until(f"/v1/streams/{tone}", lambda s: s["latest"])
    hops = []
    with live(service, tone, "?hops=true") as socket:
        service.http.patch(f"/v1/streams/{tone}", json={"head": "other"})
        until = time.monotonic() + 1
        while time.monotonic() < until:
            message = json.loads(socket.recv(timeout=10))
            hops += message["hops"] if message["type"] == "hops" else []
    assert evenly_spaced(hops)
    assert {hop["past"] for hop in hops[20:]} == {"warm"}
    assert service.get(f"/v1/streams/{tone}").json()["head"] == "other"
    answer = service.http.patch(f"/v1/streams/{tone}", json={"head": "frames"})
    assert answer.status_code == 422


def test_a_source_that_cannot_be_retuned_says_so(service, tone):
    answer = service.http.patch(f"/v1/streams/{tone}", json={"freq_hz": 433.92e6})
    assert answer.status_code == 422
    assert "cannot be retuned" in answer.json()["detail"]


def test_what_zmq_sends_is_answered_and_nan_is_dropped_and_counted(service, tone):
    port = free_port()
    context = zmq.Context()
    socket = context.socket(zmq.PUSH)
    socket.bind(f"tcp://127.0.0.1:{port}")
    stream = service.stream(f"zmq:tcp://127.0.0.1:{port}?rate=48k&type=pull")
    good, bad = (np.full(4000, value, np.complex64).tobytes() for value in (1, np.nan))
    try:
        socket.send(good)
        service.until(f"/v1/streams/{stream}", lambda s: s["samples"]["processed"] == 4000)
        socket.send(bad)
        service.until(f"/v1/streams/{stream}", lambda s: s["samples"]["dropped"] == {"not finite": 4000})
        huge = np.full(4000, 1e38, np.complex64).tobytes()  # its square is no number
        for part in (good, bad, huge, good, good, good):  # all at once: what waits together is one push
            socket.send(part)
        about = service.until(f"/v1/streams/{stream}", lambda s: s["samples"]["processed"] == 5 * 4000)
        assert about["samples"]["dropped"] == {"not finite": 3 * 4000}
        assert about["samples"]["received"] == 8 * 4000
        assert about["samples"]["gaps"] == 2
        assert about["state"] == "running"
        assert service.get(f"/v1/streams/{tone}").json()["samples"]["gaps"] == 0
    finally:
        context.destroy(0)
        service.http.delete(f"/v1/streams/{stream}")


def test_a_stream_that_fails_says_why_and_touches_no_other(service, tone):
    port = free_port()
    context = zmq.Context()
    socket = context.socket(zmq.PUSH)
    socket.bind(f"tcp://127.0.0.1:{port}")
    stream = service.stream(f"zmq:tcp://127.0.0.1:{port}?rate=48k&type=pull")
    try:
        socket.send(b"no multiple of eight")
        about = service.until(f"/v1/streams/{stream}", lambda s: s["state"] == "failed")
        assert "no multiple of 8" in about["error"]
        ready = service.get("/v1/ready")
        assert ready.status_code == 503
        assert stream in ready.json()["wrong"][0]
        before = service.get(f"/v1/streams/{tone}").json()["samples"]["processed"]
        service.until(f"/v1/streams/{tone}", lambda s: s["samples"]["processed"] > before)
    finally:
        context.destroy(0)
        service.http.delete(f"/v1/streams/{stream}")
    assert service.get("/v1/ready").status_code == 200


def test_the_spectrum_comes_in_binary_frames_at_the_readers_pace(service, tone):
    service.until(f"/v1/streams/{tone}", lambda s: s["latest"])
    url = f"ws{service.base[4:]}/v1/streams/{tone}/spectrum?rate=20&bins=256&points=64"
    with connect(url) as socket:
        frames = [socket.recv(timeout=5) for _ in range(20)]
        socket.send("0")
        while True:
            try:
                socket.recv(timeout=0.5)
            except TimeoutError:
                break
    covered = [end - start for _, _, _, start, end, *_ in map(HEADER.unpack_from, frames)]
    assert 48_000 / 20 <= np.median(covered) < 48_000 / 15  # samples, in the stream's own time
    magic, bins, points, start, end, _, rate, freq, _, lost = HEADER.unpack_from(frames[-1])
    assert (magic, bins, points, rate, lost) == (MAGIC, 256, 64, 48000.0, 0)
    assert np.isnan(freq)
    assert start == HEADER.unpack_from(frames[-2])[4]
    assert end > start
    row = np.frombuffer(frames[-1], "<f4", 256, HEADER.size)
    assert row.argmax() == 128 + round(256 * 0.04)  # the tone lies at rate / 25
    assert len(frames[-1]) == HEADER.size + 4 * 256 + 8 * 64
    kept = service.get(f"/v1/streams/{tone}").json()["kept"]
    query = {"start": kept["start"], "end": kept["end"], "count": 10, "bins": 256}
    rows = service.get(f"/v1/streams/{tone}/spectrum", params=query).content
    assert len(rows) == 10 * (HEADER.size + 4 * 256)


def test_rows_of_the_spectrum_go_on_evenly_where_samples_come_in_bursts(service):
    """As an RTL-SDR hands them over at its lowest rate: half a second at once."""
    context, port = zmq.Context(), free_port()
    pusher = context.socket(zmq.PUSH)
    pusher.bind(f"tcp://127.0.0.1:{port}")
    stream = service.stream(f"zmq:tcp://127.0.0.1:{port}?rate=48k&type=pull")
    burst, done = np.ones(24_000, "<c8").tobytes(), threading.Event()

    def push():
        while not done.wait(0.5):
            pusher.send(burst)

    pushing = threading.Thread(target=push)
    pushing.start()
    try:
        with connect(f"ws{service.base[4:]}/v1/streams/{stream}/spectrum?rate=30&bins=64&points=0") as socket:
            heads = [HEADER.unpack_from(socket.recv(timeout=10)) for _ in range(60)]
    finally:
        done.set()
        pushing.join()
        context.destroy(0)
        service.http.delete(f"/v1/streams/{stream}")
    seconds = [(head[4] - head[3]) / head[6] for head in heads]
    assert np.median(seconds) < 0.05


def test_a_slow_reader_of_the_spectrum_gets_fewer_frames_never_old_ones(service, tone):
    url = f"ws{service.base[4:]}/v1/streams/{tone}/spectrum?rate=30&bins=256&points=0&ahead=3"
    with connect(url) as socket:
        before = [HEADER.unpack_from(socket.recv(timeout=5)) for _ in range(3)]
        with pytest.raises(TimeoutError):
            socket.recv(timeout=2)
        newest = service.get(f"/v1/streams/{tone}").json()["kept"]["end"]
        socket.send("seen")
        *_, start, end, _, rate, _, _, lost = HEADER.unpack_from(socket.recv(timeout=5))
    assert end > newest - rate
    assert (start, lost) == (before[-1][4], 0)  # what waited is in it


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"source": "nonsense"}, 422, "no scheme"),
        ({"source": "tone:?rate=0"}, 422, "it must be from 1 to 10G S/s"),
        ({"source": "file:/etc/passwd"}, 403, "outside"),
        ({"source": "file:../../etc/passwd?rate=1k&type=cu8"}, 403, "outside"),
        ({"source": "zmq:tcp://10.0.0.1:5555?rate=1k"}, 403, "10.0.0.1"),
        ({"source": "zmq:ipc:///tmp/x?rate=1k"}, 403, "ipc"),
        ({"source": "zmq:tcp://127.0.0.1:1;10.0.0.1:5555?rate=1k"}, 403, "not allowed"),
        ({"source": "rtltcp:10.0.0.1:1234"}, 403, "10.0.0.1"),
        ({"source": "soapy:driver=remote,remote=tcp://10.0.0.1:55132"}, 403, "10.0.0.1"),
        ({"source": "soapy:driver=replay,path=/etc/passwd"}, 403, "path=/etc/passwd"),
        ({"source": "http://10.0.0.1/"}, 403, "scheme"),
        ({"source": "tone:", "head": "nobody"}, 422, "nobody"),
        ({}, 422, "source"),
    ],
)
def test_a_source_that_may_not_or_cannot_be_opened_is_refused(service, body, status, says):
    answer = service.post("/v1/streams", json=body)
    assert answer.status_code == status, answer.text
    assert says in answer.json()["detail"]


def test_metrics_tell_what_happened(service, tone):
    before = service.until(f"/v1/streams/{tone}", lambda s: s["latest"])
    text = service.get("/metrics").text
    after = service.get(f"/v1/streams/{tone}").json()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]

    def metric(name, **labels):
        """The value of one sample, by its full name and some of its labels."""
        values = [
            s.value for s in samples if s.name == f"wavetell_{name}" and labels.items() <= s.labels.items()
        ]
        assert values, name
        return sum(values)

    assert metric("stream_running", stream=tone) == 1
    processed = metric("samples_processed_total", stream=tone)
    assert before["samples"]["processed"] <= processed <= after["samples"]["processed"]
    assert processed > 0
    hops = metric("predictions_total", stream=tone)
    assert 0 < sum(before["hops"].values()) <= hops <= sum(after["hops"].values())
    assert metric("gaps_total", stream=tone) == after["samples"]["gaps"] == 0
    assert metric("lag_seconds", stream=tone) >= 0
    assert metric("queue_samples", stream=tone) >= 0
    assert metric("real_time_factor") > 0
    assert metric("hop_latency_seconds_bucket", le="+Inf") == metric("hop_latency_seconds_count") >= hops
    health = service.get("/v1/health").json()
    assert metric("engine_info", detail=health["backend"], sha256=health["sha256"]) == 1
    assert metric("federation_round") == 0  # this model is of no federation


def test_a_stream_that_cannot_be_opened_is_tried_again_until_it_can(tmp_path, model):
    """The recording is not there yet, as a radio may not be plugged in when the machine starts."""
    recording, data = tmp_path / "late.cf32", tmp_path / "data"
    data.mkdir()
    wanted = {"source": f"file:{recording}?rate=48k&pace=realtime&loop=1", "name": "late", "head": ""}
    (data / "streams.json").write_text(json.dumps({"0" * 24: wanted}))
    with serving(data, model) as service:
        about = service.get(f"/v1/streams/{'0' * 24}").json()
        assert about["state"] == "failed"
        assert "late.cf32" in about["error"]
        np.ones(48_000, np.complex64).tofile(recording)
        about = service.until(f"/v1/streams/{'0' * 24}", lambda s: s["latest"], 60)
        assert (about["state"], about["error"]) == ("running", "")
        assert service.get("/v1/ready").status_code == 200


class Never:
    """A stream that never opens."""

    def __init__(self):
        self.id, self.state, self.tries = "never", "failed", 0

    def start(self):
        self.tries += 1
        raise SourceError("not there")

    def fail(self, error):
        self.state = "failed"


def test_tries_come_ever_more_rarely():
    stream = Never()
    retry = Retry(lambda: [stream])
    tries = []
    for second in range(600):
        retry.look(float(second))
        tries.append(stream.tries)
    waits = np.diff(np.flatnonzero(np.diff(tries)))
    assert list(waits[:4]) == [6, 12, 24, 48]
    assert set(waits[4:]) == {60}
