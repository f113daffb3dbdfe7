"""What takes part in the engine's benchmark: the engine's own back ends here, the alternatives beside it."""

import copy
from abc import ABC, abstractmethod
from math import ceil
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.encoder import CausalConv, Encoder
from streaming.engine import open_engine
from streaming.shape import EncoderShape

Features = NDArray[np.float32]


def hop_of(shape: EncoderShape) -> int:
    """Samples of a hop: 100, or the least number of whole strides above."""
    return shape.stride * ceil(100 / shape.stride)


class Refused(Exception):
    """A contestant that does not do what a line asks for; the message says why."""


class Contestant(ABC):
    """Streams in lock-step, chunk by chunk; the i-th maximum covers [(i+1) step - width, (i+1) step)."""

    step: int
    width: int

    @abstractmethod
    def __init__(self, encoder: Encoder, streams: int, chunk: int) -> None: ...

    @abstractmethod
    def push(self, samples: Samples) -> Any:  # noqa: ANN401 - as its library gives it, so that no conversion is timed
        """Take (streams, chunk) samples."""

    def maxima(self, output: Any) -> Features:  # noqa: ANN401
        """The maxima (streams, n, reduced) in what `push` gave."""
        return np.asarray(output)[:, None]


class Ours(Contestant):
    """One of the engine's back ends."""

    backend: str

    def __init__(self, encoder: Encoder, streams: int, chunk: int) -> None:
        self.step = self.width = hop_of(encoder.shape)
        self.engine = open_engine(encoder, self.step, self.backend, threads=1)
        self.streams = [self.engine.stream() for _ in range(streams)]

    def push(self, samples: Samples) -> Any:  # noqa: ANN401
        """All streams in one call, as the service does it."""
        if len(self.streams) == 1:
            return [self.streams[0].push(samples[0])]
        return self.engine.push(list(zip(self.streams, samples, strict=True)))

    def maxima(self, output: Any) -> Features:  # noqa: ANN401
        """Those of the completed hops."""
        return np.stack([hops.maximum for hops in output])


class Native(Ours):
    """The native kernel in float32."""

    backend = "native"


class NativeUnrounded(Native):
    """The same where each convolution has a weight that is no bfloat16, so that all 32 bits are read."""

    def __init__(self, encoder: Encoder, streams: int, chunk: int) -> None:
        encoder = copy.deepcopy(encoder)
        with torch.no_grad():
            for module in encoder.modules():
                if isinstance(module, CausalConv):
                    first = module.v[0, 0, 0]
                    first.copy_(torch.nextafter(first, first + 1))
        super().__init__(encoder, streams, chunk)


class NativeBf16(Ours):
    """The native kernel in bfloat16."""

    backend = "native-bf16"


class Torch(Ours):
    """The back end that runs wherever torch does."""

    backend = "torch"
