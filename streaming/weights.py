"""The encoder's weights as the engine uses them: weight norm folded, plain arrays, and a fingerprint."""

import hashlib
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from streaming.encoder import CausalBlock, CausalConv, Encoder

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class ConvWeights:
    """One causal convolution; the oldest tap comes first."""

    taps: Floats  # (k, C_in, C_out)
    bias: Floats  # (C_out,)
    dilation: int

    @property
    def history(self) -> int:
        """How many inputs before the present one it sees."""
        return (len(self.taps) - 1) * self.dilation


@dataclass(frozen=True)
class BlockWeights:
    """One block; `residual` is (C_in, C_out) and its bias where the width changes, else None."""

    conv1: ConvWeights
    conv2: ConvWeights
    residual: tuple[Floats, Floats] | None


@torch.no_grad()
def folded(encoder: Encoder) -> list[BlockWeights]:
    """A copy of the weights of every block."""
    return [_block(block) for block in encoder.blocks if isinstance(block, CausalBlock)]


def fingerprint(encoder: Encoder, blocks: list[BlockWeights]) -> str:
    """SHA-256 over all that the features depend on: the shape, the activation and the folded weights."""
    digest = hashlib.sha256(
        repr((encoder.shape.blocks, encoder.shape.kernel, encoder.shape.activation)).encode()
    )
    for block in blocks:
        for conv in (block.conv1, block.conv2):
            digest.update(conv.taps.tobytes() + conv.bias.tobytes())
        for array in block.residual or ():
            digest.update(array.tobytes())
    return digest.hexdigest()


def _block(block: CausalBlock) -> BlockWeights:
    residual = None
    if block.residual is not None:
        residual = (_copy(block.residual.weight.T), _copy(block.residual.bias))
    return BlockWeights(_conv(block.conv1), _conv(block.conv2), residual)


def _conv(conv: CausalConv) -> ConvWeights:
    return ConvWeights(_copy(conv.weight()), _copy(conv.bias), conv.dilation)


def _copy(tensor: torch.Tensor) -> Floats:
    return np.array(tensor.detach().cpu().numpy(), np.float32, order="C")
