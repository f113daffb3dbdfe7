"""The faults of one machine, each a function of the soak; its docstring says what it does."""

import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.service.conftest import level_bundle


def kill(soak):
    """kill -9 of the service while labels are given."""
    threads = [threading.Thread(target=soak.ledger.label, args=(soak.stream, "OOK")) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(soak.chance.uniform(0, 0.5))
    soak.running.stop(signal.SIGKILL)
    for thread in threads:
        thread.join()
    soak.running.start()


def restart(soak):
    """An orderly stop and start."""
    soak.running.stop(signal.SIGTERM)
    soak.running.start()


def freeze(soak):
    """SIGSTOP for a while."""
    os.kill(soak.running.process.pid, signal.SIGSTOP)
    time.sleep(soak.chance.uniform(0.5, 3))
    os.kill(soak.running.process.pid, signal.SIGCONT)


def full_disk(soak):
    """No file may grow: writes fail as on a full disk."""
    pid = soak.running.process.pid
    _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, most))
    for name in ("OOK", "2FSK"):
        soak.ledger.label(soak.stream, name)
    soak.ledger.record(soak.stream)
    time.sleep(1)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))


def folder_gone(soak):
    """The folder of labels is away, and comes back."""
    labels = soak.running.data / "labels"
    aside = labels.with_name("labels-away")
    labels.rename(aside)
    soak.ledger.label(soak.stream, "OOK")
    soak.ledger.ask("GET", "/v1/labels")
    time.sleep(0.5)
    if labels.exists():  # what was acknowledged meanwhile is kept, too
        for path in labels.iterdir():
            shutil.move(path, aside / path.name)
        labels.rmdir()
    aside.rename(labels)


def few_files(soak):
    """The service may open hardly any more files."""
    pid = soak.running.process.pid
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soak.running.sizes[1] + 3, limits[1]))
    soak.ledger.label(soak.stream, "OOK")
    soak.ledger.record(soak.stream)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)


def locked_history(soak):
    """Somebody holds the history's lock."""
    database = sqlite3.connect(soak.running.data / "history.sqlite", timeout=1)
    with suppress(sqlite3.OperationalError):
        database.execute("BEGIN EXCLUSIVE")
        soak.ledger.see_events()
        time.sleep(soak.chance.uniform(0.5, 4))
        database.rollback()
    database.close()


def corrupted_messages(soak):
    """Messages of the radio that are no messages."""

    def spoil(sink, samples):
        raw = bytearray(samples.tobytes()[:997])
        raw[:3] = b"\xf0\x5f\x01"
        sink._socket.send(bytes(raw))

    spoiled(soak, spoil)


def not_finite(soak):
    """Samples that are NaN or infinite."""

    def spoil(_, samples):
        samples[soak.chance.randrange(len(samples))] = soak.chance.choice([np.nan, np.inf, -np.inf])

    spoiled(soak, spoil)


def huge_samples(soak):
    """Samples at the edge of float32."""
    spoiled(soak, lambda _, samples: np.multiply(samples, np.float32(1e38), out=samples))


def spoiled(soak, spoil):
    soak.sender.spoil = spoil
    time.sleep(1)
    soak.sender.spoil = None


def rate_change(soak):
    """The radio's rate changes and changes back."""
    soak.sender.rate_hz = soak.chance.choice([24e3, 250e3, 1e3])
    time.sleep(1)
    soak.sender.rate_hz = 48e3


def flapping_radio(soak):
    """The sender goes and comes back."""
    soak.sender.leave(soak.chance.uniform(0.2, 2))


def flood(soak):
    """Requests from many clients at once."""
    paths = ["/v1/streams", "/v1/models", "/v1/labels", "/metrics", "/v1/ready", "/v1/recordings", "/nothing"]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda n: soak.ledger.ask("GET", paths[n % len(paths)]), range(160)))


def hostile_uploads(soak):
    """Models that are none, cut, or altered."""
    raw = bytearray(soak.model)
    for _ in range(4):
        raw[soak.chance.randrange(len(raw))] ^= 1 << soak.chance.randrange(8)
    for body in (b"", os.urandom(1000), soak.model[:-100], bytes(raw)):
        answer = soak.ledger.ask("PUT", "/v1/models/hostile", content=body)
        assert answer is None or answer.status_code in (422, 503), answer.text


def hostile_bodies(soak):
    """Requests that nobody sends by mistake."""
    for body in (b'{"source": "tone:?freq=1e300"}', b"[" * 50_000, b'{"stream": "\\ud800"}', b"\xff", b"NaN"):
        for path in ("/v1/streams", "/v1/labels", "/v1/login", "/v1/heads/x/fit"):
            headers = {"Content-Type": "application/json"}
            answer = soak.ledger.ask("POST", path, content=body, headers=headers)
            assert answer is None or 400 <= answer.status_code < 500, (path, body[:20], answer.text)


