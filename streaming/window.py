"""The window: pools the features of the last W samples, once per hop, and maps them to the embedding.

    e[i] = A pool(f[t], t in (i hop - W, i hop]) + b,    pool = max, mean, deviation, or some side by side

The engine gives the maximum, the sum and the scatter of every hop, so a window is one reduction over W/hop of
them. A growing window (`window=None`) pools everything since the reset: one hop's worth is all its memory.

This equals the batch encoder over the whole history since the reset, pooled over the last W outputs. It is
not the encoder over W samples cut out of the stream: that would see zeros where the past was.
"""

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from streaming.engine import Hops
from streaming.errors import ConfigError, InputError
from streaming.shape import FLATTEST
from streaming.weights import AnyEncoder

STATE = struct.Struct("<4sIqqqq")
MAGIC = b"WWN1"


class Window:
    """Hops in, embeddings out.

    Parameters
    ----------
    encoder
        Whose pooling and linear layer to apply; its weights are copied.
    hop
        Samples per hop, as the engine counts them.
    window
        Samples per window, a multiple of the hop; None for one that grows.
    """

    def __init__(self, encoder: AnyEncoder, hop: int, window: int | None) -> None:
        if hop < 1:
            raise ConfigError(f"hop is {hop}; it must be at least 1")
        if window is not None and (window < hop or window % hop):
            raise ConfigError(f"window is {window}; it must be a multiple of the hop, {hop}")
        self.hop, self.window, self.pooling = hop, window, encoder.shape.pooling
        if hop % encoder.shape.stride:
            raise ConfigError(
                f"hop is {hop}; it must be a multiple of the encoder's stride, {encoder.shape.stride}"
            )
        self._stride = encoder.shape.stride
        self._past = 1 if window is None else window // hop - 1  # hops to remember
        arrays = encoder.arrays()
        self._taps = np.ascontiguousarray(arrays["linear.weight"].T)  # (pooled, outputs)
        self._bias = arrays["linear.bias"]
        self._reduced = encoder.shape.reduced
        self._model = zlib.crc32(self._taps.tobytes() + self._bias.tobytes())
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self.samples = 0  # since the reset, in whole hops
        self.seen = np.empty(0, np.int64)  # for each row of the last push, the samples since the reset
        # Of these only what the pooling needs has any columns.
        self._maxima = np.full((self._past, self._reduced * ("max" in self.pooling)), -np.inf, np.float32)
        self._totals = np.zeros(
            (self._past, len(self._taps) - self._maxima.shape[1])
        )  # of values, of squares

    def keep(self, hops: int) -> None:
        """Forget all but the newest hops."""
        old = max(0, self._past - hops)
        self._maxima[:old], self._totals[:old] = -np.inf, 0
        self.samples = min(self.samples, hops * self.hop)

    @property
    def warm(self) -> NDArray[np.bool_]:
        """For each row of the last push, whether the window was full.

        Its outputs saw their full causal past where `seen` is at least window + receptive_field - 1.
        """
        return self.seen >= (self.window or 0)

    def push(self, hops: Hops) -> NDArray[np.float32]:
        """Completed hops (n, reduced) to embeddings (n, outputs)."""
        n, shapes = len(hops.maximum), [part.shape for part in hops if part is not None]
        if shapes != [(n, self._reduced)] * (3 if "deviation" in self.pooling else 2):
            raise InputError(f"hops have shapes {shapes}; expected (hops, {self._reduced}) for each part")
        maxima = np.concatenate(
            [self._maxima, hops.maximum[:, : self._maxima.shape[1]]]
        )  # (past + n, reduced)
        totals = np.concatenate([self._totals, self._sums(hops)])
        self.seen = self.samples + self.hop * np.arange(1, n + 1)
        pooled = self._slide(maxima, totals, n) if self.window else self._grow(maxima, totals)
        out = np.empty((n, len(self._bias)), np.float32)
        for row, embedding in zip(
            pooled, out, strict=True
        ):  # BLAS rounds matrices of other heights differently
            np.dot(row, self._taps, out=embedding)
        out += self._bias
        self.samples += n * self.hop
        self._maxima, self._totals = maxima[n:].copy(), totals[n:].copy()
        return out

    def _sums(self, hops: Hops) -> NDArray[np.float64]:
        """Sums of the features, and behind them of their squares, where the pooling needs them."""
        total = hops.total[:, : self._totals.shape[1]].astype(np.float64)
        if hops.scatter is None or "deviation" not in self.pooling:
            return total
        return np.concatenate([total, hops.scatter + total**2 * self._stride / self.hop], 1)

    def _moments(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """The means of values and squares (..., 2 reduced) as means and deviations."""
        if "deviation" not in self.pooling:
            return means
        mean, square = means[..., : self._reduced], means[..., self._reduced :]
        return np.concatenate([mean, np.sqrt(np.maximum(square - mean**2, 0) + FLATTEST)], -1)

    def _grow(self, maxima: NDArray[np.float32], totals: NDArray[np.float64]) -> NDArray[np.float32]:
        """The pooled features (n, pooled) since the reset; the arrays become running maxima and totals."""
        np.maximum.accumulate(maxima, out=maxima)
        np.cumsum(totals, axis=0, out=totals)
        counts = self.seen[:, None] // self._stride
        return np.concatenate([maxima[1:], self._moments(totals[1:] / counts)], 1, dtype=np.float32)

    def _slide(self, maxima: NDArray[np.float32], totals: NDArray[np.float64], n: int) -> NDArray[np.float32]:
        """The pooled features (n, pooled) of the last `window` samples, or of as many as there were."""
        pooled = np.empty((n, len(self._taps)), np.float32)
        counts = (np.minimum(self.seen, self.window or 0) // self._stride).tolist()
        middle = maxima.shape[1]
        for i, count in enumerate(counts):  # one by one: the order in which numpy adds depends on the shape
            rows = slice(i, i + self._past + 1)
            if middle:
                np.maximum.reduce(maxima[rows], out=pooled[i, :middle])
            if middle < len(self._taps):
                pooled[i, middle:] = self._moments(np.add.reduce(totals[rows]) / count)
        return pooled

    def save(self) -> bytes:
        """The state, for `restore`."""
        header = STATE.pack(MAGIC, self._model, self._reduced, self.hop, self.window or 0, self.samples)
        return header + self._maxima.tobytes() + self._totals.tobytes()

    def restore(self, state: bytes) -> None:
        """Go on from a saved state."""
        expected = (MAGIC, self._model, self._reduced, self.hop, self.window or 0)
        size = STATE.size + self._maxima.nbytes + self._totals.nbytes
        if len(state) < STATE.size or STATE.unpack_from(state)[:-1] != expected or len(state) != size:
            kind = "a growing window" if self.window is None else f"a window of {self.window} samples"
            raise InputError(f"the state is not one that {kind}, hop {self.hop}, of this encoder saved")
        self.samples = STATE.unpack_from(state)[-1]
        self.seen = np.empty(0, np.int64)
        middle = STATE.size + self._maxima.nbytes
        self._maxima = np.frombuffer(state[STATE.size : middle], np.float32).reshape(self._maxima.shape)
        self._totals = np.frombuffer(state[middle:], np.float64).reshape(self._totals.shape)
