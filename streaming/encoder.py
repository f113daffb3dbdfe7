"""The causal dilated CNN encoder, whole sequences at a time, as a torch module: the one that learns.

A block is two causal convolutions and a residual,

    h = act(conv_d(x)),   y = act(conv_d(h)) + r(x),      conv_d(x)[t] = b + sum_j W_j x[t - (k-1-j) d]

with zeros before the first sample. Blocks have dilations 1, 2, 4, ..., the last one widens to `reduced`
channels; then the features are pooled over time and mapped linearly to the embedding. Before the blocks there
may be input maps (`streaming.maps`) and strided stages, act(conv(x)) at every s-th sample: such a convolution
is one of stride 1 over rows of s inputs laid side by side.

Each convolution is one GEMM over the shifted inputs laid side by side, and taps that can only see the zeros
before the first sample are left out: exact, and some 20 times as fast to train on a CPU as `nn.Conv1d` with
left padding.

>>> Encoder(EncoderShape()).encode(np.zeros((1, 100), np.complex64)).shape
(1, 320)
"""

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from streaming.block import Samples
from streaming.maps import LAGS, QUIETEST, SMALLEST, InputMap
from streaming.shape import FLATTEST, LEAK, Activation, EncoderShape
from streaming.weights import AnyEncoder, check_arrays, check_frames


