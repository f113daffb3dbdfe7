"""What learning keeps: in int8, and with a dishonest station among four."""

import pytest

from streaming.shape import EncoderShape
from tests.training.federation.support import final_model
from training.federation.manifest import Terms
from training.federation.simulate import ATTACKS, simulate
from training.federation.station.learner import accuracy
from training.objectives.halves import HalvesSettings
from training.pretraining.recipes import Recipe

RECIPE = Recipe(
    HalvesSettings(hidden=64, projection=32),
    shape=EncoderShape(channels=16, depth=5, reduced=48, outputs=96, pooling="max+mean"),
    rounds=8,
    steps=40,
    batch=128,
    schedule="cosine",
)


def share(folder, method="mean", attack=None, precisions=("float32",), **terms):
    """Per cent right after a federation of the paper's clients; the first station may be dishonest."""
    changes = {0: attack} if attack else {}
    terms = Terms(quorum=4, method=method, **terms)
    coordinator = simulate(folder, RECIPE, 4, 0, 20_000, terms, precisions, changes)
    return 100 * accuracy(coordinator.manifest, final_model(coordinator))


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return share(tmp_path_factory.mktemp("clean"))


@pytest.mark.acceptance
@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_a_lower_precision_costs_at_most_half_a_point(tmp_path, clean, precision):
    assert share(tmp_path, precisions=(precision,)) >= clean - 0.5


@pytest.mark.acceptance
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("method", ["median", "trimmed"])
def test_robust_aggregation_keeps_the_accuracy_where_a_station_is_dishonest(tmp_path, clean, method, attack):
    assert share(tmp_path, method, ATTACKS[attack]) >= clean - 1.0


@pytest.mark.acceptance
@pytest.mark.parametrize("attack", ATTACKS)
def test_plain_averaging_fails_where_a_station_is_dishonest(tmp_path, clean, attack):
    """Without the check of norms; with it a coordinator refuses what is ten times as strong."""

    def tenfold(delta):
        return {name: 10 * array for name, array in ATTACKS[attack](delta).items()}

    assert share(tmp_path, "mean", tenfold, norm_factor=1e9) < clean - 1.0
