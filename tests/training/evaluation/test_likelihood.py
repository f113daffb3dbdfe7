"""Likelihoods against plain quadrature and their own calibration, and the limit against counted answers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from training.datasets.synthetic import Band, Signal, constellation, make_frames, paper_clients
from training.evaluation.accuracy import Accuracy, mean_share
from training.evaluation.likelihood import known_posteriors, log_likelihood, posteriors
from training.evaluation.limit import counted, limit_of, limit_row

ROOT = Path(__file__).parents[3]


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


def test_a_level_free_posterior_does_not_see_the_gain():
    frames = make_frames(Signal(), (3, 3, 3, 3), seed=8)
    louder = frames.iq * np.array([0.1, 3.0, 50.0] * 4, np.float32)[:, None]
    found = posteriors(Signal(), (1, 1, 1, 1), louder, "rms")
    assert found == pytest.approx(posteriors(Signal(), (1, 1, 1, 1), frames.iq, "rms"), abs=1e-3)


def test_a_level_free_posterior_is_the_integral_over_all_gains():
    signal = Signal(samples=20, snr_db=(2.0, 2.0), phase=(0.1, 0.1), cfo=(Band(1.0, 0.0, 0.0),))
    frames = make_frames(signal, (2, 2, 2, 2), seed=9)
    log_gain = np.linspace(np.log(0.05), np.log(20), 1_500)  # dA / A is even in log A
    expected = np.array(
        [
            [
                logsumexp([plain(iq, name, gain=a, snr=10**0.2, phase=0.1) for a in np.exp(log_gain)])
                for name in signal.classes
            ]
            for iq in frames.iq
        ]
    )
    expected = np.exp(expected - logsumexp(expected, axis=1, keepdims=True))
    assert posteriors(signal, (1, 1, 1, 1), frames.iq, "rms") == pytest.approx(expected, abs=2e-3)


def test_limit_with_known_parameters_is_78_percent():
    parts = []
    for i, client in enumerate(paper_clients(test=4_000)):
        frames = make_frames(client.signal, client.test, seed=i)
        said = known_posteriors(client.signal, client.test, frames).argmax(1)
        parts.append(Accuracy.of(said == frames.label))
    assert mean_share(parts)[0] == pytest.approx(0.784, abs=0.01)


@pytest.mark.parametrize("level", ["raw", "rms"])
def test_the_limit_agrees_with_answers_that_are_counted(level):
    client = paper_clients(test=700)[0]
    frames = make_frames(client.signal, client.test, seed=12)
    right = posteriors(client.signal, client.test, frames.iq, level).argmax(1) == frames.label
    found = limit_of(client.signal, client.test, level, 280)
    assert found.error < 0.01
    apart = np.hypot(found.error, right.std() / np.sqrt(len(right)))
    assert abs(found.share - right.mean()) < 3 * apart


def test_the_error_of_the_limit_is_what_other_draws_scatter():
    signal, priors = Signal(snr_db=(0.0, 5.0)), (1, 1, 6, 6)
    draws = [limit_of(signal, priors, frames=140, seed=seed) for seed in range(8)]
    scatter = np.std([draw.share for draw in draws], ddof=1)
    error = np.mean([draw.error for draw in draws])
    low, high = np.sqrt(stats.chi2.ppf([0.001, 0.999], 7) / 7)
    assert low * error < scatter < high * error


def test_the_limit_of_the_papers_set_is_the_documents():
    """77.25 +- 0.35 with the level and 76.55 +- 0.37 without, by an independent program."""
    raw, free = (limit_row(paper_clients(), level).mean for level in ("raw", "rms"))
    assert raw[0] == pytest.approx(0.7725, abs=0.0035 + raw[1])
    assert free[0] == pytest.approx(0.7655, abs=0.0037 + free[1])
    assert 0.003 < raw[0] - free[0] < 0.011
    text = (ROOT / "docs" / "results" / "README.md").read_text()
    for row, title in ((raw, "likelihood limit"), (free, "likelihood limit, level-free")):
        assert f"| {title} | – | {100 * row[0]:.1f} ± {100 * row[1]:.1f} |" in text


def test_limit_of_the_best_snr_client_is_99_percent():
    client = paper_clients(heterogeneity="snr")[3]
    assert limit_of(client.signal, client.labelled, frames=56).share > 0.98


def test_a_limit_counts_as_many_answers_as_have_its_error():
    accuracy = counted(0.8, 0.004)
    assert accuracy.share == pytest.approx(0.8, abs=1e-3)
    assert np.diff(accuracy.interval)[0] / 2 == pytest.approx(1.96 * 0.004, rel=0.01)


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
    still = replace(signal, cfo=(Band(1.0, 0.0, 0.0),))
    blind, aware = (posteriors(s, (1, 1, 1, 1), frames.iq).argmax(1) == frames.label for s in (still, signal))
    assert aware.mean() > 0.85
    assert blind.mean() < aware.mean()


def test_an_offset_that_a_lower_snr_rules_out_is_not_missed():
    """A wide range of offsets is searched coarsely first: a dense grid finds nothing else."""
    signal = Signal(samples=32, snr_db=(0.0, 8.0), rayleigh=0.0, phase=(0.0, 0.0), cfo=(Band(1.0, 0.0, 4.0),))
    frames = make_frames(signal, (2, 2, 2, 2), seed=3)
    expected = np.empty((8, 4))
    for i, c in np.ndindex(8, 4):
        name = signal.classes[c]
        expected[i, c] = logsumexp(
            [
                plain(frames.iq[i], name, gain=1.0, snr=10 ** (snr / 10), cfo=cfo)
                for snr in np.linspace(0.25, 7.75, 16)
                for cfo in np.linspace(0.01, 3.99, 200)
            ]
        )
    expected = np.exp(expected - logsumexp(expected, axis=1, keepdims=True))
    assert posteriors(signal, (1, 1, 1, 1), frames.iq) == pytest.approx(expected, abs=0.02)


def test_wilson_interval_and_client_mean():
    low, high = Accuracy(750, 1000).interval
    expected = stats.binomtest(750, 1000).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-6)
    mean, half = mean_share([Accuracy(50, 100), Accuracy(90, 100)])
    assert mean == pytest.approx(0.7)
    assert half == pytest.approx(1.96 * np.sqrt(0.25 / 100 + 0.09 / 100) / 2, rel=1e-3)
