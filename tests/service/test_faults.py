"""Damaged data folders, absent databases, used up connections, deletions under way and stops: it goes on."""

import json
import logging
import resource
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from service.quiet import PERIOD_S, TIMES, Quiet
from service.web.security import Tokens
from tests.ports import free_port
from tests.service.conftest import serving, within


def log_of(data):
    return (data.parent / f"{data.name}.log").read_text()


def aside(data, name):
    return [path.name for path in data.rglob(f"{name}.damaged-*")]


DAMAGE = {
    "streams.json": [
        b"",
        b"[",
        b"[]",
        b'{"a": 1}',
        b'{"a": {"source": 1, "name": "", "head": ""}}',
        b'{"a": {"source": "tone:", "name": "", "head": "", "plan": {"start_hz": 1}}}',
        b"\xff",
    ],
    "models/activations.json": [b"{", b"7", b'{"a": 1}', b"[1]", b"[" * 100_000],
    "history.sqlite": [b"no database at all, but long enough to be looked at as one" * 100],
}


@pytest.mark.parametrize(
    ("name", "content"), [(name, raw) for name, every in DAMAGE.items() for raw in every]
)
def test_what_is_damaged_is_set_aside_and_the_service_starts(tmp_path, model, name, content):
    data = tmp_path / "data"
    (data / name).parent.mkdir(parents=True)
    (data / name).write_bytes(content)
    with serving(data, model) as service:
        assert service.get("/v1/ready").json() == {"ready": True, "wrong": []}
        assert service.get("/v1/streams").json() == []
        assert service.get("/v1/events").json()["events"] == []
        assert len(service.get("/v1/models").json()["activations"]) == 1
    assert len(aside(data, name.rpartition("/")[2])) == 1
    assert "is damaged and was set aside" in log_of(data)
    assert "Traceback" not in log_of(data)


def test_a_stream_that_cannot_be_opened_again_does_not_keep_the_others(tmp_path, model):
    data = tmp_path / "data"
    data.mkdir()
    wanted = {
        "bad": {"source": "tone:?rate=\u0007", "name": "", "head": ""},
        "worse": {"source": "", "name": "", "head": ""},
        "good": {"source": "tone:?rate=48k", "name": "a", "head": ""},
        "failing": {"source": "tone:?rate=1e300", "name": "b", "head": ""},
    }
    (data / "streams.json").write_text(json.dumps(wanted))
    with serving(data, model) as service:
        states = {stream["id"]: stream["state"] for stream in service.get("/v1/streams").json()}
        assert states == {"good": "running", "failing": "failed"}
        assert service.http.delete("/v1/streams/failing").status_code == 204
    assert list(json.loads((data / "streams.json").read_text())) == ["good"]


def test_a_damaged_token_file_lets_nobody_in(tmp_path, model):
    data = tmp_path / "data"
    token = Tokens(data / "tokens.json").add("me", "admin")
    for content in (b"{", b"[]", b'{"me": {}}', b'{"me": {"role": "king", "sha256": "x"}}'):
        (data / "tokens.json").write_bytes(content)
        with serving(data, model) as service:
            for headers in ({}, {"Authorization": f"Bearer {token}"}):
                assert service.get("/v1/streams", headers=headers).status_code == 401
        assert "no token is valid until it is mended" in log_of(data)


def test_it_starts_while_the_database_is_away(tmp_path, model):
    data = tmp_path / "data"
    url = f"postgresql://wavetell@127.0.0.1:{free_port()}/none"
    with serving(data, model, "--history", url) as service:
        assert service.get("/v1/ready").json()["wrong"] == ["history cannot be written"]
        assert service.get("/v1/events").status_code == 503
        stream = service.stream("tone:?rate=48k")
        service.until(f"/v1/streams/{stream}", lambda state: state["latest"])
    assert "Traceback" not in log_of(data)


def test_entries_that_cannot_be_read_are_listed_as_broken_and_can_be_deleted(tmp_path, model):
    data = tmp_path / "data"
    for folder in ("labels", "recordings", "models"):
        (data / folder).mkdir(parents=True)
    for content, name in (
        (b"", "empty"),
        (b"[]", "list"),
        (b'{"annotations": [1]}', "number"),
        (b"\xff", "bytes"),
    ):
        (data / "labels" / f"{name}.sigmf-meta").write_bytes(content)
        (data / "recordings" / f"{name}.sigmf-meta").write_bytes(content)
        (data / "models" / f"{name}.safetensors").write_bytes(content)
    federation = tmp_path / "federation"
    federation.mkdir()
    (federation / "run.sqlite").write_bytes(b"no database")
    with serving(data, model, "--federation", str(federation)) as service:
        names = {"empty", "list", "number", "bytes"}
        assert {entry["id"] for entry in service.get("/v1/labels").json()["broken"]} == names
        assert {entry["id"] for entry in service.get("/v1/models").json()["broken"]} == names
        recordings = service.get("/v1/recordings").json()
        assert {entry["id"] for entry in recordings if entry["broken"]} == names
        assert [entry["id"] for entry in service.get("/v1/federation").json()["broken"]] == [str(federation)]
        for kind in ("labels", "models", "recordings"):
            for name in names:
                assert service.http.delete(f"/v1/{kind}/{name}").status_code == 204
        assert service.get("/v1/recordings").json() == []
    assert "Traceback" not in log_of(data)


