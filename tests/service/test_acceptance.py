"""Long demonstrations: taught on real recordings, killed under load, fed with rubbish."""

import csv
import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.require import shared
from tests.service.conftest import serving

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(1200)]
BURST = 5_000  # samples, 20 ms


def recordings(modulation):
    """Recordings of a modulation at 250 kS/s, one of each device first."""
    folder = shared("data/ota433")
    rows = list(csv.DictReader((folder / "labels.csv").read_text().splitlines()))
    rows = [row for row in rows if (row["sample_rate_hz"], row["modulation"]) == ("250000", modulation)]
    rows = [
        row for row in rows if 7_500 < first_burst(row) < (folder / row["file"]).stat().st_size // 2 - BURST
    ]
    random.Random(4).shuffle(rows)
    firsts = {row["device"]: row for row in reversed(rows)}
    return [*firsts.values(), *(row for row in rows if row not in firsts.values())]


def first_burst(row):
    """The sample at which the first burst begins."""
    return round(float(row["first_burst_s"]) * 250_000)


def burst(service, row, folder):
    """Play a recording; the stream, and where its first burst lies."""
    stream = service.stream(f"file:{folder}/{row['file']}")
    service.until(f"/v1/streams/{stream}", lambda s: s["state"] == "ended", 60)
    return stream, first_burst(row), first_burst(row) + BURST


def test_ten_labels_of_each_class_change_the_live_answers(tmp_path):
    folder = shared("data/ota433")
    options = ("--allow-folders", str(folder), "--queue-ms", "60000")
    with serving(tmp_path / "data", "paper-synthetic", *options) as service:
        for modulation in ("OOK", "2FSK"):
            for row in recordings(modulation)[:10]:
                stream, start, end = burst(service, row, folder)
                body = {"stream": stream, "start": start, "end": end, "label": modulation}
                answer = service.post("/v1/labels", json=body)
                assert answer.status_code == 201, answer.text
                service.http.delete(f"/v1/streams/{stream}")
        live = service.stream(f"file:{folder}/{recordings('OOK')[11]['file']}?pace=realtime&loop=1")
        service.until(f"/v1/streams/{live}", lambda s: s["latest"], 60)
        with connect(f"ws{service.base[4:]}/v1/streams/{live}/live") as socket, ThreadPoolExecutor() as pool:
            began = time.monotonic()
            fitting = pool.submit(service.post, "/v1/heads/ota/fit", json={})
            while json.loads(socket.recv(timeout=60)).get("head") != "ota":
                pass
            took = time.monotonic() - began
            fitted = fitting.result().json()
        print(f"{took:.1f} s until the answers changed; {json.dumps(fitted)}")
        service.http.delete(f"/v1/streams/{live}")
        right = []
        for modulation in ("OOK", "2FSK"):
            for row in recordings(modulation)[11:21]:
                raw = np.fromfile(Path(folder) / row["file"], np.uint8)
                start = first_burst(row)
                piece = (
                    raw[2 * (start - 20_000) : 2 * (start + 5000)]
                    if start > 20_000
                    else raw[: 2 * (start + 5000)]
                )
                answer = service.post(
                    "/v1/predict?datatype=cu8&rate_hz=250000&head=ota", content=piece.tobytes()
                ).json()
                first = len(piece) // 2 - 5000
                windows = [w["probabilities"] for w in answer["windows"] if w["start"] >= first]
                right.append(np.mean([w[modulation] for w in windows]) > 0.5)
        print(f"{np.sum(right)} of {len(right)} recordings that were not labelled are named rightly")
        assert fitted["labels"] == {"OOK": 10, "2FSK": 10}
        assert np.mean(right) > 0.6
        assert took < 5 * fitted["seconds"]  # they follow as soon as it is fitted


