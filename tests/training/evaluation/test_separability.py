"""The separability bound, simulated."""

import json

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.svm import SVC

from service.cli import main
from streaming.bundle import Bundle
from streaming.encoder import Encoder
from streaming.errors import InputError
from streaming.shape import EncoderShape
from training.evaluation.separability import Margin, feature_snr, input_snr_db, margins
from training.heads.fit import Identity, fit_head
from training.heads.search import Search

RNG = np.random.default_rng


def clean_data(classes=2, n=40, outputs=6, seed=0):
    """Well separated clusters."""
    rng = RNG(seed)
    label = np.arange(n) % classes
    centres = 4 * np.eye(classes, outputs)
    return (centres[label] + 0.3 * rng.standard_normal((n, outputs))).astype(np.float32), label


def fitted(kernel, classes=2, seed=0):
    """A head on them with a hard margin."""
    x, label = clean_data(classes, seed=seed)
    identity = Identity("h", tuple("ABCD"[:classes]), "frame", 10, 10, "")
    return fit_head(x, label, identity, Search(kernel=kernel, C=(1e4,), gamma=(0.1,))).head, x, label


def test_margin_is_the_distance_from_scikit_learns_plane():
    head, x, label = fitted("linear")
    z = np.rint((x - head.mean) / head.scale * 32) / 32
    machine = SVC(kernel="linear", C=1e4).fit(z, label)
    distance = machine.decision_function((x - head.mean) / head.scale) / np.linalg.norm(machine.coef_)
    (margin,) = margins(head, x, label)
    assert margin.mu == pytest.approx((np.where(label == 1, 1, -1) * distance).min(), rel=1e-4)
    assert margin.rho == pytest.approx(np.linalg.norm((x - head.mean) / head.scale, axis=1).max())
    assert margin.examples == len(x)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_every_pair_is_separated_on_clean_data(kernel, classes):
    head, x, label = fitted(kernel, classes)
    found = margins(head, x, label)
    assert len(found) == classes * (classes - 1) // 2
    assert all(margin.mu > 0 for margin in found)


@pytest.mark.parametrize("eps", [0.3, 0.05])
def test_decisions_hold_above_the_threshold(eps):
    """Gaussian noise of just the allowed covariance: all examples hold in at least 1 - eps of the trials."""
    head, x, label = fitted("linear")
    (margin,) = margins(head, x, label)
    variance = margin.rho / margin.snr(eps)
    rng, side, trials = RNG(5), np.where(label == 1, 1, -1), 2_000
    held = 0
    for _ in range(trials):
        noise = np.sqrt(variance) * rng.standard_normal(x.shape) * head.scale
        held += bool((side * head.decide((x + noise).astype(np.float32))[:, 0] > 0).all())
    assert held / trials >= 1 - eps - 3 * np.sqrt(eps * (1 - eps) / trials)
    # and the bound is no empty one: every example at the margin would make it tight
    assert margin.probability(margin.snr(eps)) == pytest.approx(1 - eps)


def test_the_bound_is_tight_where_every_example_lies_on_the_margin():
    margin = Margin(("A", "B"), 0.7, 2.0, 50)
    snr = margin.snr(0.2)
    noise = RNG(1).standard_normal((20_000, 50)) * np.sqrt(2.0 / snr)
    assert (noise > -0.7).all(1).mean() == pytest.approx(0.8, abs=0.01)


def test_threshold_is_the_formula_and_rises_with_the_examples():
    one = Margin(("A", "B"), 0.5, 3.0, 1)
    assert one.snr(0.01) == pytest.approx(3.0 * (norm.isf(0.01) / 0.5) ** 2)
    assert Margin(("A", "B"), 0.5, 3.0, 1000).snr(0.01) > one.snr(0.01)
    assert one.snr(0.001) > one.snr(0.01)
    assert Margin(("A", "B"), -0.1, 3.0, 5).snr(0.1) == float("inf")
    with pytest.raises(InputError, match="eps is 0"):
        one.snr(0)


def test_input_snr_is_where_the_features_are_clean_enough():
    head, x, label = fitted("linear")
    (margin,) = margins(head, x, label)

    def at(snr_db):
        noise = 10 ** (-snr_db / 20) * RNG(3).standard_normal((4000, 6)) * head.scale
        clean = np.repeat(x, 100, axis=0)
        return feature_snr(clean, (clean + noise).astype(np.float32), head)

    found = input_snr_db(margin, 0.1, at)
    # here the features' noise variance is 10^(-snr/10) exactly, so the answer is known
    assert found == pytest.approx(10 * np.log10(margin.snr(0.1) / margin.rho), abs=0.6)
    assert input_snr_db(Margin(("A", "B"), -1.0, 1.0, 5), 0.1, at) == float("inf")


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_feature_noise_is_measured_in_the_space_of_the_plane(kernel):
    """Against features written out: for RBF those of a large random Fourier map."""
    head, x, _ = fitted(kernel)
    noisy = (x + 0.3 * RNG(8).standard_normal(x.shape) * head.scale).astype(np.float32)
    z, w = ((e - head.mean) / head.scale for e in (x, noisy))
    if kernel == "rbf":
        frequencies = RNG(9).standard_normal((x.shape[1], 40_000)) * np.sqrt(2 * head.gamma)
        z, w = (np.hstack([np.cos(e @ frequencies), np.sin(e @ frequencies)]) / 200 for e in (z, w))
    largest = np.linalg.norm((w - z) - (w - z).mean(0), 2) ** 2 / (len(z) - 1)
    expected = np.linalg.norm(z, axis=1).max() / largest
    assert feature_snr(x, noisy, head) == pytest.approx(expected, rel=0.03)


def test_the_command_names_an_snr_for_every_pair(tmp_path, capsys):
    encoder = Encoder(EncoderShape(channels=6, depth=3, reduced=8, outputs=10, pooling="mean"), seed=1)
    Bundle(encoder).save(tmp_path / "encoder.safetensors")
    model = str(tmp_path / "model.safetensors")
    assert main(["fit", str(tmp_path / "encoder.safetensors"), "--labels", "140", "--out", model]) == 0
    capsys.readouterr()
    assert main(["separability", model, "--head", "client-1", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 6
    assert all((row["margin"] > 0) == (row["feature_snr_db"] is not None) for row in rows)
    assert main(["separability", model, "--head", "nobody"]) == 2
