"""The theorems' quantities against the paper's formulas, where numbers are small enough to hold."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from service.cli import main
from streaming.bundle import Bundle
from streaming.encoder import CausalConv, Encoder
from streaming.shape import EncoderShape
from training.datasets.synthetic import paper_clients
from training.evaluation.bounds import Constants, report
from training.evaluation.descent import Federation, curvature, measure
from training.evaluation.lipschitz import block_bound, convolution_norm, log_lipschitz, log_slope

SMALL = EncoderShape(channels=3, depth=1, reduced=4, outputs=5, pooling="mean")  # a maximum is not smooth
KNOWN = Constants(
    layers=2,
    kernel=3,
    channels=4,
    outputs=5,
    samples=10,
    largest_weight=0.5,
    spectral_norm=1.5,
    peak=2.0,
    power=0.5,
    log_lipschitz_input=math.log10(2.25),
)
SOFT = replace(KNOWN, activation="softplus")


def complex_of(x):
    return torch.view_as_complex(x.contiguous()).numpy()


def test_constants_follow_the_lemmas():
    psi, chi, c, T, R, R_mat, zeta, P, K = 2, 3, 4, 10, 0.5, 1.5, 2.0, 0.5, 10
    for layer in (1, 2):
        expected = (
            np.sqrt(T * c * chi) * zeta * np.sqrt(P) * (c * chi * R) ** (layer - 1) * R_mat ** (psi - layer)
        )
        assert 10 ** KNOWN.log_lipschitz_layer(layer) == pytest.approx(expected)
    a = (T * zeta) ** 2 * P * (c * chi * R) ** (2 * psi)
    gamma_ref = 2 * a * K**2 + (4 * a + 1) * K + 2 * a + 1  # as printed in the paper
    gamma_pn = 2 * (K + 1) * a + 1
    assert 10**KNOWN.log_smoothness == pytest.approx(np.sqrt(K + 2) * max(gamma_ref, gamma_pn))
    grown = 2.0 * np.sqrt(0.5)
    for _ in range(psi):  # softplus(x) <= |x| + ln 2
        grown = c * chi * R * grown + np.log(2)
    assert 10**SOFT.log_output == pytest.approx(grown)


@pytest.mark.parametrize("layer", [1, 2, None])
def test_all_four_parts_of_theorems_1_and_3_are_followed(layer):
    K, T, P, turn = 10, 10, 0.5, 0.7
    each = [10 ** KNOWN.log_lipschitz_layer(number) for number in ((1, 2) if layer is None else (layer,))]
    first, second, psi = sum(each), sum(x * x for x in each), len(each)
    for known in (KNOWN, SOFT):
        G, gamma, L_x = 10**known.log_loss_gradient, 10**known.log_smoothness, 2.25
        for snr in (0.1, 1.0, 100.0):
            energy = 2 * T * P / snr  # of I and Q
            noise = gamma * L_x * np.sqrt((K + 2) ** 3 * energy)
            fixed, fixed_square = 2 * (K + 2) * G * first, 16 * (K + 2) ** 2 * G**2 * second
            if known is SOFT:
                fixed = (K + 2) * turn * G * psi * np.sqrt(energy)
                fixed_square = 4 * energy * (K + 2) ** 2 * psi * turn**2 * G**2
            assert 10 ** known.log_excess(snr, turn, layer) == pytest.approx(fixed + noise * first)
            found = 10 ** known.log_excess_square(snr, turn, layer)
            assert found == pytest.approx(fixed_square + 4 * noise**2 * second)


def test_softplus_bound_vanishes_with_the_noise_and_the_relu_bound_does_not():
    fall = [SOFT.log_excess(10.0**p, 1.0) for p in (20, 22)]
    assert fall[0] - fall[1] == pytest.approx(1.0)  # g^(-1/2): 20 dB are a factor of ten
    assert KNOWN.log_excess(1e200) == pytest.approx(KNOWN.log_constant(1.0))


def test_the_norm_of_a_convolution_bounds_its_matrix_and_hardly_more():
    conv = CausalConv(2, 3, kernel=3, dilation=2)
    taps, T = conv.weight().detach().numpy(), 60  # (k, C_in, C_out)
    matrix = np.zeros((T * 3, T * 2))
    for t in range(T):
        for j in range(3):
            if t - (2 - j) * 2 >= 0:
                s = t - (2 - j) * 2
                matrix[3 * t : 3 * t + 3, 2 * s : 2 * s + 2] = taps[j].T
    exact = np.linalg.norm(matrix, 2)
    assert exact <= convolution_norm(conv) <= 1.02 * exact


def test_residuals_double_what_a_product_of_unit_norms_leaves_at_one():
    """With identities for convolutions a block is 2 x for x > 0: the paper's R^22 would say 1."""
    encoder = Encoder(
        EncoderShape(channels=2, depth=3, reduced=2, outputs=2, activation="relu", pooling="max")
    )
    with torch.no_grad():
        for block in encoder.blocks:
            for conv in (block.conv1, block.conv2):
                conv.v.zero_()
                conv.v[0, 0, -1] = conv.v[1, 1, -1] = 1.0
                conv.g.fill_(1.0)
                conv.bias.zero_()
        encoder.linear.weight.copy_(torch.eye(2))
    assert [block_bound(block) for block in encoder.blocks] == pytest.approx([2.0] * 4, rel=1e-3)
    assert 10 ** log_slope(encoder, torch.rand(4, 10, 2) + 0.1) == pytest.approx(16.0, rel=1e-3)
    assert 10 ** log_lipschitz(encoder, 10) == pytest.approx(16.0, rel=1e-2)


