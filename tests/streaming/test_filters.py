"""The filters and quantiles against scipy."""

import numpy as np
import pytest
from scipy import fft, ndimage, signal, special

from streaming import filters
from streaming.agc import one_pole

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("edge", ["constant", "nearest", "reflect", "wrap"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 9, 16, 31])
@pytest.mark.parametrize(("shape", "axis"), [((40,), -1), ((40, 3), 0), ((3, 40), -1)])
def test_a_moving_mean_is_scipys(edge, size, shape, axis):
    x = RNG.exponential(size=shape)
    expected = ndimage.uniform_filter1d(x, size, axis, mode=edge)
    assert np.allclose(filters.moving_mean(x, size, edge, axis), expected, rtol=1e-12)
    x = x.astype(np.float32)
    found = filters.moving_mean(x, size, edge, axis)
    assert found.dtype == np.float32
    assert np.allclose(found, ndimage.uniform_filter1d(x, size, axis, mode=edge), rtol=1e-5)


@pytest.mark.parametrize("size", [1, 3, 4, 9, 41])
def test_a_moving_median_is_scipys(size):
    x = RNG.exponential(size=100)
    assert np.array_equal(filters.moving_median(x, size), ndimage.median_filter(x, size, mode="nearest"))


@pytest.mark.parametrize(("taps", "cutoff"), [(9, 0.1), (64, 0.25), (1025, 0.002)])
def test_a_low_pass_is_scipys(taps, cutoff):
    expected = signal.firwin(taps, cutoff, window=("kaiser", 5.65), fs=1.0)
    assert np.allclose(filters.lowpass(taps, cutoff, 5.65), expected, rtol=1e-9, atol=1e-15)


def test_sizes_that_transform_fast_are_scipys():
    assert [n for n in range(1, 5000) if filters.transforms_fast(n)] == [
        n for n in range(1, 5000) if fft.next_fast_len(n) == n
    ]


@pytest.mark.parametrize("shape", [0.3, 1.0, 4.0, 10.5, 64.0, 1500.0])
@pytest.mark.parametrize("probability", [1e-12, 1e-7, 0.02, 0.5, 0.9])
def test_quantiles_of_noise_are_scipys(shape, probability):
    assert filters.gamma_quantile(shape, probability) == pytest.approx(
        special.gammaincinv(shape, probability), rel=1e-10
    )
    assert filters.gamma_exceeded(shape, probability) == pytest.approx(
        special.gammainccinv(shape, probability), rel=1e-10
    )


def test_a_one_pole_average_is_scipys_for_any_cut():
    x, rest = RNG.exponential(size=1000), 0.01
    expected, after = signal.lfilter([rest], [1.0, rest - 1.0], x, zi=[0.3])
    first, carry = one_pole(x[:137], rest, 0.3)
    second, carry = one_pole(x[137:], rest, carry)
    assert np.array_equal(np.concatenate([first, second]), expected)
    assert carry == after[0]
