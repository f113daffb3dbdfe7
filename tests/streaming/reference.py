"""The encoder once more, from torch's own parts: nn.Conv1d with weight norm, padded on the left."""

import functools
import importlib.util
import os
from unittest import mock

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.parametrizations import weight_norm

from streaming.encoder import Encoder
from streaming.engine import Engine, open_engine
from streaming.native_library import works
from streaming.shape import EncoderShape
from tests.require import need, need_processor

EXACT = ["torch", "portable", "avx2", "avx512"]  # back end or, for the native one, its instruction set
ACTIVATIONS = {"leaky_relu": nn.LeakyReLU(0.01), "relu": nn.ReLU(), "softplus": nn.Softplus()}


class Reference(nn.Module):
    """(B, 2, T) to features (B, reduced, T)."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.act = ACTIVATIONS[encoder.shape.activation]
        self.blocks = nn.ModuleList()
        for block, (c_in, c_out, dilation) in zip(encoder.blocks, encoder.shape.blocks, strict=True):
            parts = {"residual": nn.Conv1d(c_in, c_out, 1) if c_in != c_out else nn.Identity()}
            if block.residual is not None:
                parts["residual"].load_state_dict(
                    {
                        "weight": block.residual.weight.detach()[..., None],
                        "bias": block.residual.bias.detach(),
                    }
                )
            for name, width in (("conv1", c_in), ("conv2", c_out)):
                ours = getattr(block, name)
                conv = weight_norm(nn.Conv1d(width, c_out, encoder.shape.kernel, dilation=dilation))
                conv.load_state_dict(
                    {
                        "bias": ours.bias.detach(),
                        "parametrizations.weight.original0": ours.g.detach()[:, None, None],
                        "parametrizations.weight.original1": ours.v.detach(),
                    }
                )
                parts[name] = conv
            self.blocks.append(nn.ModuleDict(parts))

    def forward(self, x):
        for block in self.blocks:
            h = self.act(causal(block["conv1"], x))
            x = self.act(causal(block["conv2"], h)) + block["residual"](x)
        return x


def causal(conv, x):
    return conv(functional.pad(x, ((conv.kernel_size[0] - 1) * conv.dilation[0], 0)))


def features(encoder, samples):
    """What the encoder makes of these samples and nothing before them, (T, reduced)."""
    return _features(encoder, samples.tobytes())


@functools.lru_cache(maxsize=64)
@torch.no_grad()
def _features(encoder, samples):
    x = torch.from_numpy(np.frombuffer(samples, np.float32).reshape(1, -1, 2).transpose(0, 2, 1).copy())
    return Reference(encoder)(x)[0].T.numpy()


def hops_of(features, hop):
    """Maximum and sum of every whole hop."""
    whole = features[: len(features) // hop * hop].reshape(-1, hop, features.shape[1])
    return whole.max(1), whole.sum(1, dtype=np.float64)


def noise(count, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(count) + 1j * rng.standard_normal(count)).astype(np.complex64)


def error(found, expected):
    """Largest difference over largest value."""
    assert found.shape == expected.shape
    return np.abs(found - expected).max() / np.abs(expected).max()


def joined(hops):
    """The hops of many pushes as one array (n, 2, reduced)."""
    return np.concatenate([np.stack([h.maximum, h.total], 1) for h in hops])


def cut(samples, cuts):
    """The samples in pieces that begin at these places."""
    return [piece for piece in np.split(samples, sorted(cuts)) if len(piece)]


@functools.cache
def encoder_of(shape: EncoderShape) -> Encoder:
    return Encoder(shape)


@functools.cache
def engine_of(how: str, shape: EncoderShape, hop: int = 100, threads: int = 1) -> Engine:
    """An engine on torch, or on the native kernel with a named instruction set."""
    return engine_with(how, encoder_of(shape), hop, threads)


def engine_with(how: str, encoder: Encoder, hop: int = 100, threads: int = 1) -> Engine:
    """The same for an encoder of one's own."""
    if how == "torch":
        return open_engine(encoder, hop, "torch", threads)
    need(importlib.util.find_spec("streaming._kernel") is not None, "the native kernel")
    need_processor(works(how), how)
    backend = "native" if how in EXACT else "native-bf16"
    with mock.patch.dict(os.environ, WAVETELL_ISA=how):
        return open_engine(encoder, hop, backend, threads)
