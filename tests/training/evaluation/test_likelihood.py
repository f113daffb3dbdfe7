"""The likelihood limit against plain quadrature, its own calibration and the published figures."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from training.datasets.synthetic import Band, Signal, constellation, make_frames, paper_clients
from training.evaluation.accuracy import Accuracy, mean_share
from training.evaluation.likelihood import limit, log_likelihood, posteriors


def plain(iq, name, *, gain, snr, phase=0.0, cfo=0.0, unit_power=True):
    """log p of one frame, in float64 and with nothing clever."""
    points = constellation(name, unit_power)
    variance = gain**2 * np.mean(np.abs(points) ** 2) / snr
    n = np.arange(len(iq))
    carrier = gain * np.exp(1j * (phase + 2 * np.pi * cfo * n / len(iq)))
    terms = -(np.abs(iq[:, None] - carrier[:, None] * points) ** 2) / variance
    return (logsumexp(terms, axis=1) - np.log(len(points) * np.pi * variance)).sum()


@pytest.mark.parametrize("name", ["BPSK", "QPSK", "8PSK", "16QAM"])
@pytest.mark.parametrize("unit_power", [True, False])
def test_log_likelihood_is_the_equation(name, unit_power):
    frames = make_frames(Signal(samples=40), (2, 2, 2, 2), seed=1)
    gain, snr = np.full(8, 0.7), np.full(8, 4.0)
    found = log_likelihood(frames.iq, constellation(name, unit_power), gain, snr)
    expected = [plain(iq, name, gain=0.7, snr=4.0, unit_power=unit_power) for iq in frames.iq]
    assert found == pytest.approx(expected, rel=1e-5)


def test_marginal_equals_a_dense_grid():
    signal = Signal(samples=30, snr_db=(0.0, 6.0))
    frames = make_frames(signal, (1, 1, 1, 1), seed=5)
    snr_weights = np.ones(25) / 24
    snr_weights[[0, -1]] /= 2
    log_gain = np.linspace(np.log(0.01), 0, 400)
    gains = np.append(np.exp(log_gain), 1.0)
    weights = stats.rayleigh.pdf(gains) * gains * (log_gain[1] - log_gain[0])
    weights[-1] = np.exp(-0.5)
    expected = np.empty((4, 4))
    for i, c in np.ndindex(4, 4):
        total = []
        for snr_db, snr_weight in zip(np.linspace(0, 6, 25), snr_weights, strict=True):
            for phase in (np.arange(3) + 0.5) / 3 * np.pi / 16:
                turn = np.exp(-1j * (phase + 2 * np.pi * 0.01 * np.arange(30) / 30))
                y = np.tile((frames.iq[i] * turn).astype(np.complex64), (len(gains), 1))
                snr = np.full(len(gains), 10 ** (snr_db / 10))
                value = log_likelihood(y, constellation(signal.classes[c]), gains, snr)
                total.append(logsumexp(value + np.log(weights * snr_weight / 3)))
        expected[i, c] = logsumexp(total)
    expected = np.exp(expected - logsumexp(expected, axis=1, keepdims=True))
    assert posteriors(signal, (1, 1, 1, 1), frames.iq) == pytest.approx(expected, abs=0.01)


def test_a_known_frame_has_the_plain_posterior():
    signal = Signal(snr_db=(3.0, 3.0), rayleigh=0.0, phase=(0.1, 0.1), cfo=(Band(1.0, 2.0, 2.0),), samples=25)
    frames = make_frames(signal, (3, 3, 3, 3), seed=2)
    known = {"gain": 1.0, "snr": 10**0.3, "phase": 0.1, "cfo": 2.0}
    expected = np.array([[plain(iq, name, **known) for name in signal.classes] for iq in frames.iq])
    expected += np.log([0.1, 0.2, 0.3, 0.4])
    expected = np.exp(expected - logsumexp(expected, axis=1, keepdims=True))
    assert posteriors(signal, (1, 2, 3, 4), frames.iq) == pytest.approx(expected, abs=2e-3)


def test_posteriors_are_calibrated():
    frames = make_frames(Signal(), (50,) * 4, seed=11)
    p = posteriors(Signal(), (1, 1, 1, 1), frames.iq)
    top, right = p.max(1), p.argmax(1) == frames.label
    # right answers minus expected ones, in standard deviations of a calibrated forecaster
    assert abs((right - top).sum()) < 3 * np.sqrt((top * (1 - top)).sum())


def test_limit_with_known_parameters_is_78_percent():
    parts = []
    for i, client in enumerate(paper_clients(test=4_000)):
        frames = make_frames(client.signal, client.test, seed=i)
        parts.append(limit(client.signal, client.test, frames, known=True))
    assert mean_share(parts)[0] == pytest.approx(0.784, abs=0.01)


def test_limit_of_the_best_snr_client_is_99_percent():
    client = paper_clients(test=100, heterogeneity="snr")[3]
    frames = make_frames(client.signal, client.test, seed=3)
    assert limit(client.signal, client.test, frames).share > 0.97


def test_unnormalised_qam_is_told_by_its_level():
    """Frames far above every gain that PSK can have leave no doubt, and no warning."""
    signal = Signal(unit_power=False, snr_db=(0.0, 5.0))
    frames = make_frames(signal, (20, 20, 20, 20), seed=4)
    p = posteriors(signal, (1, 1, 1, 1), frames.iq)
    loud = (frames.label == 3) & (frames.gain == 1)
    assert (p[loud].argmax(1) == 3).all()


def test_an_unknown_carrier_offset_costs_accuracy_but_not_all():
    signal = Signal(samples=64, snr_db=(8.0, 8.0), cfo=(Band(1.0, 0.0, 2.0),))
    frames = make_frames(signal, (10, 10, 10, 10), seed=6)
    blind = limit(replace(signal, cfo=(Band(1.0, 0.0, 0.0),)), (1, 1, 1, 1), frames)
    aware = limit(signal, (1, 1, 1, 1), frames)
    assert aware.share > 0.85
    assert blind.share < aware.share


def test_wilson_interval_and_client_mean():
    low, high = Accuracy(750, 1000).interval
    expected = stats.binomtest(750, 1000).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-6)
    mean, half = mean_share([Accuracy(50, 100), Accuracy(90, 100)])
    assert mean == pytest.approx(0.7)
    assert half == pytest.approx(1.96 * np.sqrt(0.25 / 100 + 0.09 / 100) / 2, rel=1e-3)
