"""What the band needs of signal processing beyond numpy and an FFT; the tests hold it against scipy.

>>> moving_mean(np.array([0.0, 3.0, 0.0]), 3, "constant")
array([1., 1., 1.])
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Real = TypeVar("Real", bound=NDArray[np.floating])
Edge = Literal["constant", "nearest", "reflect", "wrap"]  # beyond the ends: zeros, the last, mirrored, round
PADDING: dict[Edge, Literal["constant", "edge", "symmetric", "wrap"]] = {
    "constant": "constant",
    "nearest": "edge",
    "reflect": "symmetric",
    "wrap": "wrap",
}
FEW = 8  # terms that are added one by one, which is exact where a difference of sums is not


def moving_mean(x: Real, size: int, edge: Edge = "reflect", axis: int = -1) -> Real:
    """The mean of `size` neighbours, as scipy.ndimage.uniform_filter1d."""
    padded = np.moveaxis(_padded(x, size, edge, axis), axis, 0)
    n = x.shape[axis]
    if size <= FEW:
        total = sum((padded[i : i + n].astype(np.float64) for i in range(1, size)), padded[:n] * 1.0)
    else:
        sums = np.cumsum(padded, 0, dtype=np.float64)
        total = sums[size - 1 :].copy()
        total[1:] -= sums[:-size]
    return np.moveaxis(np.asarray(total / size, x.dtype), 0, axis)  # type: ignore[return-value]


def moving_median(x: Real, size: int, edge: Edge = "nearest") -> Real:
    """The median of `size` neighbours in one dimension, as scipy.ndimage.median_filter."""
    padded = _padded(x, size, edge, 0)
    if size == 3:  # without sorting each three of them
        a, b, c = padded[:-2], padded[1:-1], padded[2:]
        return cast(Real, np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)
    return np.partition(windows, size // 2, -1)[:, size // 2]  # type: ignore[return-value]


def lowpass(taps: int, cutoff: float, beta: float) -> NDArray[np.float64]:
    """A linear-phase FIR low pass with a Kaiser window; the cutoff is in cycles per sample."""
    n = np.arange(taps) - (taps - 1) / 2
    response = 2 * cutoff * np.sinc(2 * cutoff * n) * np.kaiser(taps, beta)
    return np.asarray(response / response.sum())


def transforms_fast(size: int) -> bool:
    """Whether an FFT of this size has only small factors."""
    for factor in (2, 3, 5, 7, 11):
        while size % factor == 0:
            size //= factor
    return size == 1


@lru_cache(maxsize=4096)
def gamma_quantile(shape: float, probability: float) -> float:
    """x with P(shape, x) = probability, the quantile of a gamma distribution of scale 1."""
    return _solve(shape, lambda x: gamma_tails(shape, x)[0] < probability)


@lru_cache(maxsize=4096)
def gamma_exceeded(shape: float, probability: float) -> float:
    """x with Q(shape, x) = probability: what is exceeded that often, exact where that is rare."""
    return _solve(shape, lambda x: gamma_tails(shape, x)[1] > probability)


def gamma_tails(shape: float, x: float) -> tuple[float, float]:
    """The regularised incomplete gamma functions P and Q: a series below the mean, Lentz's fraction above."""
    if x <= 0:
        return 0.0, 1.0
    scale = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        k = shape
        while term > 1e-17 * total:
            k += 1
            term *= x / k
            total += term
        return scale * total, 1 - scale * total
    b = x + 1 - shape
    c, d = 1e300, 1 / b
    h, i, change = d, 0, 0.0
    while abs(change - 1) > 1e-16 and i < 10_000:
        i += 1
        a, b = -i * (i - shape), b + 2
        d, c = 1 / (a * d + b), b + a / c
        change = c * d
        h *= change
    return 1 - scale * h, scale * h


def _solve(shape: float, below: Callable[[float], bool]) -> float:
    """Where `below` turns from true to false: bisection, to a double's last bits."""
    low, high = 0.0, shape + 1.0
    while below(high):
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if below(middle) else (low, middle)
    return high


def _padded(x: Real, size: int, edge: Edge, axis: int) -> NDArray[np.floating]:
    widths = [(0, 0)] * x.ndim
    before, after = widths[axis] = (size // 2, size - 1 - size // 2)
    if x.ndim > 1 or max(before, after) > len(x) or edge == "wrap":
        return np.pad(x, widths, PADDING[edge])
    if edge == "reflect":  # np.pad takes far longer
        return np.concatenate([x[:before][::-1], x, x[len(x) - after :][::-1]])
    first, last = (x[0], x[-1]) if edge == "nearest" else (0, 0)
    return np.concatenate([np.full(before, first, x.dtype), x, np.full(after, last, x.dtype)])