def test_nothing_acknowledged_is_lost_when_it_is_killed_under_load(tmp_path, model):
    """Five times: labels and events pour in, kill -9, and after the restart every one is there."""
    labels, events, streams = [], [], []
    lock = threading.Lock()
    for _ in range(5):
        with serving(tmp_path / "data", model, "--event-ms", "1", "--event-hits", "1") as service:
            kept = [entry["id"] for entry in service.get("/v1/labels").json()["labels"]]
            assert set(labels) <= set(kept)
            with lock:
                told = set(events)
            for event in told:
                found = service.get("/v1/events", params={"limit": 1000}).json()
                ids = {each["id"] for each in found["events"]}
                while event not in ids and found["cursor"]:
                    found = service.get(
                        "/v1/events", params={"limit": 1000, "cursor": found["cursor"]}
                    ).json()
                    ids |= {each["id"] for each in found["events"]}
                assert told <= ids
                break
            if not streams:
                streams += [service.stream(f"tone:?rate=48k&snr_db=-10&seed={i}") for i in range(3)]
            for stream in streams:
                service.until(f"/v1/streams/{stream}", lambda s: s["latest"], 30)

            def give_labels(service=service, streams=streams):
                while True:
                    body = {"stream": random.choice(streams), "seconds": 0.05, "label": "x"}
                    try:
                        answer = httpx.post(f"{service.base}/v1/labels", json=body)
                    except httpx.TransportError:
                        return
                    if answer.status_code == 201:
                        with lock:
                            labels.append(answer.json()["id"])

            def make_events(service=service):
                """Each new stream has a first event."""
                while True:
                    try:
                        with httpx.Client(base_url=service.base) as http:
                            new = http.post("/v1/streams", json={"source": "tone:?rate=48k"}).json()["id"]
                            time.sleep(0.3)
                            http.delete(f"/v1/streams/{new}")
                    except httpx.TransportError:
                        return

            def read_events(service=service):
                try:
                    with connect(f"ws{service.base[4:]}/v1/events/live") as socket:
                        for message in socket:
                            with lock:
                                events.append(json.loads(message)["id"])
                except (ConnectionClosed, OSError):
                    return

            threads = [
                threading.Thread(target=work) for work in (give_labels, make_events, make_events, read_events)
            ]
            for thread in threads:
                thread.start()
            time.sleep(5)
            service.kill()
            for thread in threads:
                thread.join()
    assert len(labels) > 10
    assert len(events) > 10
    print(f"{len(labels)} labels and {len(events)} events survived five kills")


def memory_mb(service):
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def test_rubbish_is_refused_and_memory_stays_flat(tmp_path, model):
    rng = random.Random(1)
    paths = ["/v1/predict", "/v1/streams", "/v1/labels", "/v1/heads/x/fit", "/v1/login", "/plugins/wavetell"]
    kinds = [
        "application/json",
        "application/octet-stream",
        "multipart/form-data; boundary=x",
        "text/plain",
        "",
    ]
    seen = set()
    with serving(tmp_path / "data", model, "--max-rate", "100000", "--ring-s", "5") as service:
        stream = service.stream("tone:?rate=8k")
        service.until(f"/v1/streams/{stream}", lambda s: s["latest"])

        def rubbish():
            size = rng.choice([0, 1, 2, 7, 8, 100, 65_536, 1 << 20])
            body = rng.choice(
                [rng.randbytes(size), b"[" * size, b"\xff\xfe" * (size // 2), b"null", b'{"a":1e999}']
            )
            kind = rng.choice(kinds)
            query = rng.choice(["", "?datatype=cu8", "?frame=1", "?rate_hz=nan", "?step=hop", "?head=%00"])
            answer = service.post(rng.choice(paths) + query, content=body, headers={"Content-Type": kind})
            seen.add(answer.status_code)
            assert answer.status_code < 500, (answer.request.url, kind, body[:50], answer.text)

        for _ in range(300):
            rubbish()
        time.sleep(6)  # the ring is full
        before = memory_mb(service)
        for _ in range(1500):
            rubbish()
        after = memory_mb(service)
        print(f"{before:.0f} MB before, {after:.0f} MB after 1500 requests; answers {sorted(seen)}")
        assert after < before + 30
        assert service.get("/v1/health").status_code == 200
