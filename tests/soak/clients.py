"""Faults that clients cause, by mistake or not."""

import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from tests.service.conftest import small_bundle


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
    small_bundle(name, seed=soak.chance.randrange(1000)).save(made)
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
        if stream not in soak.kept_streams:
            soak.ledger.ask("DELETE", f"/v1/streams/{stream}")


def silent_readers(soak):
    """500 readers that never read; as many are let in as the limit allows."""
    readers = []
    for number in range(500):
        path = "live?hops=1" if number % 2 else "spectrum?rate=60"
        request = (
            f"GET /v1/streams/{soak.stream}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{soak.running.port}\r\n"
            f"Authorization: Bearer {soak.running.token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        with suppress(OSError):
            readers.append(socket.create_connection(("127.0.0.1", soak.running.port), timeout=5))
            readers[-1].sendall(request.encode())
    time.sleep(2)
    for reader in readers:
        reader.close()


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


def revoked_token(soak):
    """A token is made, used and revoked; from then on it is refused."""
    token = soak.running.tokens.add("brief", "operate")
    with soak.running.client(token) as http:
        before = soak.ledger.ask("GET", "/v1/streams", http)
        soak.running.tokens.revoke("brief")
        after = soak.ledger.ask("GET", "/v1/streams", http)
    assert before is None or before.status_code in (200, 429), before.text
    assert after is None or after.status_code in (401, 429), after.text


def recordings(soak):
    """Stretches are recorded, and one is deleted."""
    for _ in range(3):
        soak.ledger.record(soak.stream)
    if len(soak.ledger.kept["recordings"]) > 10:
        soak.ledger.delete("recordings", next(iter(soak.ledger.kept["recordings"])))
