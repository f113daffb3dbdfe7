"""The protocol over real HTTP: identity, idempotence, bounds, ranges, long poll."""

import json
import struct
import threading
import time

import httpx
import numpy as np
import pytest

from tests.training.federation.support import a_model, body_of, federation, put, serving
from training.federation.codec import sha256_of
from training.federation.media import digest_header, media_type


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A coordinator whose round stays open: its quorum is never reached."""
    folder = tmp_path_factory.mktemp("coordinator")
    coordinator, tokens = federation(folder, quorum=9, deadline_s=3600)
    with serving(folder) as (_, url), httpx.Client(base_url=url, trust_env=False, timeout=20) as http:
        yield coordinator, tokens, http


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_without_a_valid_token_nothing_is_told(running):
    coordinator, tokens, http = running
    sha256 = coordinator.models.of(0)["float32"]
    for path in (
        "/v1/runs/main/rounds/current",
        f"/v1/runs/main/models/{sha256}",
        "/v1/runs/main/rounds/1/updates/s1",
    ):
        for headers in ({}, bearer("x"), {"Authorization": tokens["s1"]}):
            answer = http.get(path, headers=headers)
            assert answer.status_code == 401
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["title"] == "Unauthorized"
    assert put(http, "s1", "forged", body_of(coordinator)).status_code == 401


def test_a_station_writes_and_reads_only_its_own_update(running):
    coordinator, tokens, http = running
    assert put(http, "s2", tokens["s1"], body_of(coordinator)).status_code == 403
    assert http.get("/v1/runs/main/rounds/1/updates/s2", headers=bearer(tokens["s1"])).status_code == 403
    assert coordinator.accepted(1) == 0 or "s2" not in {
        r["station"] for r in coordinator.store.query("SELECT * FROM updates")
    }


def test_an_upload_is_idempotent_and_has_a_receipt(running):
    coordinator, tokens, http = running
    body = body_of(coordinator)
    answers = [put(http, "s1", tokens["s1"], body) for _ in range(3)]
    assert [a.status_code for a in answers] == [201, 200, 200]
    assert answers[0].json() == answers[1].json()
    receipt = http.get("/v1/runs/main/rounds/1/updates/s1", headers=bearer(tokens["s1"])).json()
    assert (receipt["state"], receipt["sha256"]) == ("accepted", sha256_of(body))
    assert put(http, "s1", tokens["s1"], body_of(coordinator, a_model(8))).status_code == 409


def changed(body, offset):
    return body[:offset] + bytes([body[offset] ^ 1]) + body[offset + 1 :]


def nan_body(coordinator):
    model = a_model(1)
    model["b"][3] = np.nan
    return body_of(coordinator, model)


def wrong_shape(coordinator):
    model = a_model(1)
    return body_of(coordinator, model | {"a": model["a"].T})


@pytest.mark.parametrize(
    ("status", "word", "make"),
    [
        (422, "finite", lambda c: (nan_body(c), {})),
        (422, "tensor a is F32 40x3", lambda c: (wrong_shape(c), {})),
        (422, "F16", lambda c: (body_of(c, precision="float16"), {})),
        (422, "bytes", lambda c: (body_of(c)[:-5], {})),
        (422, "header", lambda c: (struct.pack("<Q", 1 << 40) + b"x" * 50, {})),
        (422, "examples", lambda c: (body_of(c, examples="1000000000000"), {})),
        (409, "another round", lambda c: (body_of(c, round="7"), {})),
        (409, "base", lambda c: (body_of(c, base="f" * 64), {})),
        (413, "at most", lambda c: (body_of(c) + b"\0" * 3000, {})),
        (
            400,
            "damaged",
            lambda c: (changed(body_of(c), 200), {"Content-Digest": digest_header(sha256_of(body_of(c)))}),
        ),
        (400, "Content-Digest", lambda c: (body_of(c), {"Content-Digest": None})),
        (400, "Content-Digest", lambda c: (body_of(c), {"Content-Digest": "sha-256=:!:"})),
        (415, "precision", lambda c: (body_of(c), {"Content-Type": media_type("float64")})),
        (415, "Content-Type", lambda c: (body_of(c), {"Content-Type": "application/octet-stream"})),
    ],
)
def test_what_may_not_count_gets_a_clear_answer_and_a_line_in_the_audit(running, status, word, make):
    coordinator, tokens, http = running
    body, headers = make(coordinator)
    answer = put(http, "s3", tokens["s3"], body, **headers)
    assert (answer.status_code, word in answer.json()["detail"]) == (status, True), answer.text
    newest = http.get("/v1/audit?limit=1").json()[0]
    assert (newest["station"], newest["status"], newest["outcome"]) == ("s3", status, "refused")
    assert newest["reason"] == answer.json()["detail"]
    assert not coordinator.store.query("SELECT 1 FROM updates WHERE station = 's3'")


def test_a_body_of_unknown_length_is_refused(running):
    _, tokens, http = running
    headers = bearer(tokens["s3"]) | {"Content-Type": media_type("float32")}
    answer = http.put("/v1/runs/main/rounds/1/updates/s3", content=iter([b"x" * 100]), headers=headers)
    assert answer.status_code == 411


def test_models_are_immutable_and_resumable(running):
    coordinator, tokens, http = running
    sha256 = coordinator.models.of(0)["float32"]
    path, headers = f"/v1/runs/main/models/{sha256}", bearer(tokens["s1"])
    whole = http.get(path, headers=headers)
    assert sha256_of(whole.content) == sha256 == whole.headers["etag"].strip('"')
    assert "immutable" in whole.headers["cache-control"]
    part = http.get(path, headers=headers | {"Range": "bytes=100-", "If-Range": whole.headers["etag"]})
    assert (part.status_code, part.content) == (206, whole.content[100:])
    other = http.get(path, headers=headers | {"Range": "bytes=100-", "If-Range": '"another"'})
    assert (other.status_code, other.content) == (200, whole.content)
    assert http.get(path, headers=headers | {"If-None-Match": whole.headers["etag"]}).status_code == 304
    for name in ("0" * 64, "..%2Frun.sqlite", "x"):
        assert http.get(f"/v1/runs/main/models/{name}", headers=headers).status_code == 404
    assert http.get(path.replace("main", "other"), headers=headers).status_code == 404


@pytest.mark.parametrize(("precision", "share"), [("float16", 0.6), ("int8", 0.4)])
def test_precision_is_negotiated(running, precision, share):
    coordinator, tokens, http = running
    models = coordinator.models.of(0)
    accept = bearer(tokens["s1"]) | {"Accept": media_type(precision)}
    small = http.get(f"/v1/runs/main/models/{models[precision]}", headers=accept)
    whole = http.get(f"/v1/runs/main/models/{models[precision]}", headers=bearer(tokens["s1"]))
    assert small.headers["content-type"] == media_type(precision)
    assert whole.headers["content-type"] == media_type("float32")
    assert small.headers["vary"] == "Accept"
    assert small.headers["etag"] != whole.headers["etag"]
    tensors = {"float16": 358, "int8": 195}[precision]
    assert len(small.content) - tensors == pytest.approx(len(whole.content) - 716, abs=120)
    assert tensors / 716 < share


def test_a_long_poll_waits_for_something_new(running):
    coordinator, tokens, http = running
    headers, before = bearer(tokens["s1"]), time.time()
    first = http.get("/v1/runs/main/rounds/current", headers=headers)
    assert "manifest" in first.json()
    began = time.monotonic()
    again = http.get(
        "/v1/runs/main/rounds/current?wait=0.5", headers=headers | {"If-None-Match": first.headers["etag"]}
    )
    assert again.status_code == 304
    assert time.monotonic() - began >= 0.5
    assert next(row for row in coordinator.stations.all() if row["name"] == "s1")["seen"] > before
    assert http.get("/v1/runs/main/rounds/current?wait=1e9", headers=headers).status_code == 422


def test_the_page_and_the_counters_are_there_and_foreign_pages_are_refused(running):
    _, _, http = running
    assert "<h2>Stations</h2>" in http.get("/").text
    assert "wavetell_federation_stations 4" in http.get("/metrics").text
    assert http.get("/", headers={"Host": "evil.example"}).status_code == 400
    assert http.get("/", headers={"Origin": "http://evil.example"}).status_code == 403


def test_a_revoked_token_is_worthless_at_once_and_a_name_can_be_given_again(running):
    coordinator, tokens, http = running
    coordinator.stations.revoke("s4")
    assert http.get("/v1/runs/main/rounds/current", headers=bearer(tokens["s4"])).status_code == 401
    again = coordinator.stations.add("s4")
    assert http.get("/v1/runs/main/rounds/current", headers=bearer(again)).status_code == 200
    assert again.encode() not in (coordinator.store.folder / "run.sqlite").read_bytes()


def test_everyone_who_waits_learns_of_the_next_round(tmp_path):
    coordinator, tokens = federation(tmp_path, quorum=2, names=("s1", "s2"))
    with serving(tmp_path) as (_, url), httpx.Client(base_url=url, trust_env=False, timeout=20) as http:
        first = http.get("/v1/runs/main/rounds/current", headers=bearer(tokens["s1"]))
        woken = []

        def wait(name):
            headers = bearer(tokens[name]) | {"If-None-Match": first.headers["etag"]}
            with httpx.Client(base_url=url, trust_env=False, timeout=30) as waiting:
                woken.append(waiting.get("/v1/runs/main/rounds/current?wait=20", headers=headers).json())

        threads = [threading.Thread(target=wait, args=(name,)) for name in ("s1", "s2")]
        for thread in threads:
            thread.start()
        for name in ("s1", "s2"):
            assert put(http, name, tokens[name], body_of(coordinator)).status_code == 201
        for thread in threads:
            thread.join(20)
        assert [(w["round"], w["last"]["state"]) for w in woken] == [(2, "aggregated")] * 2
        assert "manifest" not in json.dumps(woken)
