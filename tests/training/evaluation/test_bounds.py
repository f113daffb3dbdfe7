"""The gradient-noise bounds against the paper's formulas, where numbers are small enough to hold."""

import math

import numpy as np
import pytest
import torch

from streaming.encoder import CausalConv, Encoder
from streaming.shape import EncoderShape
from training.evaluation.bounds import Constants, report, spectral_norm

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
)


def test_constants_follow_the_lemmas():
    psi, chi, c, T, R, R_mat, zeta, P, K = 2, 3, 4, 10, 0.5, 1.5, 2.0, 0.5, 10
    assert 10**KNOWN.log_lipschitz_input == pytest.approx(R_mat**psi)
    for layer in (1, 2):
        expected = (
            np.sqrt(T * c * chi) * zeta * np.sqrt(P) * (c * chi * R) ** (layer - 1) * R_mat ** (psi - layer)
        )
        assert 10 ** KNOWN.log_lipschitz_layer(layer) == pytest.approx(expected)
    a = (T * zeta) ** 2 * P * (c * chi * R) ** (2 * psi)
    gamma_ref = 2 * a * K**2 + (4 * a + 1) * K + 2 * a + 1  # as printed in the paper
    gamma_pn = 2 * (K + 1) * a + 1
    assert 10**KNOWN.log_smoothness == pytest.approx(np.sqrt(K + 2) * max(gamma_ref, gamma_pn))


def test_excess_follows_the_theorems():
    K, T, P, psi, turn = 10, 10, 0.5, 2, 0.7
    layers = sum(10 ** KNOWN.log_lipschitz_layer(layer) for layer in (1, 2))
    G, gamma, L_x = 10**KNOWN.log_loss_gradient, 10**KNOWN.log_smoothness, 10**KNOWN.log_lipschitz_input
    for snr in (0.1, 1.0, 100.0):
        noise = gamma * L_x * np.sqrt(T * (K + 2) ** 3 * P / snr) * layers
        relu = 2 * (K + 2) * G * layers + noise
        softplus = (K + 2) * turn * G * psi * np.sqrt(T * P / snr) + noise
        assert 10 ** KNOWN.log_excess("relu", snr) == pytest.approx(relu)
        assert 10 ** KNOWN.log_excess("softplus", snr, turn) == pytest.approx(softplus)


def test_softplus_bound_vanishes_with_the_noise_and_the_relu_bound_does_not():
    fall = [KNOWN.log_excess("softplus", 10.0**p, 1.0) for p in (20, 22)]
    assert fall[0] - fall[1] == pytest.approx(1.0)  # g^(-1/2): 20 dB are a factor of ten
    assert KNOWN.log_excess("relu", 1e200) == pytest.approx(KNOWN.log_floor)


def test_spectral_norm_is_the_largest_singular_value_of_the_matrix():
    conv = CausalConv(2, 3, kernel=3, dilation=2)
    taps, T = conv.weight().detach().numpy(), 12  # (k, C_in, C_out)
    matrix = np.zeros((T * 3, T * 2))
    for t in range(T):
        for j in range(3):
            if t - (2 - j) * 2 >= 0:
                s = t - (2 - j) * 2
                matrix[3 * t : 3 * t + 3, 2 * s : 2 * s + 2] = taps[j].T
    assert spectral_norm(conv, T, iterations=200) == pytest.approx(np.linalg.norm(matrix, 2), rel=1e-3)


def test_measured_gradients_stay_below_the_bound_and_move_less_with_less_noise():
    torch.manual_seed(0)
    rows = report(Encoder(SMALL, seed=1), snrs_db=(0, 20, 40))
    assert [row.activation for row in rows] == ["relu"] * 3 + ["softplus"] * 3
    for row in rows:
        assert math.log10(row.noisy) <= row.log_bound
        assert math.log10(row.moved) <= row.log_bound
    for group in (rows[:3], rows[3:]):
        assert group[0].moved > group[1].moved > group[2].moved
    softplus = rows[3:]
    assert softplus[1].moved / softplus[2].moved == pytest.approx(10, rel=0.3)  # g^(-1/2)
