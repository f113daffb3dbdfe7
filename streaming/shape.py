"""The shape of an encoder: what of it is not its weights."""

from dataclasses import dataclass
from typing import Annotated, Literal

from streaming.checked import Checked, Range

Activation = Literal["leaky_relu", "relu", "softplus"]
Pooling = Literal["max", "mean", "max+mean"]
Width = Annotated[int, Range(1, 4096)]
LEAK = 0.01  # slope of LeakyReLU below zero


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

    @property
    def blocks(self) -> list[tuple[int, int, int]]:
        """Channels in, channels out and dilation of every block."""
        widths = [2, *[self.channels] * self.depth, self.reduced]
        return [(widths[i], widths[i + 1], 2**i) for i in range(self.depth + 1)]

    @property
    def receptive_field(self) -> int:
        """How many samples one output sees, itself included."""
        return 1 + 2 * (self.kernel - 1) * sum(dilation for _, _, dilation in self.blocks)

    @property
    def pooled(self) -> int:
        """Width of the pooled features."""
        return self.reduced * (2 if self.pooling == "max+mean" else 1)

    def multiply_adds(self) -> int:
        """Multiply-adds per sample of the stream."""
        return sum(
            self.kernel * (c_in + c_out) * c_out + (c_in * c_out if c_in != c_out else 0)
            for c_in, c_out, _ in self.blocks
        )