def test_what_a_killed_service_was_working_on_is_gone_after_the_next_start(tmp_path, model):
    data = tmp_path / "data"
    for folder in (data / "work-x", data / "models" / "work-y"):
        folder.mkdir(parents=True)
        (folder / "trial.safetensors").write_bytes(b"x")
    with serving(data, model):
        pass
    assert list(data.rglob("work-*")) == []


def test_connections_that_stay_idle_leave_room_for_others_and_a_short_log(tmp_path, model):
    """More connections than open files: the service refuses them itself, and goes on answering."""
    data, limit = tmp_path / "data", 640
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(files, min(most, 4096)), most))
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (300, 640));"
        "from service.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    options = [
        "serve",
        "--port",
        "0",
        "--data",
        str(data),
        "--model",
        str(model),
        "--max-connections",
        "2000",
    ]
    log = (tmp_path / "log").open("wb")
    with (
        log,
        subprocess.Popen(
            [sys.executable, "-c", program, *options], stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        base = process.stdout.readline().split()[1].rstrip("/")
        host, port = base.removeprefix("http://").split(":")
        idle = []
        try:
            for _ in range(2 * limit):
                idle.append(socket.create_connection((host, int(port)), timeout=30))
            time.sleep(0.5)
            for one in idle[-limit:]:  # of one address only half are kept: the newest were refused
                one.close()
            end = time.monotonic() + within(20)
            while True:
                try:
                    assert httpx.get(f"{base}/v1/health", timeout=30).status_code == 200
                    break
                except httpx.TransportError:
                    assert time.monotonic() < end
                    time.sleep(0.1)
        finally:
            for one in idle:
                one.close()
            process.terminate()
            process.wait(60)
    text = (tmp_path / "log").read_text()
    assert "max_connections is 2000; 640 open files leave room for" in text
    assert "Too many open files" not in text
    assert len(text) < 2000


def test_too_few_open_files_are_one_line(tmp_path, model):
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200));"
        "from service.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    options = ["serve", "--port", "0", "--data", str(tmp_path / "data"), "--model", str(model)]
    done = subprocess.run(
        [sys.executable, "-c", program, *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "this process may open 200 files; it needs more than" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--data", "/proc/nothing"], "data is /proc/nothing; this folder cannot be made"),
        (["--history", "postgresql://me:secret@["], "history is not a URL that PostgreSQL can use"),
        (
            ["--tls-cert", "/nothing", "--tls-key", "/nothing"],
            "tls_cert /nothing and tls_key /nothing cannot",
        ),
        (["--tls-cert", __file__, "--tls-key", __file__], "cannot be used together"),
        (["--sinks", "mqtt://me:secret@[x"], "the URL of an mqtt sink cannot be used"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_line_at_the_start(tmp_path, model, options, line):
    command = ["serve", "--port", "0", "--data", str(tmp_path / "data"), "--model", str(model), *options]
    done = subprocess.run(
        [sys.executable, "-m", "service.cli", *command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert line in done.stderr
    assert done.stderr.count("\n") == 1
    assert "secret" not in done.stderr


def test_a_client_that_breaks_off_or_talks_nonsense_leaves_no_traceback(tmp_path, model):
    data = tmp_path / "data"
    with serving(data, model) as service:
        host, port = service.base.removeprefix("http://").split(":")
        head = b"POST /v1/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\n"
        form = b"multipart/form-data; boundary=x"
        for path, kind in ((b"predict", b"x/y"), (b"predict", form), (b"streams", b"application/json")):
            for rest in (b"Content-Length: 1000\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"):
                with socket.create_connection((host, int(port)), timeout=30) as connection:
                    connection.sendall(head % (path, kind) + rest)
                    time.sleep(0.1)
        stream = service.stream("tone:?rate=48k")
        where = f"{service.base.replace('http', 'ws')}/v1/streams/"
        with connect(f"{where}{stream}/live") as reader:
            reader.socket.sendall(b"\x81\x82\0\0\0\0\xff\xff")  # a text that is no UTF-8
            with pytest.raises(ConnectionClosed):
                deque(iter(reader.recv, None))
        with pytest.raises(InvalidStatus, match="404"):
            connect(f"{where}none/live")
        assert service.get("/v1/health").status_code == 200
    assert "Traceback" not in log_of(data)
    assert "ERROR" not in log_of(data).replace("ERROR:    Invalid UTF-8 sequence", "")


def test_a_stream_is_deleted_while_it_is_labelled_recorded_and_fitted(tmp_path, level_model):
    """Every answer of the race is one that the document knows."""
    data = tmp_path / "data"
    with serving(data, level_model, "--max-streams", "50", "--max-rate", "100000") as service:
        kept = service.stream("tone:?rate=48k&snr_db=10")
        service.until(f"/v1/streams/{kept}", lambda state: state["kept"]["end"] > 48_000)
        for label in ("a", "b", "a", "b"):
            assert (
                service.post("/v1/labels", json={"stream": kept, "label": label, "seconds": 0.2}).status_code
                == 201
            )

        def ask(request):
            method, path, body = request
            with httpx.Client(base_url=service.base, timeout=200) as http:
                return request, http.request(method, path, json=body)

        for _ in range(6):
            stream = service.stream("tone:?rate=48k&snr_db=10")
            service.until(f"/v1/streams/{stream}", lambda state: state["kept"]["end"] > 20_000)
            at = f"/v1/streams/{stream}"
            requests = [
                ("POST", "/v1/labels", {"stream": stream, "label": "a", "seconds": 0.1}),
                ("POST", f"{at}/recordings", {"seconds": 0.1}),
                ("POST", f"{at}/recordings", {"next_seconds": 5}),
                ("PATCH", at, {"head": "other"}),
                ("DELETE", at, None),
                ("POST", "/v1/heads/h/fit", {"streams": [stream]}),
                ("PATCH", at, {"state": "paused"}),
                ("GET", f"{at}/annotations", None),
                ("GET", at, None),
            ]
            with ThreadPoolExecutor(len(requests)) as pool:
                for request, answer in pool.map(ask, requests):
                    assert answer.status_code in (200, 201, 204, 404, 409, 422), (request, answer.text)
            assert service.get(f"/v1/streams/{kept}").json()["state"] == "running"
            assert service.get("/v1/recordings").status_code == 200
    assert "Traceback" not in log_of(data)


def test_a_stop_with_requests_under_way_prints_no_traceback(tmp_path, level_model):
    data = tmp_path / "data"
    raw = (np.random.default_rng(0).standard_normal(8_000_000) / 8).astype("<f4").tobytes()
    answers = []
    with serving(data, level_model) as service:
        stream = service.stream("tone:?rate=48k&snr_db=10")

        def ask(method, path, content):
            try:
                with httpx.Client(base_url=service.base, timeout=60) as http:
                    answers.append(http.request(method, path, content=content).status_code)
            except httpx.TransportError:
                answers.append(0)  # it was cut off before it could be read

        requests = [
            ("POST", "/v1/predict", raw),
            ("PUT", "/v1/models/x", level_model.read_bytes()),
            ("GET", f"/v1/streams/{stream}/live", None),
        ]
        threads = [threading.Thread(target=ask, args=request) for request in requests]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        service.stop()
        for thread in threads:
            thread.join(60)
    assert 500 not in answers
    assert "Traceback" not in log_of(data)
    assert len(list((data / "models").glob("*.safetensors"))) == (201 in answers)  # it may have been quick


def test_history_of_a_killed_database_file_is_readable_after_being_set_aside(tmp_path, model):
    """What was set aside is what was there, byte by byte."""
    data = tmp_path / "data"
    data.mkdir()
    with sqlite3.connect(data / "history.sqlite") as database:
        database.execute("CREATE TABLE runs (id TEXT)")
    database.close()
    raw = bytearray((data / "history.sqlite").read_bytes())
    raw[:16] = b"SQLite format 9\0"
    (data / "history.sqlite").write_bytes(raw)
    with serving(data, model):
        pass
    (name,) = aside(data, "history.sqlite")
    assert (data / name).read_bytes() == raw


def test_what_repeats_is_logged_a_few_times_and_then_counted(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("service.quiet.time.monotonic", lambda: now[0])
    quiet = Quiet()

    def record(text):
        return logging.LogRecord("x", logging.ERROR, "", 0, text, None, None)

    assert sum(quiet.filter(record("Too many open files")) for _ in range(50_000)) == TIMES
    assert quiet.filter(record("another"))
    now[0] += PERIOD_S + 1
    again = record("Too many open files")
    assert quiet.filter(again)
    assert again.getMessage() == f"Too many open files (and {50_000 - TIMES} more like this before)"