def label_storm(soak):
    """Labels from many clients at once."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: soak.ledger.label(soak.stream, ["OOK", "2FSK"][n % 2]), range(24)))


def fit_storm(soak):
    """Heads are fitted while labels come and go."""
    with ThreadPoolExecutor(4) as pool:
        for name in ("a", "b"):
            pool.submit(soak.ledger.ask, "POST", f"/v1/heads/{name}/fit", json={})
        for name in ("OOK", "2FSK"):
            pool.submit(soak.ledger.label, soak.stream, name)
        for name in list(soak.ledger.kept["labels"])[:1]:
            pool.submit(soak.ledger.delete, "labels", name)


def model_swap(soak):
    """A model is uploaded, put to use, rolled back; one is deleted."""
    name = f"m{soak.count}"
    made = soak.running.folder / f"{name}.safetensors"
    level_bundle(name, seed=soak.chance.randrange(1000)).save(made)
    soak.ledger.upload(name, made.read_bytes())
    for path in (f"/v1/models/{name}/activate", "/v1/models/rollback"):
        soak.ledger.ask("POST", path)
    if len(soak.ledger.kept["models"]) > 3:
        soak.ledger.delete("models", next(iter(soak.ledger.kept["models"])))


def stream_churn(soak):
    """Streams are made, labelled, recorded and deleted at once."""
    made = [soak.ledger.stream("tone:?rate=48k&snr_db=10") for _ in range(3)]
    with ThreadPoolExecutor(6) as pool:
        for stream in filter(None, made):
            pool.submit(soak.ledger.label, stream, "OOK")
            pool.submit(soak.ledger.ask, "DELETE", f"/v1/streams/{stream}")
            pool.submit(soak.ledger.ask, "PATCH", f"/v1/streams/{stream}", json={"state": "paused"})
    for stream in soak.ledger.streams():
        if stream != soak.stream:
            soak.ledger.ask("DELETE", f"/v1/streams/{stream}")


def silent_readers(soak):
    """Readers that never read."""
    where = f"{soak.running.base.replace('http', 'ws')}/v1/streams/{soak.stream}"
    headers = {"Authorization": f"Bearer {soak.running.token}"}
    readers = []
    for number in range(30):
        with suppress(OSError, WebSocketException):
            path = "/live?hops=1" if number % 2 else "/spectrum?rate=60"
            readers.append(connect(where + path, additional_headers=headers, max_queue=1, close_timeout=0.1))
    time.sleep(2)
    for reader in readers:
        reader.socket.close()


def idle_connections(soak):
    """Connections that say nothing, or half a request."""
    idle = []
    for number in range(150):
        with suppress(OSError):
            idle.append(socket.create_connection(("127.0.0.1", soak.running.port), timeout=5))
            idle[-1].sendall(b"GET /v1/health HT" if number % 2 else b"")
    time.sleep(1)
    for connection in idle:
        connection.close()


def dead_broker(soak):
    """The broker is killed and started again."""
    soak.broker.stop()
    time.sleep(soak.chance.uniform(0.5, 2))
    soak.broker.start()


def slow_broker(soak):
    """The broker does not answer for a while."""
    os.kill(soak.broker.process.pid, signal.SIGSTOP)
    time.sleep(soak.chance.uniform(0.5, 3))
    os.kill(soak.broker.process.pid, signal.SIGCONT)


def revoked_token(soak):
    """A token is made, used and revoked; from then on it is refused."""
    token = soak.running.tokens.add("brief", "operate")
    with soak.running.client(token) as http:
        before = soak.ledger.ask("GET", "/v1/streams", http)
        soak.running.tokens.revoke("brief")
        after = soak.ledger.ask("GET", "/v1/streams", http)
    assert before is None or before.status_code in (200, 429), before.text
    assert after is None or after.status_code in (401, 429), after.text


def killed_child(soak):
    """The processes that fit or try models are killed."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(soak.ledger.ask, "POST", "/v1/heads/a/fit", json={})
        time.sleep(soak.chance.uniform(0.1, 1))
        with open(f"/proc/{soak.running.process.pid}/task/{soak.running.process.pid}/children") as file:
            for child in file.read().split():
                with suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGKILL)


def recordings(soak):
    """Stretches are recorded, and one is deleted."""
    for _ in range(3):
        soak.ledger.record(soak.stream)
    if len(soak.ledger.kept["recordings"]) > 10:
        soak.ledger.delete("recordings", next(iter(soak.ledger.kept["recordings"])))


def backup(soak):
    """A backup is made, restored elsewhere and thrown away."""
    target, restored = (
        soak.running.folder / f"{soak.count}.tar",
        soak.running.folder / f"restored-{soak.count}",
    )
    for argv in (
        ["backup", target, "--data", soak.running.data],
        ["restore", target, "--data", restored],
    ):
        command = [sys.executable, "-m", "service.cli", *map(str, argv)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    target.unlink()
    shutil.rmtree(restored)


FAULTS = {
    each.__name__: each
    for each in (
        *(kill, restart, freeze, full_disk, folder_gone, few_files, locked_history, corrupted_messages),
        *(not_finite, huge_samples, rate_change, flapping_radio, flood, hostile_uploads, hostile_bodies),
        *(label_storm, fit_storm, model_swap, stream_churn, silent_readers, idle_connections, dead_broker),
        *(slow_broker, revoked_token, killed_child, recordings, backup),
    )
}