class CausalConv(nn.Module):
    """A weight-normed causal convolution, W = g v / |v| for each output channel."""

    def __init__(self, c_in: int, c_out: int, kernel: int, dilation: int = 1, stride: int = 1) -> None:
        super().__init__()
        bound = (c_in * kernel) ** -0.5
        self.v = nn.Parameter(torch.empty(c_out, c_in, kernel).uniform_(-bound, bound))
        self.g = nn.Parameter(self.v.detach().norm(dim=(1, 2)))
        self.bias = nn.Parameter(torch.empty(c_out).uniform_(-bound, bound))
        self.kernel, self.dilation, self.stride = kernel, dilation, stride

    def weight(self) -> Tensor:
        """The weight-normed taps."""
        scale: Tensor = self.g / self.v.norm(dim=(1, 2))
        taps = (self.v * scale[:, None, None]).permute(2, 1, 0)  # (k, C_in, C_out)
        return taps.reshape(self.kernel // self.stride, -1, taps.shape[2])  # (k / s, s C_in, C_out)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C_in) to (B, T / s, C_out)."""
        T, rows = x.shape[1] // self.stride, self.kernel // self.stride
        x = x[:, : T * self.stride].reshape(len(x), T, -1)
        shifts = [(rows - 1 - j) * self.dilation for j in range(rows)]
        seen = [j for j, shift in enumerate(shifts) if shift < T]
        shifted = [F.pad(x[:, : T - shifts[j]], (0, 0, shifts[j], 0)) for j in seen]
        taps = self.weight()[seen[0] :].flatten(0, 1)  # (taps * C_in, C_out); the unseen taps are the oldest
        return torch.cat(shifted, -1) @ taps + self.bias


class CausalBlock(nn.Module):
    """Two causal convolutions and the residual; no activation after the sum."""

    def __init__(self, c_in: int, c_out: int, shape: EncoderShape, dilation: int) -> None:
        super().__init__()
        self.conv1 = CausalConv(c_in, c_out, shape.kernel, dilation)
        self.conv2 = CausalConv(c_out, c_out, shape.kernel, dilation)
        self.residual = nn.Linear(c_in, c_out) if c_in != c_out else None
        self.activation = shape.activation

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C_in) to (B, T, C_out)."""
        h = activate(self.conv1(x), self.activation)
        h = activate(self.conv2(h), self.activation)
        return h + (x if self.residual is None else self.residual(x))


def activate(x: Tensor, activation: Activation) -> Tensor:
    """The activation by its name."""
    if activation == "softplus":
        return F.softplus(x)
    return F.leaky_relu(x, LEAK) if activation == "leaky_relu" else F.relu(x)


def expand(x: Tensor, maps: Sequence[InputMap]) -> Tensor:
    """(B, T, 2) to (B, T, C): the input maps, as `streaming.maps.expand` has them, with their gradients."""
    if not maps:
        return x
    samples, power = torch.view_as_complex(x.contiguous()), x.square().sum(-1)
    amplitude = (power + SMALLEST).sqrt()
    phasor = samples / amplitude
    turned = {"iq": samples, "phase": phasor, "square": samples * phasor}
    parts = []
    for name in maps:
        if name == "amplitude":
            parts.append(amplitude[..., None])
        elif name == "level":
            parts.append((power + QUIETEST).log()[..., None] / 2)
        elif name in LAGS:
            factor = phasor if name == "increment" else samples / amplitude.sqrt()
            parts.append(torch.view_as_real(factor * delayed(factor, LAGS[name]).conj()))
        else:
            found = turned["square"] * phasor * phasor if name == "fourth" else turned[name]
            parts.append(torch.view_as_real(found))
    return torch.cat(parts, -1)


def delayed(x: Tensor, lag: int) -> Tensor:
    """(B, T) later by `lag`, with zeros before it."""
    lag = min(lag, x.shape[1])
    return torch.cat([torch.zeros_like(x[:, :lag]), x[:, : x.shape[1] - lag]], 1)


class Encoder(nn.Module):
    """The encoder; the same seed gives the same weights."""

    def __init__(self, shape: EncoderShape, seed: int = 0) -> None:
        super().__init__()
        self.shape = shape
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.stages = nn.ModuleList(
                CausalConv(c_in, stage.channels, stage.kernel, stride=stage.stride)
                for stage, c_in in zip(shape.stages, shape.inputs, strict=False)
            )
            self.blocks = nn.ModuleList(
                CausalBlock(c_in, c_out, shape, dilation) for c_in, c_out, dilation in shape.blocks
            )
            self.linear = nn.Linear(shape.pooled, shape.outputs)

    def features(self, x: Tensor) -> Tensor:
        """(B, T, 2) to (B, T / stride, reduced): what the incremental engine computes sample by sample."""
        x = expand(x, self.shape.maps)
        for stage in self.stages:
            x = activate(stage(x), self.shape.activation)
        for block in self.blocks:
            x = block(x)
        return x

    def pool(self, features: Tensor) -> Tensor:
        """(B, T, reduced) to (B, pooled)."""
        parts = [features.amax(1)] if "max" in self.shape.pooling else []
        parts += [features.mean(1)] if "mean" in self.shape.pooling else []
        if "deviation" in self.shape.pooling:
            parts.append((features.var(1, correction=0) + FLATTEST).sqrt())
        return torch.cat(parts, -1)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, 2) to (B, outputs)."""
        return cast(Tensor, self.linear(self.pool(self.features(x))))

    @torch.no_grad()
    def encode(self, frames: Samples, batch: int = 256) -> NDArray[np.float32]:
        """Frames (B, T), each from an empty state, to embeddings (B, outputs)."""
        check_frames(frames, self.shape.stride)
        out = np.empty((len(frames), self.shape.outputs), np.float32)
        for i in range(0, len(frames), batch):
            out[i : i + batch] = self(iq(frames[i : i + batch])).numpy()
        return out

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Every tensor by its name, for a bundle or an exchange."""
        return {name: tensor.detach().numpy().copy() for name, tensor in self.state_dict().items()}

    @classmethod
    def from_arrays(cls, shape: EncoderShape, arrays: dict[str, NDArray[np.float32]]) -> "Encoder":
        """The encoder with these tensors; their shapes are compared before any memory is taken."""
        check_arrays(shape, arrays)
        encoder = cls(shape)
        encoder.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()})
        return encoder

    @classmethod
    def of(cls, encoder: AnyEncoder) -> "Encoder":
        """A copy of any encoder, to train it."""
        return cls.from_arrays(encoder.shape, encoder.arrays())


def iq(frames: Samples) -> Tensor:
    """Complex (B, T) as real (B, T, 2)."""
    return torch.from_numpy(np.ascontiguousarray(frames, np.complex64).view(np.float32)).view(
        *frames.shape, 2
    )
