"""Features: what they say of known signals; neither cuts nor what a receiver changes shows in them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.features import COMPLEX, COUNT, LAGS, POWERS, QUANTILES, SERIES, SHORTEST, Features, extract

LINES = SERIES * len(LAGS)  # where the lines begin
SPREAD = COUNT - 2 * len(QUANTILES)


def noise(length, seed=0):
    return (
        np.random.default_rng(seed).standard_normal((length, 2)).astype(np.float32).view(np.complex64)[:, 0]
    )


def qpsk(length, each=4):
    quarter = np.random.default_rng(1).integers(0, 4, length // each)
    return np.repeat(np.exp(0.5j * np.pi * quarter), each).astype(np.complex64)


def strongest(found):
    """The strongest line of each series."""
    return found[LINES:SPREAD].reshape(SERIES, -1)[:, 0]


def test_a_carrier_has_one_line_and_keeps_its_phase():
    found = extract(np.exp(0.3j * np.arange(2048)).astype(np.complex64))
    assert strongest(found)[0] > np.log(500)
    assert found[: len(LAGS)] == pytest.approx(1, abs=0.01)
    assert found[SPREAD : SPREAD + len(QUANTILES)] == pytest.approx(1, abs=1e-3)  # its level
    assert found[SPREAD + len(QUANTILES) :] == pytest.approx(0, abs=1e-3)  # its turn about the mean


def test_the_fourth_power_of_qpsk_has_a_line_and_the_second_has_none():
    lines = strongest(extract(qpsk(2048) * np.exp(0.01j * np.arange(2048)).astype(np.complex64)))
    assert lines[2] > np.log(200) > np.log(50) > lines[1]


def test_autocorrelations_are_those_of_the_definition():
    x = np.convolve(noise(2048), np.ones(4), "same").astype(np.complex64)
    x /= np.sqrt(np.mean(np.abs(x) ** 2))
    u = x / (np.abs(x) + 0.1)
    found = extract(x)[:LINES].reshape(SERIES, len(LAGS))
    for row, y in enumerate((x, x**2, x**4, u**2, u**4)):
        expected = [abs(np.vdot(np.roll(y, lag), y)) / np.vdot(y, y).real for lag in LAGS]
        assert found[row] == pytest.approx(expected, abs=1e-3)
    level = np.abs(x) ** 2 - 1
    signed = [np.dot(np.roll(level, lag), level) / np.dot(level, level) for lag in LAGS]
    assert found[COMPLEX] == pytest.approx(signed, abs=1e-3)


def test_a_chirp_times_itself_before_is_a_line_and_noise_is_none():
    sweep = np.exp(1e-4j * np.pi * np.arange(2048) ** 2).astype(np.complex64)
    for x, line in ((sweep, True), (noise(2048), False)):
        found = strongest(extract(x))
        assert (found[POWERS:COMPLEX] > np.log(200)).all() == line
    assert found[0] < np.log(200)


@pytest.mark.parametrize("change", [0.1, 50.0, np.exp(1j)], ids=["weak", "strong", "turned"])
def test_neither_level_nor_phase_shows(change):
    x = qpsk(2048) + 0.1 * noise(2048)
    assert extract((x * change).astype(np.complex64)) == pytest.approx(extract(x), abs=0.02)


@pytest.mark.parametrize("x", [np.zeros(2048), np.ones(SHORTEST), noise(SHORTEST), noise(500)])
def test_whatever_comes_the_measures_are_finite(x):
    found = extract(x.astype(np.complex64))
    assert found.shape == (COUNT,)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(0, 300), max_size=12))
def test_cuts_never_show(cuts):
    x = noise(1000)
    whole = Features(hop=32, window=128).push(x)
    assert len(whole) == 31
    pieces = Features(hop=32, window=128)
    rows, at = [], 0
    for length in [*cuts, 1000]:
        rows.append(pieces.push(x[at : at + length]))
        at += length
    assert np.array_equal(np.concatenate(rows), whole)
    assert np.array_equal(whole[0], extract(x[:32]))
    assert np.array_equal(whole[-1], extract(x[31 * 32 - 128 : 31 * 32]))


def test_a_reset_forgets():
    features = Features(hop=32, window=128)
    features.push(noise(77))
    features.reset()
    assert np.array_equal(features.push(noise(64, 3)), Features(hop=32, window=128).push(noise(64, 3)))
