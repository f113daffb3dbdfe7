"""The encoder as plain arrays: what runs where there is no torch. `streaming.encoder` is the one that learns.

>>> from streaming.bundle import load_bundle
>>> load_bundle("paper-synthetic").encoder.encode(np.zeros((1, 100), np.complex64)).shape
(1, 320)
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from streaming.block import Samples
from streaming.maps import expand
from streaming.shape import FLATTEST, LEAK, Activation, EncoderShape
from streaming.weights import (
    BlockWeights,
    ConvWeights,
    Floats,
    check_arrays,
    check_frames,
    folded,
    folded_stages,
)


@dataclass(frozen=True, eq=False)
class PlainEncoder:
    """An encoder's shape and tensors, which never change; the names are those of torch's state."""

    shape: EncoderShape
    tensors: dict[str, Floats]

    def __post_init__(self) -> None:
        check_arrays(self.shape, self.tensors)

    def arrays(self) -> dict[str, Floats]:
        """Every tensor by its name."""
        return dict(self.tensors)

    @cached_property
    def stages(self) -> list[ConvWeights]:
        """The weights of every strided stage."""
        return folded_stages(self)

    @cached_property
    def blocks(self) -> list[BlockWeights]:
        """The weights of every block."""
        return folded(self)

    def encode(self, frames: Samples, batch: int = 256) -> Floats:
        """Frames (B, T), each from an empty state, to embeddings (B, outputs)."""
        check_frames(frames, self.shape.stride)
        out = np.empty((len(frames), self.shape.outputs), np.float32)
        for i in range(0, len(frames), batch):
            pooled = self._pool(self._features(expand(frames[i : i + batch], self.shape.maps)))
            out[i : i + batch] = pooled @ self.tensors["linear.weight"].T + self.tensors["linear.bias"]
        return out

    def _features(self, x: Floats) -> Floats:
        """(B, T, C) to (B, T / stride, reduced)."""
        for stage in self.stages:
            x = activate(convolve(x, stage), self.shape.activation)
        for block in self.blocks:
            h = activate(convolve(x, block.conv1), self.shape.activation)
            h = activate(convolve(h, block.conv2), self.shape.activation)
            x = h + (x if block.residual is None else x @ block.residual[0] + block.residual[1])
        return x

    def _pool(self, features: Floats) -> Floats:
        """(B, T, reduced) to (B, pooled)."""
        parts = [features.max(1)] * ("max" in self.shape.pooling)
        parts += [features.mean(1)] * ("mean" in self.shape.pooling)
        if "deviation" in self.shape.pooling:
            parts.append(np.sqrt(features.var(1) + np.float32(FLATTEST)))
        return np.concatenate(parts, -1)


def convolve(x: Floats, conv: ConvWeights) -> Floats:
    """(B, T, C_in) to (B, T / stride, C_out): one product over shifted inputs, as in `streaming.encoder`."""
    T = x.shape[1] // conv.stride
    x = x[:, : T * conv.stride].reshape(len(x), T, -1)
    B, _, C = x.shape
    kernel = len(conv.taps)
    shifts = [(kernel - 1 - j) * conv.dilation for j in range(kernel)]
    first = next(j for j, shift in enumerate(shifts) if shift < T)  # older taps see only zeros
    shifted = np.zeros((B, T, kernel - first, C), np.float32)
    for j in range(first, kernel):
        shifted[:, shifts[j] :, j - first] = x[:, : T - shifts[j]]
    out: Floats = shifted.reshape(B * T, -1) @ conv.taps[first:].reshape(-1, conv.taps.shape[2])
    return out.reshape(B, T, -1) + conv.bias


def activate(x: Floats, activation: Activation) -> Floats:
    """The activation by its name."""
    if activation == "softplus":
        return np.logaddexp(np.float32(0), x)
    return np.maximum(x, LEAK * x) if activation == "leaky_relu" else np.maximum(x, 0)
