"""Federations that go on: a station switches where its accuracy does not fall, and all go back at once."""

from argparse import Namespace
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from service.cli import main
from service.commands.join import judge_round
from streaming.bundle import load_bundle
from streaming.pipeline import choose_head
from tests.training.federation.support import arithmetic, federation, same
from tests.training.federation.test_deploy import SHAPE, run_station
from training.federation.coordinator.rounds import Coordinator
from training.federation.local import LocalExchange
from training.federation.station.judging import KEPT, Verdict
from training.federation.station.loop import Station
from training.heads.recordings import held_out_accuracy
from training.heads.search import Search
from training.pretraining.recipes import RECIPES

NAMES = ("s1", "s2")


def member(coordinator, folder, name):
    return Station(LocalExchange(coordinator, name), folder / name, partial(arithmetic, name))


def model(coordinator, generation):
    return coordinator.models.open(coordinator.models.of(generation)["float32"]).arrays()


@pytest.fixture
def going_on(tmp_path):
    """Three rounds of a federation without end, and its stations."""
    coordinator, _ = federation(tmp_path / "run", 0, NAMES)
    members = [member(coordinator, tmp_path, name) for name in NAMES]
    for _ in range(3):
        for one in members:
            one.step()
    return coordinator, members


def test_there_is_always_a_next_round_and_a_new_station_starts_from_the_current_model(going_on, tmp_path):
    coordinator, members = going_on
    assert not coordinator.finished
    assert coordinator.current()["generation"] == 4
    coordinator.stations.add("s3")
    late = member(coordinator, tmp_path, "s3")
    late.step()
    for one in members:
        one.step()
    assert late.held() == coordinator.models.of(3)["float32"]
    stations = coordinator.store.query("SELECT station FROM updates WHERE round = 4 ORDER BY station")
    assert [row["station"] for row in stations] == ["s1", "s2", "s3"]


def test_one_command_takes_the_whole_federation_back(going_on, tmp_path):
    coordinator, members = going_on
    assert main(["coordinator", "rollback", "1", "--folder", str(tmp_path / "run")]) == 0
    assert coordinator.tick()
    described = coordinator.describe("s1")
    assert described["rolled_back"] == "rolled back to model 1"
    assert same(model(coordinator, described["generation"] - 1), model(coordinator, 1))
    for one in members:
        one.step()
        assert one.described["bases"]["float32"] == coordinator.models.of(1)["float32"]
    after = coordinator.describe("s1")  # the next round is like any other
    assert after["rolled_back"] == ""
    assert not same(model(coordinator, after["generation"] - 1), model(coordinator, 1))


def test_a_coordinator_that_was_stopped_goes_back_when_it_runs_again(going_on, tmp_path):
    going_on[0].close()
    assert main(["coordinator", "rollback", "2", "--folder", str(tmp_path / "run")]) == 0
    again = Coordinator(tmp_path / "run")
    assert again.tick()
    assert again.models.of(4)["float32"] == again.models.of(2)["float32"]


@pytest.mark.parametrize("wrong", ["99", "north"])
def test_there_is_no_way_back_to_what_is_not_kept(going_on, tmp_path, capsys, wrong):
    assert main(["coordinator", "rollback", wrong, "--folder", str(tmp_path / "run")]) == 2
    assert "model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("new", "used", "rolled_back", "switches"),
    [(0.9, None, "", True), (0.9, 0.9, "", True), (0.8, 0.9, "", False), (0.8, 0.9, "back", True)],
)
def test_a_station_switches_where_its_accuracy_does_not_fall(
    tmp_path, capsys, new, used, rolled_back, switches
):
    load_bundle("radio").save(tmp_path / "candidate.safetensors")
    (tmp_path / "status.json").write_text(f'{{"rolled_back": "{rolled_back}"}}')
    train = SimpleNamespace(data=None, judge=lambda *_: Verdict(new, used))
    args = Namespace(run_name="main", head="own", labelled="labels", service="")
    assert judge_round(args, train, tmp_path, None) == new
    assert (tmp_path / KEPT).exists() == switches
    assert ("switched" if switches else "stays") in capsys.readouterr().out


def test_no_stretch_is_judged_by_a_head_that_saw_it():
    bundle = replace(load_bundle("radio"), projection=None)
    like = replace(choose_head(bundle, "", "live"), outlier_limit=None)
    rng = np.random.default_rng(1)
    width = bundle.encoder.shape.outputs
    centres = rng.normal(0, 5, (60, width))  # each stretch lies far from all others
    stretches = [rng.normal(centre, 0.1, (6, width)).astype(np.float32) for centre in centres]
    labels = ["OOK" if i % 4 < 2 else "2FSK" for i in range(60)]  # told by nothing
    search = Search(C=(1.0, 10.0), gamma=(1.0,), refuse=0.0)
    blind = held_out_accuracy(bundle, like, list(zip(labels, stretches, strict=True)), search)
    assert 0.2 < blind < 0.8
    told = [x + (3.0 if label == "OOK" else -3.0) for label, x in zip(labels, stretches, strict=True)]
    assert held_out_accuracy(bundle, like, list(zip(labels, told, strict=True)), search) > 0.95


@pytest.mark.acceptance
def test_a_station_tells_the_accuracy_of_each_model_and_keeps_one(tmp_path):
    recordings = tmp_path / "recordings"
    for seed in ("1", "2"):
        flags = ["--classes", "OOK,2FSK,OOK,2FSK", "--seconds", "1", "--seed", seed]
        assert main(["generate", str(recordings / f"{seed}.sigmf"), *flags]) == 0
    recipe = replace(RECIPES["radio"], shape=replace(SHAPE, pooling="mean"), rounds=2, steps=1)
    options = ["--recordings", str(recordings), "--labelled", str(recordings), "--each-round"]
    coordinator = run_station(tmp_path, *options, recipe=recipe)
    accuracies = [row["accuracy"] for row in coordinator.store.query("SELECT accuracy FROM updates")]
    assert len(accuracies) == 2
    assert all(0 <= accuracy <= 1 for accuracy in accuracies)
    assert (tmp_path / "s1" / KEPT).exists()
