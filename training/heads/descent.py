"""L-BFGS: the minimum of a smooth convex function of many variables, from its value and gradient.

The step is two-loop recursion over the newest pairs (s, y) of moves and changes of the gradient, halved until
the function falls by Armijo's rule.

>>> minimise(lambda x: (float(np.sum((x - 3) ** 2)), 2 * (x - 3)), np.zeros(2)).round(6)
array([3., 3.])
"""

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]
PAIRS, ARMIJO, SMALLEST = 10, 1e-4, 1e-12
FLAT = 1e-10  # a relative fall of the function that is not worth another step


def minimise(
    loss: Callable[[Real], tuple[float, Real]], x: Real, most: int = 500, tolerance: float = 1e-5
) -> Real:
    """Where the gradient's largest entry is below the tolerance, or a step hardly helps."""
    value, gradient = loss(x)
    pairs: deque[tuple[Real, Real]] = deque(maxlen=PAIRS)
    for _ in range(most):
        if np.abs(gradient).max() < tolerance:
            break
        direction = -recursion(gradient, pairs)
        slope, step = float(direction @ gradient), 1.0 if pairs else 1 / max(1.0, np.abs(gradient).sum())
        while True:
            moved = x + step * direction
            new, changed = loss(moved)
            if new <= value + ARMIJO * step * slope:
                break
            step /= 2
            if step < SMALLEST:
                return x
        if (moved - x) @ (changed - gradient) > 0:
            pairs.append((moved - x, changed - gradient))
        flat = value - new < FLAT * max(abs(value), 1.0)
        x, value, gradient = moved, new, changed
        if flat:
            break
    return x


def recursion(gradient: Real, pairs: deque[tuple[Real, Real]]) -> Real:
    """The inverse Hessian that the pairs tell, times the gradient."""
    q, weights = gradient.copy(), []
    for s, y in reversed(pairs):
        weights.append((s @ q) / (s @ y))
        q -= weights[-1] * y
    if pairs:
        s, y = pairs[-1]
        q *= (s @ y) / (y @ y)
    for s, y in pairs:
        q += s * (weights.pop() - (y @ q) / (s @ y))
    return q
