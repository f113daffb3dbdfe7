"""The encoder as torch users build it: nn.Conv1d over (B, C, T), or the streaming layers of two libraries."""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from service.bench.contestant import Contestant, Refused, hop_of
from streaming.block import Samples
from streaming.encoder import Encoder, activate, expand
from streaming.shape import EncoderShape
from streaming.weights import BlockWeights, ConvWeights, folded, folded_stages

Layer = Callable[[int, int, int, int], nn.Module]  # channels in, channels out, kernel, dilation
HOPS = 10  # that recomputing looks at


class Block(nn.Module):
    """A block of the encoder, (B, C_in, T) to (B, C_out, T), from any causal convolution."""

    def __init__(self, weights: BlockWeights, shape: EncoderShape, layer: Layer) -> None:
        super().__init__()
        self.conv1, self.conv2 = convolution(weights.conv1, layer), convolution(weights.conv2, layer)
        self.residual: nn.Module = nn.Identity()
        if weights.residual is not None:
            taps, bias = weights.residual
            one = ConvWeights(taps[None], bias, 1)
            self.residual = convolution(one, lambda c_in, c_out, kernel, _: nn.Conv1d(c_in, c_out, kernel))
        self.activation = shape.activation

    def forward(self, x: Tensor) -> Tensor:
        h = activate(self.conv1(x), self.activation)
        h = activate(self.conv2(h), self.activation)
        residual: Tensor = self.residual(x)
        return h + residual


class Maps(nn.Module):
    """The input maps, (B, 2, T) to (B, C, T)."""

    def __init__(self, shape: EncoderShape) -> None:
        super().__init__()
        self.maps = shape.maps

    def forward(self, x: Tensor) -> Tensor:
        return expand(x.transpose(1, 2), self.maps).transpose(1, 2)


class StridedConv(nn.Module):
    """A strided stage over whole sequences, (B, C_in, T) to (B, C_out, T / stride)."""

    def __init__(self, weights: ConvWeights, shape: EncoderShape) -> None:
        super().__init__()
        left = weights.history * weights.stride
        self.conv = convolution(
            weights,
            lambda c_in, c_out, kernel, _: nn.Sequential(
                nn.ConstantPad1d((left, 0), 0.0), nn.Conv1d(c_in, c_out, kernel, stride=weights.stride)
            ),
        )
        self.activation = shape.activation

    def forward(self, x: Tensor) -> Tensor:
        return activate(self.conv(x), self.activation)


def convolution(weights: ConvWeights, layer: Layer) -> nn.Module:
    """The layer with these weights; whatever wraps the Conv1d, it is the one module that has a `weight`."""
    taps = weights.by_input()
    kernel, c_in, c_out = taps.shape
    module = layer(c_in, c_out, kernel, weights.dilation)
    conv = next(part for part in module.modules() if isinstance(part, nn.Conv1d))
    with torch.no_grad():
        conv.weight.copy_(torch.from_numpy(taps.transpose(2, 1, 0)))  # (C_out, C_in, k)
        conv.bias.copy_(torch.from_numpy(weights.bias))  # type: ignore[union-attr]
    return module


def network(encoder: Encoder, layer: Layer) -> nn.Module:
    """The whole encoder up to its features."""
    shape = encoder.shape
    stages = [StridedConv(stage, shape) for stage in folded_stages(encoder)]
    blocks = [Block(block, shape, layer) for block in folded(encoder)]
    return nn.Sequential(Maps(shape), *stages, *blocks).eval()


def planar(samples: Samples) -> Tensor:
    """Complex (B, T) as real (B, 2, T)."""
    real = torch.from_numpy(samples.view(np.float32)).view(*samples.shape, 2)
    return real.transpose(1, 2).contiguous()


class Recompute(Contestant):
    """The batch encoder over the last ten hops, once a hop."""

    def __init__(self, encoder: Encoder, streams: int, chunk: int) -> None:
        self.step = hop_of(encoder.shape)
        self.width = HOPS * self.step
        if chunk != self.step:
            raise Refused(f"recomputes once a hop of {self.step}")
        self.network = network(encoder, padded)
        self.past = np.zeros((streams, self.width), np.complex64)

    @torch.inference_mode()
    def push(self, samples: Samples) -> Tensor:
        """The maxima over the window (B, reduced)."""
        self.past = np.concatenate([self.past[:, samples.shape[1] :], samples], 1)
        features: Tensor = self.network(planar(self.past))
        return features.amax(-1)


class Streaming(Contestant):
    """Layers that keep their own past."""

    def __init__(self, encoder: Encoder, streams: int, chunk: int) -> None:
        if encoder.shape.maps or encoder.shape.stages:
            raise Refused("keeps no past of input maps and strided stages")
        self.step = self.width = chunk
        self.network = network(encoder, self.layer)

    @staticmethod
    @abstractmethod
    def layer(c_in: int, c_out: int, kernel: int, dilation: int) -> nn.Module:
        """The library's causal convolution."""

    @torch.inference_mode()
    def push(self, samples: Samples) -> Tensor:
        """The maxima over the chunk (B, reduced)."""
        features: Tensor = self.network(planar(samples))
        return features.amax(-1)


class PytorchTcn(Streaming):
    """pytorch-tcn's TemporalConv1d in its streaming mode."""

    def __init__(self, encoder: Encoder, streams: int, chunk: int) -> None:
        super().__init__(encoder, streams, chunk)
        if streams > 1:
            raise Refused("streams with a batch size of 1 only")

    @staticmethod
    def layer(c_in: int, c_out: int, kernel: int, dilation: int) -> nn.Module:
        """A TemporalConv1d that is always streaming."""
        from pytorch_tcn.conv import TemporalConv1d

        class Always(TemporalConv1d):  # type: ignore[misc]
            def forward(self, x: Tensor) -> Tensor:
                streamed: Tensor = super().forward(x, inference=True)
                return streamed

        return Always(c_in, c_out, kernel, dilation=dilation)


class CachedConv(Streaming):
    """cached_conv's CachedConv1d."""

    @staticmethod
    def layer(c_in: int, c_out: int, kernel: int, dilation: int) -> nn.Module:
        """With all its padding on the left."""
        from cached_conv.convs import CachedConv1d

        conv: nn.Module = CachedConv1d(
            c_in, c_out, kernel, dilation=dilation, padding=((kernel - 1) * dilation, 0)
        )
        return conv


def padded(c_in: int, c_out: int, kernel: int, dilation: int) -> nn.Module:
    """A causal convolution with zeros before the first sample."""
    left = nn.ConstantPad1d(((kernel - 1) * dilation, 0), 0.0)
    return nn.Sequential(left, nn.Conv1d(c_in, c_out, kernel, dilation=dilation))
