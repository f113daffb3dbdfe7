"""The shape of an encoder: what of it is not its weights.

    samples -> maps -> strided stages -> residual blocks of dilations 1, 2, 4, ... -> pooling -> linear layer

A stage of stride s gives one output for every s inputs, so what is behind it costs 1 / s. The paper's encoder
has I and Q alone as its maps and no stages.

>>> CHEAP.multiply_adds(), CHEAP.stride, CHEAP.receptive_field
(5824, 16, 1012)
"""

from dataclasses import dataclass
from math import ceil, prod
from typing import Annotated, Literal

from streaming.checked import Checked, Range
from streaming.errors import ConfigError
from streaming.maps import InputMap, channels, longest_lag

Activation = Literal["leaky_relu", "relu", "softplus"]
Pooling = Literal["max", "mean", "max+mean", "mean+deviation", "max+mean+deviation"]
Width = Annotated[int, Range(1, 4096)]
LEAK = 0.01  # slope of LeakyReLU below zero
FLATTEST = 1e-6  # variance that a deviation falls to: its slope stays finite
MOST_STAGES = 4
LARGEST_STRIDE = 64  # of all stages together
LARGEST_STATE = 1 << 24  # values that a stream's convolutions cache


@dataclass(frozen=True)
class StridedStage(Checked):
    """A causal convolution and its activation, at every `stride`-th of its inputs."""

    section = "encoder.stages"
    channels: Width
    kernel: Annotated[int, Range(1, 64)]
    stride: Annotated[int, Range(1, 16)]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kernel % self.stride:
            raise ConfigError(
                f"encoder.stages: kernel is {self.kernel}; it must be a multiple of the stride, {self.stride}"
            )


@dataclass(frozen=True)
class EncoderShape(Checked):
    """The shape of an encoder; the defaults are the paper's, with 246,760 weights."""

    section = "encoder"
    channels: Width = 40
    depth: Annotated[int, Range(1, 20)] = 10  # blocks of `channels`; one more widens to `reduced`
    reduced: Width = 160
    outputs: Width = 320
    kernel: Annotated[int, Range(1, 64)] = 3
    activation: Activation = "leaky_relu"
    pooling: Pooling = "max"
    maps: tuple[InputMap, ...] = ()  # what the first convolution sees; none: I and Q
    stages: tuple[StridedStage, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.maps)) < len(self.maps):
            raise ConfigError("encoder.maps names one of them twice; each may be there once")
        if len(self.stages) > MOST_STAGES:
            raise ConfigError(f"encoder.stages has {len(self.stages)} entries; at most {MOST_STAGES} may be")
        if self.stride > LARGEST_STRIDE:
            raise ConfigError(f"encoder.stages have stride {self.stride} in all; at most {LARGEST_STRIDE}")
        if self.state > LARGEST_STATE:
            raise ConfigError(
                f"encoder: a stream would cache {self.state:,} values; at most {LARGEST_STATE:,}"
            )

    @property
    def stride(self) -> int:
        """Samples per feature."""
        return prod(stage.stride for stage in self.stages)

    @property
    def inputs(self) -> list[int]:
        """Channels that every stage sees, and those that the first block does."""
        return [channels(self.maps), *(stage.channels for stage in self.stages)]

    @property
    def blocks(self) -> list[tuple[int, int, int]]:
        """Channels in, channels out and dilation of every block."""
        widths = [self.inputs[-1], *[self.channels] * self.depth, self.reduced]
        return [(widths[i], widths[i + 1], 2**i) for i in range(self.depth + 1)]

    @property
    def receptive_field(self) -> int:
        """How many samples one output sees, itself included."""
        seen, step = 1 + longest_lag(self.maps), 1
        for stage in self.stages:
            seen, step = seen + (stage.kernel - 1) * step, step * stage.stride
        return seen + 2 * (self.kernel - 1) * sum(dilation for _, _, dilation in self.blocks) * step

    @property
    def state(self) -> int:
        """How many values the convolutions of one stream cache."""
        staged = sum(stage.kernel * c_in for stage, c_in in zip(self.stages, self.inputs, strict=False))
        past = self.kernel - 1
        return staged + past * sum((c_in + c_out) * dilation for c_in, c_out, dilation in self.blocks)

    @property
    def pooled(self) -> int:
        """Width of the pooled features."""
        return self.reduced * len(self.pooling.split("+"))

    def multiply_adds(self) -> int:
        """Multiply-adds per sample of the stream."""
        total, step = 0.0, 1
        for stage, c_in in zip(self.stages, self.inputs, strict=False):
            step *= stage.stride
            total += stage.kernel * c_in * stage.channels / step
        blocks = sum(
            self.kernel * (c_in + c_out) * c_out + (c_in * c_out if c_in != c_out else 0)
            for c_in, c_out, _ in self.blocks
        )
        return ceil(total + blocks / step)


CHEAP = EncoderShape(
    channels=48,
    depth=3,
    reduced=48,
    outputs=96,
    pooling="max+mean+deviation",
    maps=("iq", "amplitude", "level", "increment", "square", "fourth", "delay2", "delay4", "delay8"),
    stages=(StridedStage(32, 8, 4), StridedStage(48, 4, 2), StridedStage(48, 4, 2)),
)
