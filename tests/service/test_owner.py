"""The model that answers has one owner: nothing that ends meanwhile is reverted or lost."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from service.errors import Conflict, NotFound
from service.models import store
from service.models.store import ModelStore
from service.settings import Settings
from service.station import Station
from streaming.bundle import encoder_sha256, load_bundle
from streaming.bundle_meta import FederatedRun, Provenance
from streaming.embedding import Embedder
from tests.ports import free_port
from tests.service.conftest import level_bundle, serving

CALM, NOISY = "tone:?rate=48k&snr_db=40", "tone:?rate=48k&snr_db=-20"


@pytest.fixture(scope="module")
def taught(tmp_path_factory, level_model):
    """A service with labels of a tone and of noise."""
    with serving(tmp_path_factory.mktemp("taught") / "data", level_model) as service:
        for name, source in (("tone", CALM), ("noise", NOISY)):
            stream = service.stream(source)
            about = service.until(f"/v1/streams/{stream}", lambda s: s["kept"]["end"] > 48_000)
            for i in range(4):
                end = about["kept"]["end"] - 4000 * i
                body = {"stream": stream, "start": end - 3000, "end": end, "label": name}
                assert service.post("/v1/labels", json=body).status_code == 201
        service.post("/v1/heads/first/fit", json={})  # the process that fits is up from here on
        yield service


def active(service):
    return next(model for model in service.get("/v1/models").json()["models"] if model["active"])


def upload(service, bundle, path):
    bundle.save(path)
    assert service.http.put(f"/v1/models/{path.stem}", content=path.read_bytes()).status_code == 201


def test_two_fits_at_once_are_both_in_the_model_that_answers(taught):
    with ThreadPoolExecutor() as pool:
        fits = [pool.submit(taught.post, f"/v1/heads/{name}/fit", json={}) for name in ("one", "two")]
        assert [fit.result().status_code for fit in fits] == [200, 200]
    assert {"one", "two"} <= {head["name"] for head in active(taught)["heads"]}


def test_an_activation_during_a_fit_is_not_reverted_by_it(taught, tmp_path):
    for stream in taught.get("/v1/streams").json():  # no taught head is in use that would have to be carried
        taught.http.patch(f"/v1/streams/{stream['id']}", json={"head": "live"})
    upload(taught, level_bundle(seed=9), tmp_path / "meanwhile.safetensors")
    with ThreadPoolExecutor() as pool:
        fit = pool.submit(taught.post, "/v1/heads/late/fit", json={})
        time.sleep(0.02)
        assert taught.post("/v1/models/meanwhile/activate").status_code == 200
        assert fit.result().status_code in (200, 409)
    answering = load_bundle(next(taught.data.rglob(f"{active(taught)['name']}.safetensors")))
    assert encoder_sha256(answering.encoder) == encoder_sha256(level_bundle(seed=9).encoder)


def test_a_fit_for_a_stream_that_is_deleted_meanwhile_is_refused(taught):
    stream = taught.stream(CALM)
    before = active(taught)["name"]
    with ThreadPoolExecutor() as pool:
        fit = pool.submit(taught.post, "/v1/heads/gone/fit", json={"streams": [stream]})
        time.sleep(0.02)
        assert taught.http.delete(f"/v1/streams/{stream}").status_code == 204
        assert fit.result().status_code == 404
    assert active(taught)["name"] == before


@pytest.fixture
def running(tmp_path, level_model):
    """A station in this process, with a stream of a tone."""
    values = replace(Settings(), data=str(tmp_path / "data"), model=str(level_model), queue_ms=20_000)
    station = Station(values)
    yield station
    station.close()


def test_a_fit_whose_base_is_replaced_again_and_again_is_refused_with_a_conflict(running, tmp_path):
    for name, source in (("tone", CALM), ("noise", NOISY)):
        stream = running.create(source, name)
        while stream.ring.span[1] < 24_000:
            time.sleep(0.01)
        for start in (0, 5_000, 10_000):
            running.label(stream, (start, start + 4_000), name)
    level_bundle(seed=3).save(tmp_path / "other.safetensors")
    running.models.add("other", (tmp_path / "other.safetensors").read_bytes())
    done = threading.Event()

    def replace_always():
        while not done.is_set():
            running.owner.activate("other")

    with ThreadPoolExecutor() as pool:
        replacing = pool.submit(replace_always)
        try:
            with pytest.raises(Conflict, match="replaced 3 times"):
                running.owner.fit("late")
        finally:
            done.set()
        replacing.result()
    assert "late" not in running.model.heads
    assert running.owner.fit("late").classes == ["noise", "tone"]  # and now nobody is in the way


def test_a_deleted_stream_is_not_found_by_whoever_still_holds_it(running):
    stream = running.create(CALM, "a tone")
    while stream.ring.span[1] < 10_000:
        time.sleep(0.01)
    running.remove(stream)
    with pytest.raises(NotFound):
        running.remove(stream)
    with pytest.raises(NotFound):
        running.label(stream, (0, 5000), "tone")
    with pytest.raises(NotFound):
        running.record(stream, 1.0)
    with pytest.raises(NotFound):
        running.use_head(stream, "other")
    with pytest.raises(Conflict, match="deleted"):
        stream.start()
    assert not readers()
    assert not running.recordings.running


def test_a_recording_of_a_deleted_stream_is_finished(running):
    stream = running.create(CALM, "a tone")
    recording = running.record(stream, None)
    while running.recordings.running[recording].recorder.samples < 1000:
        time.sleep(0.01)
    running.remove(stream)
    assert not running.recordings.running
    assert running.recordings.path(recording, "sigmf-data").stat().st_size >= 8 * 1000


class SlowBlock:
    """A block that is still being written when the recording is finished."""

    index, rate_hz, utc_ns, freq_hz, gap = 0, 48_000.0, 0, None, None

    def __init__(self):
        self.writing, self.go_on = threading.Event(), threading.Event()

    @property
    def samples(self):
        self.writing.set()
        assert self.go_on.wait(10)
        return np.ones(1000, np.complex64)


def test_a_recording_that_is_finished_while_its_first_block_is_written_has_that_block(running):
    stream, block = running.create(CALM, "a tone"), SlowBlock()
    stream.pause()
    recording = running.record(stream, None)
    with ThreadPoolExecutor() as pool:
        written = pool.submit(stream.taps[0], block)
        assert block.writing.wait(10)
        finished = pool.submit(running.recordings.finish, recording)
        time.sleep(0.05)
        block.go_on.set()
        written.result()
        finished.result()
    assert running.recordings.path(recording, "sigmf-data").stat().st_size == 8 * 1000


def test_a_label_that_is_taken_back_meanwhile_is_left_out_of_the_list_and_refused_in_a_fit(running):
    stream = running.create(CALM, "a tone")
    while stream.ring.span[1] < 10_000:
        time.sleep(0.01)
    label = running.label(stream, (2_000, 6_000), "tone")
    running.labels.remove(label.id)
    with pytest.raises(NotFound):
        running.labels.remove(label.id)
    (running.labels.folder / "gone.sigmf-meta").symlink_to("nowhere")  # listed, and gone when it is read
    assert running.labels.list() == []
    embedder = Embedder(running.model.bundle, running.model.predictor.engine, running.model.default)
    with pytest.raises(NotFound, match="taken back"):
        running.labels.embeddings(label, embedder)


def readers():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("read ")]


def test_a_radio_is_closed_where_its_head_is_gone_when_it_opens(taught, tmp_path):
    """The radio takes a while to answer, and meanwhile another model is put to use that lacks the head."""
    bundle = level_bundle(seed=4)
    upload(taught, replace(bundle, heads={"live": bundle.heads["live"]}), tmp_path / "one-head.safetensors")
    taught.post("/v1/models/meanwhile/activate")
    with socket.create_server(("127.0.0.1", free_port())) as server, ThreadPoolExecutor() as pool:
        server.settimeout(10)
        body = {"source": f"rtltcp:127.0.0.1:{server.getsockname()[1]}?rate=250k&silence=60", "head": "other"}
        created = pool.submit(taught.post, "/v1/streams", json=body)
        radio, _ = server.accept()
        assert taught.post("/v1/models/one-head/activate").status_code == 200
        radio.sendall(b"RTL0" + bytes(8))
        assert created.result().status_code == 422
        radio.settimeout(10)
        while radio.recv(4096):  # its settings, then the end of the connection
            pass
        radio.close()


def test_the_newest_fitted_models_are_kept_and_those_that_can_be_rolled_back_to(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "KEPT", 3)
    level_bundle().save(tmp_path / "small.safetensors")
    raw = (tmp_path / "small.safetensors").read_bytes()
    models = ModelStore(tmp_path / "models", "radio")
    models.add("uploaded", raw)
    models.add_fitted("active", raw)
    models.record(["radio", "active"])
    for i in range(8):
        models.add_fitted(f"fitted-{i}", raw)
        models.record(["radio", "active"])  # none of them is in use
    names = {about.name for about in models.list().models}
    assert names == {"radio", "paper-synthetic", "uploaded", "active", "fitted-5", "fitted-6", "fitted-7"}
    models.record(["radio", "active", *(f"fitted-{i}" for i in range(8))])
    assert models.activations() == [
        "radio",
        "fitted-5",
        "fitted-6",
        "fitted-7",
    ]  # whatever can be rolled back to


def test_the_federated_round_of_the_model_is_a_metric(tmp_path):
    bundle = level_bundle()
    meta = replace(bundle.meta, provenance=Provenance(federation=FederatedRun("main", 7, 0)))
    replace(bundle, meta=meta).save(tmp_path / "federated.safetensors")
    with serving(tmp_path / "data", tmp_path / "federated.safetensors") as service:
        assert "\nwavetell_federation_round 7.0\n" in service.get("/metrics").text
