"""Labels, fitting, models: what is taught is kept, what is fitted runs, and every step can be taken back."""

import json
import time
from itertools import pairwise

import pytest
from websockets.sync.client import connect

from tests.service.conftest import level_bundle, serving

CALM = "tone:?rate=48k&snr_db=40"
NOISY = "tone:?rate=48k&snr_db=-20"


@pytest.fixture(scope="module")
def model(level_model):
    return level_model


@pytest.fixture(scope="module")
def service(level_service):
    return level_service


@pytest.fixture(scope="module")
def two(service):
    """Two streams that any encoder can tell apart: a tone, and noise."""
    streams = {"tone": service.stream(CALM), "noise": service.stream(NOISY)}
    for stream in streams.values():
        service.until(f"/v1/streams/{stream}", lambda s: s["kept"]["end"] > 48_000)
    return streams


def teach(service, two, labels=4):
    for name, stream in two.items():
        for i in range(labels):
            end = service.get(f"/v1/streams/{stream}").json()["kept"]["end"] - 4000 * i
            body = {"stream": stream, "start": end - 3000, "end": end, "label": name}
            answer = service.post("/v1/labels", json=body)
            assert answer.status_code == 201, answer.text


def test_a_label_is_kept_with_its_past_and_can_be_taken_back(service, two):
    body = {"stream": two["tone"], "seconds": 0.1, "label": "tone"}
    label = service.post("/v1/labels", json=body).json()
    assert label["end"] - label["start"] == 4800
    assert label["past"] == 60 + 3 * 500  # the encoder's past and the level's settling
    files = sorted(path.suffix for path in (service.data / "labels").glob(f"{label['id']}*"))
    assert files == [".npy", ".sigmf-data", ".sigmf-meta"]
    assert service.get("/v1/labels").json()["counts"] == {"tone": 1}
    assert service.http.delete(f"/v1/labels/{label['id']}").status_code == 204
    assert service.http.delete(f"/v1/labels/{label['id']}").status_code == 404
    assert service.get("/v1/labels").json()["labels"] == []


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"label": "x", "seconds": 0.1, "stream": "nobody"}, 404, "no stream nobody"),
        ({"label": "x", "start": 5, "end": 4}, 422, "before it begins"),
        ({"label": "x"}, 422, "say which stretch"),
        ({"label": "x", "start": 2**60, "end": 2**60 + 10}, 422, "not all kept"),
        ({"label": "x", "seconds": 0.001}, 422, "a window needs 1,000"),
        ({"label": "", "seconds": 1}, 422, "label"),
        ({"label": "../x\n", "seconds": 1}, 422, "label"),
    ],
)
def test_a_label_that_cannot_be_is_refused(service, two, body, status, says):
    answer = service.post("/v1/labels", json={"stream": two["tone"]} | body)
    assert answer.status_code == status, answer.text
    assert says in answer.json()["detail"]


def test_stretches_that_are_all_alike_are_refused_in_one_line(service):
    """A noiseless tone under two names: there is nothing to tell them by."""
    stream = service.stream("tone:?rate=48k")
    service.until(f"/v1/streams/{stream}", lambda s: s["kept"]["end"] > 24_000)
    for label in ("one", "other"):
        for _ in range(2):
            service.post("/v1/labels", json={"stream": stream, "label": label, "seconds": 0.1})
    answer = service.post("/v1/heads/alike/fit", json={})
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith("all their stretches look the same to the encoder")
    for label in service.get("/v1/labels").json()["labels"]:
        service.http.delete(f"/v1/labels/{label['id']}")
    service.http.delete(f"/v1/streams/{stream}")


def test_labels_have_a_limit(tmp_path, model):
    with serving(tmp_path / "data", model, "--labels-mb", "1") as service:
        stream = service.stream("tone:?rate=48k&snr_db=10")
        service.until(f"/v1/streams/{stream}", lambda s: s["kept"]["end"] > 100_000)
        body = {"stream": stream, "seconds": 1.5, "label": "long"}  # 0.6 MB
        assert [service.post("/v1/labels", json=body).status_code for _ in range(2)] == [201, 201]
        answer = service.post("/v1/labels", json=body)
        assert answer.status_code == 409
        assert "labels_mb" in answer.json()["detail"]
        label = service.get("/v1/labels").json()["labels"][0]["id"]
        service.http.delete(f"/v1/labels/{label}")
        assert service.post("/v1/labels", json=body).status_code == 201


def test_a_fit_without_labels_says_so(service, two):
    answer = service.post("/v1/heads/mine/fit")
    assert answer.status_code == 422
    assert "no labels" in answer.json()["detail"]


