"""Features of an emission: what does not matter does not show, and what matters does."""

import numpy as np
import pytest

from streaming.features import COUNT, describe, slow, spectrum

RNG = np.random.default_rng(4)


def noise(count):
    return (RNG.standard_normal((count, 2)) @ [1, 1j]).astype(np.complex64)


def qpsk(count, samples=8):
    points = np.exp(1j * (np.pi / 4 + np.pi / 2 * RNG.integers(0, 4, count // samples + 1)))
    return np.repeat(points, samples)[:count].astype(np.complex64)


@pytest.mark.parametrize("length", [48, 100, 2_047, 2_048, 10_000, 140_000])
def test_any_length_gives_finite_features(length):
    for x in (noise(length), np.zeros(length, np.complex64), np.ones(length, np.complex64)):
        row = describe(x, 10.0)
        assert row.shape == (COUNT,)
        assert np.isfinite(row).all()


def test_phase_and_level_do_not_matter():
    x = qpsk(16_384) + 0.1 * noise(16_384)
    turned = (0.01 * np.exp(1j) * x).astype(np.complex64)
    np.testing.assert_allclose(describe(turned, 20.0), describe(x, 20.0), atol=0.02)


def test_a_cyclic_prefix_is_found_at_its_lag_below_the_noise():
    """Symbols of 256 samples that repeat their last 16: 6 % of the power, at 0 dB."""
    symbols = noise(256 * 240).reshape(240, 256)
    x = np.concatenate([symbols[:, -16:], symbols], 1).ravel()
    found = spectrum.long_lags((x + noise(len(x))).astype(np.complex64))
    standout, lag = found[-2:]
    assert lag == pytest.approx(8, abs=0.01)  # log2 of 256
    assert standout > spectrum.long_lags(noise(len(x)))[-2] + 0.1


def test_slow_keying_shows_where_a_window_holds_a_few_symbols():
    keyed = np.repeat(RNG.integers(0, 2, 400), 300).astype(np.complex64) + 0.05 * noise(120_000)
    steady = np.ones(120_000, np.complex64) + 0.05 * noise(120_000)
    levels = slice(1, 1 + len(slow.QUANTILES))
    low, high = slow.describe(keyed, 64)[levels][[0, -1]]
    assert low < 0.2
    assert high > 0.8
    low, high = slow.describe(steady, 64)[levels][[0, -1]]
    assert high - low < 0.1
