"""From recordings to the running service: a station learns, fits its head and switches without a gap."""

from dataclasses import replace

import numpy as np
import pytest

from hardware import open_source
from service.cli import main
from streaming.bundle import load_bundle
from streaming.engine import open_engine
from streaming.pipeline import open_pipeline
from streaming.prediction import NO_SIGNAL
from streaming.shape import EncoderShape
from tests.service.conftest import level_bundle
from tests.service.conftest import serving as service_running
from tests.training.federation.support import end, serving, take_part, wait_for
from training.federation.coordinator.rounds import Coordinator
from training.federation.manifest import Terms
from training.federation.station.learner import make_manifest
from training.objectives.triplet import TripletSettings
from training.pretraining.recipes import RECIPES, Recipe

SHAPE = EncoderShape(channels=4, depth=2, reduced=6, outputs=5)
RECIPE = Recipe(TripletSettings(negatives=2), shape=SHAPE, rounds=2, steps=2, batch=8)


def run_station(folder, *options, seconds=200, recipe=RECIPE):
    """A federation of one station, with the real commands."""
    manifest, model = make_manifest("main", recipe, 0)
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
def test_the_running_service_switches_to_the_new_encoder_and_the_stations_own_head(tmp_path):
    level_bundle().save(tmp_path / "small.safetensors")
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


def test_what_is_heard_by_a_radio_is_learnt_behind_the_front_end(tmp_path):
    recordings = tmp_path / "recordings"
    recordings.mkdir()
    for seed in ("1", "2"):
        flags = ["--classes", "OOK,2FSK,QPSK", "--seconds", "1", "--seed", seed]
        assert main(["generate", str(recordings / f"{seed}.sigmf"), *flags]) == 0
    recipe = replace(RECIPES["radio"], shape=replace(SHAPE, pooling="mean"), rounds=1, steps=1)
    where = str(recordings)
    options = ["--recordings", where, "--labelled", where, "--out", str(tmp_path / "own.safetensors")]
    coordinator = run_station(tmp_path, *options, recipe=recipe)
    (update,) = coordinator.store.query("SELECT examples, loss FROM updates")
    assert 20 < update["examples"] < 400  # frames of 1,024 samples at the model's rate, of signals alone
    bundle = load_bundle(tmp_path / "own.safetensors")
    assert bundle.projection is not None  # that of the shipped model
    assert bundle.heads["own"].classes == ("2FSK", "OOK", "QPSK")
    pipeline = open_pipeline(
        bundle, bundle.heads["own"], open_engine(bundle.encoder, bundle.heads["own"].hop)
    )
    with open_source(f"file:{recordings / '1.sigmf-meta'}") as source:
        answers = [answer for block in source.blocks() for answer in pipeline.push(block)]
    named = [answer.label for answer in answers if answer.label != NO_SIGNAL]
    assert {"OOK", "2FSK", "QPSK"} <= set(named)


@pytest.mark.acceptance
def test_a_station_learns_from_its_live_streams_buffer_and_keeps_it_here(tmp_path):
    level_bundle().save(tmp_path / "small.safetensors")
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
