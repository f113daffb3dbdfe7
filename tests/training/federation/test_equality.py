"""Four station processes over HTTP, one process without sockets, and plain federated averaging agree."""

import numpy as np
import pytest

from streaming.bundle import load_bundle
from streaming.shape import EncoderShape
from tests.training.federation.support import end, final_model, serving, take_part, wait_for
from training.datasets.synthetic import paper_clients
from training.federation.coordinator.rounds import Coordinator
from training.federation.manifest import Terms
from training.federation.simulate import simulate
from training.federation.station.learner import make_manifest, recipe_from_json, recipe_to_json
from training.objectives.halves import HalvesSettings
from training.objectives.triplet import TripletSettings
from training.pretraining.recipes import RECIPES, Recipe
from training.pretraining.rounds import federate, open_run

NAMES = [f"client-{i}" for i in range(1, 5)]
SHAPE = EncoderShape(channels=4, depth=2, reduced=6, outputs=5)
SMALL = Recipe(TripletSettings(negatives=2), shape=SHAPE, rounds=10, steps=3, batch=8)
FRAMES = 800


@pytest.mark.parametrize("recipe", [*RECIPES.values(), SMALL, Recipe(HalvesSettings(other=1.0), shape=SHAPE)])
def test_a_recipe_travels_whole(recipe):
    assert recipe_from_json(recipe_to_json(recipe), recipe.rounds) == recipe


def apart(one, other):
    return max(float(np.abs(one[name] - other[name]).max()) for name in other)


def over_http(folder, recipe, frames, precisions=("float32",), seconds=200):
    """The federation with the real commands, a process each."""
    manifest, model = make_manifest("main", recipe, 0)
    coordinator = Coordinator.create(
        folder / "run", manifest, Terms(quorum=4, deadline_s=3600, grace_s=3600), model
    )
    stations = []
    with serving(folder / "run") as (_, url):
        try:
            for i, name in enumerate(NAMES):
                options = ["--client", str(i + 1), "--frames", str(frames), "--patience", "60"]
                options += ["--precision", precisions[i % len(precisions)]]
                if i == 0:
                    options += ["--out", str(folder / "bundle.safetensors")]
                token = coordinator.stations.add(name)
                stations.append(take_part(folder, url, name, token, *options))
            wait_for(stations, seconds)
        finally:
            end(*stations)
    return final_model(coordinator)


def in_process(folder, recipe, frames):
    run = open_run(folder / "averaging", recipe, paper_clients(unlabelled=frames), 0, resume=False)
    federate(run, workers=2)
    return run.arrays


def test_four_station_processes_give_what_one_process_gives(tmp_path):
    model = over_http(tmp_path, SMALL, FRAMES)
    simulated = final_model(simulate(tmp_path / "simulation", SMALL, frames=FRAMES))
    assert apart(model, simulated) == 0
    bundle = load_bundle(tmp_path / "bundle.safetensors")
    assert all((array == model[f"encoder.{name}"]).all() for name, array in bundle.encoder.arrays().items())
    assert apart(model, in_process(tmp_path, SMALL, FRAMES)) <= 1e-6


@pytest.mark.acceptance
@pytest.mark.timeout(1_500)
def test_the_papers_clients_over_ten_rounds_give_what_one_process_gives(tmp_path):
    """`wavetell pretrain` averages in another order, and Adam makes much of a last bit in fifty steps."""
    recipe = Recipe(TripletSettings(), rounds=10, steps=5)
    simulated = final_model(simulate(tmp_path / "simulation", recipe, frames=14_000))
    assert apart(over_http(tmp_path, recipe, 14_000, seconds=1_200), simulated) == 0
