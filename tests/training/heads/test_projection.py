"""The projection: what is trained is what numpy evaluates, and classes lie apart."""

import numpy as np
import pytest
import torch

from streaming.errors import InputError
from streaming.features import COUNT
from training.heads.projection import OUTPUTS, Training, feature_mixup, fit_projection, layers_of, train

RNG = np.random.default_rng(1)
LABELS = np.arange(300) % 2
KNOWN = (RNG.standard_normal((300, COUNT)) + 0.5 * LABELS[:, None]).astype(np.float32)
OUTLIERS = (3 * RNG.standard_normal((100, COUNT))).astype(np.float32)
SHORT = Training(epochs=6, batch=50)


@pytest.fixture(scope="module")
def projection():
    return fit_projection(KNOWN, LABELS, ("OOK", "GMSK"), OUTLIERS, 0, SHORT)


def test_classes_lie_apart_and_outliers_have_higher_odds(projection):
    rows = projection.push(KNOWN)
    assert rows.shape == (300, 4 * OUTPUTS + 1)
    centres = [rows[label == LABELS, :-1].mean(0) for label in (0, 1)]
    nearest = np.array([np.square(rows[:, :-1] - centre).sum(1) for centre in centres]).argmin(0)
    assert np.mean(nearest == LABELS) > 0.95
    assert np.median(projection.push(OUTLIERS)[:, -1]) > np.quantile(rows[:, -1], 0.9)


def test_numpy_evaluates_what_torch_trained(projection):
    z = np.clip((KNOWN - projection.mean) / projection.scale, -6, 6).astype(np.float32)
    network = train(z, LABELS, (8, 8, 4), torch.nn.SiLU, 2, 0, SHORT, "test")
    with torch.no_grad():
        expected = network[:9](torch.from_numpy(z)).numpy()
    x = z
    for layer in layers_of(network)[:3]:
        x = x @ layer[1:].astype(np.float32) + layer[0].astype(np.float32)
        x = x / (1 + np.exp(-x))
    np.testing.assert_allclose(x, expected, atol=0.02)  # weights are kept as float16


def test_a_mixup_lies_between_its_parents():
    mixed = feature_mixup(KNOWN, LABELS, np.random.default_rng(0))
    assert mixed.shape == KNOWN.shape
    assert (mixed <= KNOWN.max(0) + 1e-5).all()
    assert (mixed >= KNOWN.min(0) - 1e-5).all()
    assert not (mixed == KNOWN).all(1).any()


def test_layers_that_do_not_fit_are_refused(projection):
    parts = projection.arrays()
    with pytest.raises(InputError, match="do not fit"):
        type(projection).from_arrays(parts | {"layer_2": parts["layer_2"][1:]})
    with pytest.raises(InputError, match="must not have or lack"):
        type(projection).from_arrays({"mean": parts["mean"]})
