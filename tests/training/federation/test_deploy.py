"""From recordings to the running service: a station learns, fits its head and switches without a gap."""

import numpy as np
import pytest

from streaming.encoder import EncoderShape
from tests.service.conftest import serving as service_running
from tests.service.conftest import small_bundle
from tests.training.federation.support import end, serving, take_part, wait_for
from training.federation.coordinator import Coordinator
from training.federation.learner import make_manifest
from training.federation.manifest import Terms
from training.recipes import Recipe
from training.triplet import TripletSettings

SHAPE = EncoderShape(channels=4, depth=2, reduced=6, outputs=5)
RECIPE = Recipe(TripletSettings(negatives=2), shape=SHAPE, rounds=2, steps=2, batch=8)


def run_station(folder, *options, seconds=200):
    """A federation of one station, with the real commands."""
    manifest, model = make_manifest("main", RECIPE, 0)
    coordinator = Coordinator.create(folder / "run", manifest, Terms(quorum=1), model)
    token = coordinator.stations.add("s1")
    with serving(folder / "run") as (_, url):
        station = take_part(folder, url, "s1", token, "--patience", "30", *options)
        try:
            wait_for([station], seconds)
        finally:
            end(station)
    return coordinator


@pytest.mark.acceptance
@pytest.mark.timeout(400)
def test_the_running_service_switches_to_the_new_encoder_and_the_stations_own_head(tmp_path):
    small_bundle().save(tmp_path / "small.safetensors")
    with service_running(tmp_path / "data", tmp_path / "small.safetensors") as service:
        stream = service.stream("tone:?rate=50k")
        service.until(f"/v1/streams/{stream}", lambda answer: answer["latest"])
        run_station(
            tmp_path, "--client", "1", "--frames", "400", "--labels", "120", "--service", service.base
        )
        models = service.get("/v1/models").json()
        active = next(model for model in models["models"] if model["active"])
        assert active["name"].startswith("main-")
        assert [head["name"] for head in active["heads"]] == ["own"]
        answer = service.until(f"/v1/streams/{stream}", lambda answer: answer["head"] == "own")
        assert answer["state"] == "running"


def test_a_station_learns_from_a_folder_of_recordings(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "recordings").mkdir()
    for name, samples in (("a_433.92M_250k.cu8", 5_000), ("b_433.92M_250k.cu8", 2_550)):
        rng.integers(0, 256, 2 * samples, dtype=np.uint8).tofile(tmp_path / "recordings" / name)
    coordinator = run_station(tmp_path, "--recordings", str(tmp_path / "recordings"), "--precision", "int8")
    updates = coordinator.store.query("SELECT examples, loss, precision FROM updates")
    assert [(row["examples"], row["precision"]) for row in updates] == [(75, "int8")] * 2
    assert all(np.isfinite(row["loss"]) for row in updates)


@pytest.mark.acceptance
@pytest.mark.timeout(400)
def test_a_station_learns_from_its_live_streams_buffer_and_keeps_it_here(tmp_path):
    small_bundle().save(tmp_path / "small.safetensors")
    with service_running(tmp_path / "data", tmp_path / "small.safetensors") as service:
        stream = service.stream("tone:?rate=50k")
        service.until(f"/v1/streams/{stream}", lambda answer: answer["latest"])
        options = ["--stream", stream, "--seconds", "0.5", "--service", service.base]
        with pytest.raises(AssertionError):  # without a label there is no head, and the service says so
            run_station(tmp_path, *options)
        assert "the service refuses" in (tmp_path / "s1.log").read_text()
        assert service.get("/v1/recordings").json() == []
    coordinator = Coordinator(tmp_path / "run")
    assert coordinator.finished
    assert all(row["examples"] >= 200 for row in coordinator.store.query("SELECT examples FROM updates"))
    assert len(list((tmp_path / "s1" / "buffer").glob("*.sigmf-data"))) == 2
