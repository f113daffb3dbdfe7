"""The adapter on the real pipeline: what it reports of signals whose boxes are known."""

import numpy as np
import pytest
from scipy.signal import firwin, lfilter

from streaming.block import Block
from streaming.bundle import load_bundle
from streaming.engine import open_engine
from streaming.pipeline import choose_head
from training.evaluation.exam.emissions import emissions_of

RATE_HZ = 250e3
LENGTH = 300_000
SCALE = 0.01  # of full scale, the noise
# begin, end, centre and bandwidth in hertz, power over the noise density times the bandwidth
FIRST, SECOND = (50_000, 120_000, -40e3, 20e3, 100.0), (180_000, 250_000, 50e3, 20e3, 1000.0)


def burst(begin, end, centre_hz, bandwidth_hz, snr, rng):
    """QPSK of rectangular symbols, filtered to its bandwidth; noise has unit power in the whole band."""
    per_symbol = round(RATE_HZ / bandwidth_hz)
    symbols = rng.choice([1, 1j, -1, -1j], (end - begin) // per_symbol + 1)
    clean = lfilter(firwin(401, bandwidth_hz / 2, fs=RATE_HZ), 1, np.repeat(symbols, per_symbol))[
        : end - begin
    ]
    power = snr * bandwidth_hz / RATE_HZ
    clean *= np.sqrt(power / np.mean(np.abs(clean) ** 2))
    return clean * np.exp(2j * np.pi * centre_hz / RATE_HZ * np.arange(end - begin))


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(1)
    x = rng.normal(0, np.sqrt(0.5), (LENGTH, 2)) @ [1, 1j]
    for emission in (FIRST, SECOND):
        x[emission[0] : emission[1]] += burst(*emission, rng)
    bundle = load_bundle("radio")
    engine = open_engine(bundle.encoder, hop=choose_head(bundle, "", "live").hop)
    samples = (x * SCALE).astype(np.complex64)
    cuts = range(0, LENGTH, 16_384)
    every = emissions_of(bundle, engine, (Block(samples[i : i + 16_384], i, RATE_HZ) for i in cuts))
    return sorted(every, key=lambda emission: emission.begin)


def test_two_signals_are_two_emissions_in_their_boxes(found):
    assert len(found) == 2
    for emission, (begin, end, centre_hz, bandwidth_hz, _) in zip(found, (FIRST, SECOND), strict=True):
        assert emission.begin == pytest.approx(begin, abs=5_000)
        assert emission.end == pytest.approx(end, abs=5_000)
        assert (emission.lower_hz + emission.upper_hz) / 2 == pytest.approx(centre_hz, abs=2e3)
        assert emission.upper_hz - emission.lower_hz == pytest.approx(bandwidth_hz, rel=0.3)
        assert emission.bursts == ((emission.begin, emission.end),)


def test_the_energy_is_duration_times_power(found):
    for emission, (begin, end, _, bandwidth_hz, snr) in zip(found, (FIRST, SECOND), strict=True):
        expected = (end - begin) / RATE_HZ * snr * bandwidth_hz / RATE_HZ * SCALE**2
        assert 10 * np.log10(emission.energy / expected) == pytest.approx(0, abs=1.0)
        assert emission.snr_db == pytest.approx(10 * np.log10(snr), abs=1.5)


def test_probabilities_are_those_of_every_class(found):
    for emission in found:
        assert sum(emission.probabilities.values()) == pytest.approx(1)
        assert "QPSK" in emission.probabilities


def test_noise_alone_has_no_emission():
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 0.01, (LENGTH, 2)).astype(np.float32).view(np.complex64)[:, 0]
    bundle = load_bundle("radio")
    engine = open_engine(bundle.encoder, hop=choose_head(bundle, "", "live").hop)
    assert emissions_of(bundle, engine, [Block(noise, 0, RATE_HZ)]) == []


def test_a_model_without_a_front_end_reports_the_whole_band():
    rng = np.random.default_rng(3)
    samples = rng.standard_normal((20_000, 2)).astype(np.float32).view(np.complex64)[:, 0]
    bundle = load_bundle("paper-synthetic")
    engine = open_engine(bundle.encoder, hop=choose_head(bundle, "", "live").hop)
    (emission,) = emissions_of(bundle, engine, [Block(samples, 0, RATE_HZ)])
    assert (emission.lower_hz, emission.upper_hz, emission.snr_db) == (-125e3, 125e3, None)
    assert emission.family in ("PSK", "QAM", None)
