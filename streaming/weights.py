"""The encoder's weights as the engine uses them: weight norm folded, plain arrays, and a fingerprint."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.errors import InputError
from streaming.shape import EncoderShape

Floats = NDArray[np.float32]


class AnyEncoder(Protocol):
    """What the engine, the window and a bundle need of an encoder: plain arrays, or torch's."""

    @property
    def shape(self) -> EncoderShape:
        """The shape."""

    def arrays(self) -> dict[str, Floats]:
        """Every tensor by its name."""

    def encode(self, frames: Samples, batch: int = 256) -> Floats:
        """Frames (B, T), each from an empty state, to embeddings (B, outputs)."""


@dataclass(frozen=True)
class ConvWeights:
    """One causal convolution; the oldest tap comes first.

    With a stride it is one of stride 1 over rows of `stride` inputs laid side by side.
    """

    taps: Floats  # (k / stride, stride * C_in, C_out)
    bias: Floats  # (C_out,)
    dilation: int = 1
    stride: int = 1

    def by_input(self) -> Floats:
        """The taps (k, C_in, C_out), one for each input."""
        k, width, c_out = self.taps.shape
        return self.taps.reshape(k * self.stride, width // self.stride, c_out)

    @property
    def history(self) -> int:
        """How many rows before the present one it sees."""
        return (len(self.taps) - 1) * self.dilation

    @property
    def cached(self) -> int:
        """How many values it needs of the past: those rows, and one that is not yet full."""
        rows = self.history + (self.stride > 1)
        return rows * int(self.taps.shape[1])


@dataclass(frozen=True)
class BlockWeights:
    """One block; `residual` is (C_in, C_out) and its bias where the width changes, else None."""

    conv1: ConvWeights
    conv2: ConvWeights
    residual: tuple[Floats, Floats] | None


def folded_stages(encoder: AnyEncoder) -> list[ConvWeights]:
    """A copy of the weights of every strided stage."""
    arrays = encoder.arrays()
    return [_conv(arrays, f"stages.{i}", stride=stage.stride) for i, stage in enumerate(encoder.shape.stages)]


def folded(encoder: AnyEncoder) -> list[BlockWeights]:
    """A copy of the weights of every block."""
    arrays = encoder.arrays()
    return [_block(arrays, f"blocks.{i}", block[2]) for i, block in enumerate(encoder.shape.blocks)]


def fingerprint(encoder: AnyEncoder, stages: list[ConvWeights], blocks: list[BlockWeights]) -> str:
    """SHA-256 over all that the features depend on: the shape, the activation and the folded weights."""
    shape = encoder.shape
    about: list[object] = [shape.blocks, shape.kernel, shape.activation]
    about += [part for part in (shape.maps, shape.stages) if part]
    digest = hashlib.sha256(repr(tuple(about)).encode())
    for stage in stages:
        digest.update(stage.taps.tobytes() + stage.bias.tobytes())
    for block in blocks:
        for conv in (block.conv1, block.conv2):
            digest.update(conv.taps.tobytes() + conv.bias.tobytes())
        for array in block.residual or ():
            digest.update(array.tobytes())
    return digest.hexdigest()


def tensor_shapes(shape: EncoderShape) -> dict[str, tuple[int, ...]]:
    """The tensors of an encoder of this shape."""
    shapes: dict[str, tuple[int, ...]] = {}
    for i, (stage, c_in) in enumerate(zip(shape.stages, shape.inputs, strict=False)):
        shapes |= _conv_shapes(f"stages.{i}", stage.channels, c_in, stage.kernel)
    for i, (c_in, c_out, _) in enumerate(shape.blocks):
        for conv, inputs in (("conv1", c_in), ("conv2", c_out)):
            shapes |= _conv_shapes(f"blocks.{i}.{conv}", c_out, inputs, shape.kernel)
        if c_in != c_out:
            shapes |= {f"blocks.{i}.residual.weight": (c_out, c_in), f"blocks.{i}.residual.bias": (c_out,)}
    return shapes | {"linear.weight": (shape.outputs, shape.pooled), "linear.bias": (shape.outputs,)}


def _conv_shapes(name: str, c_out: int, c_in: int, kernel: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.v": (c_out, c_in, kernel), f"{name}.g": (c_out,), f"{name}.bias": (c_out,)}


def check_arrays(shape: EncoderShape, arrays: Mapping[str, Floats]) -> None:
    """Refuse tensors that are not those of an encoder of this shape, before any memory is taken."""
    expected, found = tensor_shapes(shape), {name: array.shape for name, array in arrays.items()}
    if expected != found:
        wrong = sorted(set(expected.items()) ^ set(found.items()))[0][0]
        raise InputError(
            f"encoder tensor {wrong} has shape {found.get(wrong)}; expected {expected.get(wrong)}"
        )
    directions = [array for name, array in arrays.items() if name.endswith(".v")]
    if not all(np.any(array, axis=(1, 2)).all() for array in directions):
        raise InputError("a weight-normed tensor of the encoder has a direction of length zero")


def check_frames(frames: Samples, stride: int) -> None:
    """Refuse what is not frames (B, T) of at least one feature."""
    if frames.ndim != 2 or frames.shape[1] < stride:
        least = "one sample" if stride == 1 else f"{stride} samples"
        raise InputError(
            f"frames have shape {frames.shape}; expected (frames, samples) with at least {least}"
        )


def _block(arrays: Mapping[str, Floats], name: str, dilation: int) -> BlockWeights:
    residual = None
    if f"{name}.residual.weight" in arrays:
        residual = (_copy(arrays[f"{name}.residual.weight"].T), _copy(arrays[f"{name}.residual.bias"]))
    conv1, conv2 = (_conv(arrays, f"{name}.{conv}", dilation) for conv in ("conv1", "conv2"))
    return BlockWeights(conv1, conv2, residual)


def _conv(arrays: Mapping[str, Floats], name: str, dilation: int = 1, stride: int = 1) -> ConvWeights:
    v, g = arrays[f"{name}.v"], arrays[f"{name}.g"]
    scale = g / np.sqrt(np.square(v, dtype=np.float64).sum((1, 2)))
    # Weights that were rounded to bfloat16 have their length as gain; its last bit must not undo that.
    scale[np.abs(scale - 1) < 4 * np.finfo(np.float32).eps] = 1
    taps = _copy((v * scale[:, None, None]).transpose(2, 1, 0))  # (k, C_in, C_out)
    rows = taps.reshape(len(taps) // stride, -1, len(v))
    return ConvWeights(rows, _copy(arrays[f"{name}.bias"]), dilation, stride)


def _copy(array: NDArray[np.floating]) -> Floats:
    return np.array(array, np.float32, order="C")