@pytest.mark.parametrize("pooling", ["max", "mean", "max+mean"])
def test_no_pair_of_inputs_is_steeper_than_the_lipschitz_bound(pooling):
    encoder = Encoder(replace(SMALL, pooling=pooling), seed=2)
    x, d = torch.randn(50, 30, 2), 0.1 * torch.randn(50, 30, 2)
    moved = torch.from_numpy(encoder.encode(complex_of(x + d)) - encoder.encode(complex_of(x)))
    steepness = moved.norm(dim=1) / d.flatten(1).norm(dim=1)
    bound = 10 ** log_lipschitz(encoder, 30)
    assert float(steepness.max()) <= bound
    assert 10 ** log_slope(encoder, x) <= bound


def test_measured_gradients_stay_below_the_bounds_and_move_less_with_less_noise():
    rows = report(Encoder(SMALL, seed=1), snrs_db=(0, 20, 40))
    assert [row.activation for row in rows] == ["relu"] * 3 + ["softplus"] * 3
    assert [row.bound for row in rows] == [True] * 3 + [False] * 3
    for row in rows:
        assert math.log10(row.noisy) <= row.log_norm_bound
        assert math.log10(row.square) <= row.log_square_bound
        assert len(row.log_layer_bounds) == len(row.log_layer_square_bounds) == 4
        assert max(row.log_layer_bounds) <= row.log_norm_bound
    for group in (rows[:3], rows[3:]):
        assert group[0].moved > group[1].moved > group[2].moved
    softplus = rows[3:]
    assert softplus[1].moved / softplus[2].moved == pytest.approx(10, rel=0.3)  # g^(-1/2)


def test_curvature_is_the_hessians():
    matrix = torch.diag(torch.tensor([-3.0, 1.0, 8.0]))
    x = torch.ones(3, requires_grad=True)
    low, high = curvature(lambda: x @ matrix @ x / 2, [x])
    assert (low, high) == (pytest.approx(-3.0, rel=0.02), pytest.approx(8.0, rel=0.02))


def test_descent_follows_the_theorem_and_needs_a_proximal_term():
    B, g, L, low, eta, mu = 1.2, 3.0, 5.0, 2.0, 0.1, 400.0
    federation, m = Federation(B, g, L, low), 398.0
    expected = 1 / mu - B * eta / mu - B * L * 1.1 / (mu * m) - 3 * B**2 * L * 1.1**2 / (2 * m**2)
    assert federation.coefficient(mu, eta) == pytest.approx(expected)
    least = federation.least_proximal(eta)
    assert federation.coefficient(1.001 * least, eta) > 0 > federation.coefficient(0.999 * least, eta)
    best = federation.best_proximal(eta)
    assert federation.coefficient(best, eta) >= federation.coefficient(3 * least, eta)
    assert math.isinf(federation.least_proximal(0.9))  # B eta >= 1: nothing is promised
    a, b = 10 ** KNOWN.log_constant(10.0), 10 ** KNOWN.log_noise(10.0)
    added = (a + b) * 1.1 * (L / (mu * m) + 1 / mu) * g
    added += L / 2 * 3 * (1.1 / m) ** 2 * (a**2 + b**2)  # |x + y + z|^2 <= 3 (|x|^2 + |y|^2 + |z|^2)
    assert 10 ** federation.log_error(KNOWN, 10.0, mu, eta) == pytest.approx(added)


def test_clients_that_are_alike_have_the_dissimilarity_one():
    encoder, clients = Encoder(SMALL, seed=1), paper_clients()
    alike = measure(encoder, [clients[0]])
    assert alike.dissimilarity == pytest.approx(1.0)
    assert measure(encoder, clients).dissimilarity > 1.0


def test_the_command_prints_gradients_and_the_round(tmp_path, capsys):
    Bundle(Encoder(SMALL, seed=1)).save(tmp_path / "small.safetensors")
    assert main(["bounds", str(tmp_path / "small.safetensors")]) == 0
    text = capsys.readouterr().out
    assert "dissimilarity B" in text
    assert "~" in text
    assert main(["bounds", str(tmp_path / "small.safetensors"), "--inexact", "2"]) == 2
