"""Held-out emissions last long enough, and their evidence is that of the right one, however it is cut."""

import numpy as np
import pytest

from streaming.block import Block
from training.datasets.held_out import (
    MOST,
    SYMBOLS,
    HeldOut,
    Recording,
    energy,
    evidence_of,
    last_questions,
    long_enough,
    symbols,
    wide,
)

RATE_HZ = 250e3


def noise(rng, count=62_500):
    """Of unit power."""
    return rng.standard_normal(2 * count).view(np.complex128) * np.sqrt(0.5)


def emission(rng, centre_hz, width_hz, snr_db, count=62_500):
    """Gaussian noise in a band."""
    spectrum = np.fft.fft(noise(rng, count))
    f = np.fft.fftfreq(count, 1 / RATE_HZ)
    spectrum[np.abs(f - centre_hz) > width_hz / 2] = 0
    return np.fft.ifft(spectrum) * 10 ** (snr_db / 20)


@pytest.fixture(scope="module")
def pair():
    """Noise, then a strong emission at 60 kHz, then a weak one at -50 kHz beside it."""
    rng = np.random.default_rng(1)
    x = noise(rng, 130_000)
    x[30_000:92_500] += emission(rng, 60e3, 20e3, 30)
    x[67_500:] += emission(rng, -50e3, 10e3, 15)
    return x.astype(np.complex64)


def test_the_evidence_is_that_of_the_emission_meant(pair):
    for lower, upper, snr_db in ((50e3, 70e3, 30), (-55e3, -45e3, 15)):
        samples, measured_db = evidence_of(Recording(pair, RATE_HZ, snr_db, lower, upper))
        assert measured_db == pytest.approx(snr_db, abs=1)
        rate_hz = len(samples) / (62_500 / RATE_HZ)
        assert 0.2 < (upper - lower) / rate_hz < 0.6  # of the model's rate, which is on a grid


def test_what_is_not_there_is_not_found(pair):
    assert evidence_of(Recording(pair, RATE_HZ, 10.0, -5e3, 5e3)) is None


def test_the_last_questions_do_not_depend_on_how_the_recording_is_cut(pair):
    whole = last_questions([Block(pair, 0, RATE_HZ)])
    parts = last_questions(Block(pair[i : i + 7_777], i, RATE_HZ) for i in range(0, len(pair), 7_777))
    assert len(whole) == len(parts) == 2
    for one, other in zip(whole, parts, strict=True):
        assert np.array_equal(one.samples, other.samples)


def test_the_stronger_emission_has_more_energy(pair):
    strong, weak = sorted(last_questions([Block(pair, 0, RATE_HZ)]), key=lambda q: -q.box.centre)
    ratio_db = 10 * np.log10(energy(strong) / energy(weak))
    assert ratio_db == pytest.approx(30 + 10 * np.log10(20 / 10) - 15, abs=2)  # as long, twice as wide


def test_a_narrow_emission_is_a_quarter_of_a_second_after_a_pause():
    made = HeldOut("narrow", ("QPSK", "OOK"), seed=3)
    one = made.make(1)
    assert 62_500 + 4_096 <= len(one.samples) < 62_500 + 16_384
    assert 0 <= one.snr_db <= 30
    assert np.array_equal(one.samples, made.make(1).samples)
    assert not np.array_equal(one.samples[:60_000], made.make(3).samples[:60_000])


@pytest.mark.parametrize("name", ["OOK", "BPSK", "GFSK", "SSB"])
def test_a_wide_emission_is_long_enough(name):
    emitted = long_enough(name, np.random.default_rng(4))
    count = len(emitted.samples)
    assert count == MOST or count >= round(0.25 * emitted.rate_hz)
    if not np.isnan(emitted.symbol_rate_hz):
        assert count / emitted.rate_hz * emitted.symbol_rate_hz >= SYMBOLS
    heard = wide(name, np.random.default_rng(5))
    assert heard.lower_hz < heard.upper_hz
    assert abs(heard.lower_hz + heard.upper_hz) < heard.rate_hz


def test_symbols_are_counted_within_bursts_alone():
    emitted = long_enough("BPSK", np.random.default_rng(4))
    half = type(emitted)(**vars(emitted) | {"bursts": [(0, len(emitted.samples) // 4), (10, 10)]})
    whole = type(emitted)(**vars(emitted) | {"bursts": [(0, len(emitted.samples))]})
    assert symbols(half) == pytest.approx(symbols(whole) / 4, rel=1e-3)
