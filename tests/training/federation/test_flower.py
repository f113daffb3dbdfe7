"""The same federation on Flower, with real SuperLink and SuperNode processes, gives the same bits."""

import pytest

from service.bench.flower import FLOWER, run_flower
from service.bench.member import arithmetic
from tests.require import need
from tests.training.federation.support import federation, final_model, same
from tests.training.federation.test_equality import FRAMES, SMALL, apart
from training.federation.coordinator.rounds import Coordinator
from training.federation.local import LocalExchange
from training.federation.manifest import Terms
from training.federation.simulate import simulate
from training.federation.station.learner import make_manifest
from training.federation.station.loop import Station

NAMES = ("s1", "s2")


@pytest.mark.acceptance
@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_flower_gives_the_same_global_model(tmp_path, precision):
    need(FLOWER.exists(), "Flower's environment (make flower)")
    coordinator, _ = federation(tmp_path / "run", 2, NAMES, grace_s=5.0, deadline_s=300.0)
    words = dict.fromkeys(NAMES, "")
    wire = run_flower(coordinator, words, tmp_path / "flower", "service.bench.member:arithmetic", precision)
    assert wire.requests > 0

    ours, _ = federation(tmp_path / "ours", 2, NAMES)
    members = [Station(LocalExchange(ours, n), tmp_path / "ours" / n, arithmetic, precision) for n in NAMES]
    for _ in range(2):
        for member in members:
            member.step()
    assert same(final_model(coordinator), final_model(ours))


@pytest.mark.acceptance
def test_stations_on_flower_learn_what_stations_in_one_process_learn(tmp_path):
    need(FLOWER.exists(), "Flower's environment (make flower)")
    manifest, model = make_manifest("flower", SMALL, 0)
    terms = Terms(quorum=2, grace_s=5.0, deadline_s=500.0)
    coordinator = Coordinator.create(tmp_path / "run", manifest, terms, model)
    nodes = {f"client-{i}": f"client={i} frames={FRAMES}" for i in (1, 2)}
    for station in nodes:
        coordinator.stations.add(station)
    run_flower(coordinator, nodes, tmp_path / "flower")
    simulated = simulate(tmp_path / "simulation", SMALL, stations=2, frames=FRAMES)
    assert apart(final_model(coordinator), final_model(simulated)) <= 1e-6
