"""The encoder once more, from torch's own parts: nn.Conv1d with weight norm, padded on the left."""

import functools
import importlib.util
import itertools
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
    """(B, 2, T) to features (B, reduced, T / stride)."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.act = ACTIVATIONS[encoder.shape.activation]
        self.maps = encoder.shape.maps
        self.stages = nn.ModuleList()
        for ours, stage in zip(encoder.stages, encoder.shape.stages, strict=True):
            conv = nn.Conv1d(ours.v.shape[1], stage.channels, stage.kernel, stride=stage.stride)
            self.stages.append(with_weights_of(ours, conv))
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
                conv = nn.Conv1d(width, c_out, encoder.shape.kernel, dilation=dilation)
                parts[name] = with_weights_of(ours, conv)
            self.blocks.append(nn.ModuleDict(parts))

    def forward(self, x):
        if self.maps:
            x = torch.from_numpy(mapped(x.detach().numpy(), self.maps).astype(np.float32))
        for stage in self.stages:
            x = self.act(stage(functional.pad(x, (stage.kernel_size[0] - stage.stride[0], 0))))
        for block in self.blocks:
            h = self.act(causal(block["conv1"], x))
            x = self.act(causal(block["conv2"], h)) + block["residual"](x)
        return x


def with_weights_of(ours, conv):
    conv = weight_norm(conv)
    conv.load_state_dict(
        {
            "bias": ours.bias.detach(),
            "parametrizations.weight.original0": ours.g.detach()[:, None, None],
            "parametrizations.weight.original1": ours.v.detach(),
        }
    )
    return conv


def mapped(x, maps):
    """The input maps (B, C, T) of I and Q (B, 2, T), written down once more in polar form and float64."""
    x = x[:, 0].astype(np.complex128) + 1j * x[:, 1]
    amplitude, angle = np.abs(x), np.angle(x)
    turns = {"iq": 1, "phase": 1, "square": 2, "fourth": 4}
    rows = []
    for name in maps:
        if name == "amplitude":
            rows.append(amplitude)
        elif name == "level":
            rows.append(np.log(np.sqrt(amplitude**2 + 0.001)))
        elif name in turns:
            z = np.exp(1j * turns[name] * angle) * (amplitude if name != "phase" else amplitude > 0)
            rows += [z.real, z.imag]
        else:
            lag = 1 if name == "increment" else int(name.removeprefix("delay"))
            before = [np.pad(part, ((0, 0), (lag, 0)))[:, : x.shape[1]] for part in (amplitude, angle)]
            size = np.sqrt(amplitude * before[0])
            z = np.exp(1j * (angle - before[1])) * (size > 0 if name == "increment" else size)
            rows += [z.real, z.imag]
    return np.stack(rows, 1)


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
    """Maximum and sum of every whole hop of so many features, and the scatter about its mean."""
    whole = features[: len(features) // hop * hop].reshape(-1, hop, features.shape[1])
    return whole.max(1), whole.sum(1, dtype=np.float64), hop * whole.var(1, dtype=np.float64)


def noise(count, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(count) + 1j * rng.standard_normal(count)).astype(np.complex64)


def error(found, expected):
    """Largest difference over largest value."""
    assert found.shape == expected.shape
    return np.abs(found - expected).max() / np.abs(expected).max()


def joined(hops):
    """The hops of many pushes as one array (n, 2 or 3, reduced)."""
    return np.concatenate([np.stack([part for part in h if part is not None], 1) for h in hops])


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


def interleaved(engine, streams, pieces):
    """The hops of each stream, which all take their next piece in one push, until none has any left."""
    hops = [[] for _ in streams]
    for round_ in itertools.zip_longest(*pieces):
        taking = [i for i, piece in enumerate(round_) if piece is not None]
        for i, found in zip(taking, engine.push([(streams[i], round_[i]) for i in taking]), strict=True):
            hops[i].append(found)
    return hops