def test_a_fitted_head_answers_at_once_without_a_gap_and_can_be_rolled_back(service, two):
    teach(service, two)
    before = service.get("/v1/models").json()
    hops = []
    url = f"ws{service.base[4:]}/v1/streams/{two['tone']}/live?hops=true"
    with connect(url) as socket:
        fitted = service.post("/v1/heads/mine/fit", json={}).json()
        end = time.monotonic() + 1
        while time.monotonic() < end:
            message = json.loads(socket.recv(timeout=10))
            hops += message["hops"] if message["type"] == "hops" else []
    assert fitted["classes"] == ["noise", "tone"]
    assert fitted["labels"] == {"tone": 4, "noise": 4}
    right = sum(fitted["after"][name].get(name, 0) for name in two)
    assert right > 0.9 * sum(sum(row.values()) for row in fitted["after"].values())
    assert hops[0]["probabilities"].keys() == {"A", "B", "C"}
    assert hops[-1]["probabilities"].keys() == {"noise", "tone"}
    assert all(b["end"] - a["end"] == 100 for a, b in pairwise(hops))
    for name, stream in two.items():
        about = service.until(f"/v1/streams/{stream}", lambda s: s["latest"]["head"] == "mine")
        assert about["latest"]["label"] == name
        assert about["samples"]["gaps"] == 0
    after = service.get("/v1/models").json()
    assert after["activations"] == [*before["activations"], fitted["model"]]
    rolled = service.post("/v1/models/rollback").json()
    assert rolled["active"] == before["activations"][-1]
    service.until(f"/v1/streams/{two['tone']}", lambda s: s["head"] == "live")


def test_another_encoder_is_uploaded_activated_and_the_taught_head_comes_along(service, two, tmp_path):
    if not service.get("/v1/labels").json()["labels"]:
        teach(service, two)
    service.post("/v1/heads/mine/fit", json={})
    level_bundle(seed=9).save(tmp_path / "new.safetensors")
    raw = (tmp_path / "new.safetensors").read_bytes()
    answer = service.http.put("/v1/models/new", content=raw)
    assert answer.status_code == 201
    assert [head["name"] for head in answer.json()["heads"]] == ["frames", "live", "other"]
    assert service.http.put("/v1/models/new", content=raw).status_code == 422
    active = service.post("/v1/models/new/activate").json()["active"]
    assert active.startswith("mine-")
    for name, stream in two.items():
        about = service.until(f"/v1/streams/{stream}", lambda s: s["latest"]["sha256"] == sha(service))
        assert about["latest"]["head"] == "mine"
        # One in a hundred hops of a known signal is called unknown, as the head was told to.
        latest = service.until(f"/v1/streams/{stream}", lambda s: s["latest"]["past"] == "warm")["latest"]
        assert latest["label"] in (name, "unknown")
        service.until(f"/v1/streams/{stream}", lambda s, name=name: s["latest"]["label"] == name)
        assert about["samples"]["gaps"] == 0
    service.post("/v1/models/rollback")


def sha(service):
    return service.get("/v1/health").json()["sha256"]


@pytest.mark.parametrize("raw", [b"", b"x", b"PK\x03\x04", b"\x80\x04.", b"\xff" * 100])
def test_what_is_no_bundle_is_refused(service, raw):
    answer = service.http.put("/v1/models/bad", content=raw)
    assert answer.status_code == 422
    assert service.post("/v1/models/bad/activate").status_code == 404


@pytest.mark.parametrize("name", ["..%2Fx", ".hidden", "a%00b", "x" * 65, "%2Fetc%2Fpasswd"])
def test_no_name_leaves_the_data_folder(service, name):
    assert service.http.put(f"/v1/models/{name}", content=b"x").status_code in (404, 405, 422)
    assert service.post(f"/v1/models/{name}/activate").status_code in (404, 422)
    assert service.http.delete(f"/v1/labels/{name}").status_code in (404, 405, 422)
    assert service.get(f"/v1/recordings/{name}").status_code in (404, 422)


def test_labels_models_and_streams_survive_a_kill(tmp_path, model):
    data = tmp_path / "data"
    with serving(data, model) as service:
        stream = service.stream(CALM, name="lasting")
        service.until(f"/v1/streams/{stream}", lambda s: s["kept"]["end"] > 48_000)
        label = service.post("/v1/labels", json={"stream": stream, "seconds": 0.1, "label": "tone"}).json()
        event = service.until("/v1/events", lambda e: e["events"])["events"][0]
        service.kill()
    with serving(data, model) as service:
        assert [kept["id"] for kept in service.get("/v1/labels").json()["labels"]] == [label["id"]]
        assert event in service.get("/v1/events").json()["events"]
        about = service.until(f"/v1/streams/{stream}", lambda s: s["latest"])
        assert about["name"] == "lasting"
        runs = service.get(f"/v1/streams/{stream}/predictions").json()["predictions"]
        assert runs
        service.stop()
    assert service.process.returncode in (0, -15)
