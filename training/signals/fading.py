"""Fading: echoes that come and go.

    y[n] = sum_i g_i[n] x[n - d_i],    E|g_i|^2 falling exponentially with the delay d_i

Each g_i is a sum of waves from all around (Clarke), so |g_i| is Rayleigh; a Rician channel has a steady first
path as well, K times as strong as all that scatters.
"""

import numpy as np

from streaming.block import Samples

WAVES = 12  # of each path
STEP = 256  # samples between which gains are interpolated: far below a fade's length


class Fading:
    """A channel of mean power gain 1 over all its fades."""

    def __init__(
        self, paths: int, spread: int, rician: float, doppler: float, rng: np.random.Generator
    ) -> None:
        """`spread` is the longest delay in samples, `rician` is K, 0 for Rayleigh."""
        delays = np.sort(rng.choice(np.arange(1, spread + 1), min(paths - 1, spread), replace=False))
        self.delays = np.concatenate([[0], delays]).astype(int)
        power = np.exp(-2.0 * self.delays / max(spread, 1))
        self.level = np.sqrt(power / power.sum() / (1 + rician) / WAVES)
        self.frequency = doppler * np.cos(rng.uniform(0, 2 * np.pi, (len(power), WAVES)))
        self.phase = rng.uniform(0, 1, (len(power), WAVES))
        self.steady = np.sqrt(rician / (1 + rician))
        self.past = np.zeros(spread, np.complex64)
        self.n = 0

    def push(self, x: Samples) -> Samples:
        """The next samples, faded."""
        knots = np.arange(0, len(x) + STEP, STEP)
        turns = self.phase[..., None] + self.frequency[..., None] * (self.n + knots)  # (paths, waves, knots)
        gains = self.level[:, None] * np.exp(2j * np.pi * turns).sum(1)
        gains[0] += self.steady
        long = np.concatenate([self.past, x])
        at, out = np.arange(len(x)), np.zeros(len(x), np.complex64)
        for delay, gain in zip(self.delays.tolist(), gains, strict=True):
            begin = len(self.past) - delay
            out += np.interp(at, knots, gain).astype(np.complex64) * long[begin : begin + len(x)]
        self.n += len(x)
        self.past = long[len(x) :]
        return out
