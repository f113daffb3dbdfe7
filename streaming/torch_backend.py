"""The back end that runs wherever torch does.

Every convolution keeps its last inputs in a ring. A push gathers, for each new row, the rows its taps see,

    y[t] = act(b + [x[t - (k-1) d], ..., x[t - d], x[t]] W)

so that one GEMM per convolution serves all streams and all their samples, however long each one's chunk is.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from streaming.block import Samples
from streaming.encoder import activate
from streaming.engine import Engine, Hops, Stream, not_finite
from streaming.weights import AnyEncoder, ConvWeights

ROWS = 256  # samples of one stream taken at a time; the rings hold as many rows beyond what the taps see
Index = NDArray[np.int64]


class Ring:
    """The last inputs of one convolution for every stream, and its weights."""

    def __init__(self, conv: ConvWeights) -> None:
        kernel, self.width, _ = conv.taps.shape
        self.history, self.length = conv.history, conv.history + ROWS
        self.shifts: Index = np.arange(kernel)[::-1] * conv.dilation
        self.taps = torch.from_numpy(conv.taps).flatten(0, 1)  # (k * C_in, C_out)
        self.bias = torch.from_numpy(conv.bias)
        self.rows = torch.zeros(1, self.width)  # row 0 stays zero: it lies before the first sample

    def resize(self, slots: int) -> None:
        """Make room for so many streams."""
        grown = torch.zeros(1 + slots * self.length, self.width)
        grown[: len(self.rows)] = self.rows
        self.rows = grown

    def where(self, slots: Index, times: Index) -> Tensor:
        """The row that holds each stream's input at each time."""
        rows = 1 + slots * self.length + times % self.length
        return torch.from_numpy(np.where(times < 0, 0, rows))

    def push(self, x: Tensor, slots: Index, times: Index) -> Tensor:
        """Keep the inputs (N, C_in) and give the convolution's outputs (N, C_out)."""
        self.rows.index_copy_(0, self.where(slots, times), x)
        seen = self.where(slots[:, None], times[:, None] - self.shifts)  # (N, k)
        shifted = self.rows.index_select(0, seen.flatten()).view(len(x), -1)
        return torch.addmm(self.bias, shifted, self.taps)


class TorchStream(Stream):
    """One stream: a slot in every ring, and the hop that is not yet full."""

    engine: "TorchEngine"

    def __init__(self, engine: "TorchEngine", slot: int) -> None:
        super().__init__(engine)
        self.slot = slot
        self.reset()

    def push(self, samples: Samples) -> Hops:
        """Take samples and give the hops that they completed."""
        return self.engine.push([(self, samples)])[0]

    def reset(self) -> None:
        """Forget everything: rows before the first sample are never read from the rings."""
        self.check_open()
        self._position = 0
        self.maximum = np.full(self.engine.shape.reduced, -np.inf, np.float32)
        self.total = np.zeros(self.engine.shape.reduced)

    def close(self) -> None:
        """Give the slot to the next stream."""
        if not self.closed:
            self.closed = True
            self.engine.free.append(self.slot)

    def pool(self, features: NDArray[np.float32], hops: list[tuple[NDArray[np.float32], ...]]) -> None:
        """Add features (T, reduced) to the unfinished hop, and append each hop that is full."""
        hop, done = self.engine.hop, 0
        while done < len(features):
            piece = features[done : done + hop - self._position % hop]
            np.maximum(self.maximum, piece.max(0), out=self.maximum)
            self.total += piece.sum(0, dtype=np.float64)
            self._position += len(piece)
            done += len(piece)
            if self._position % hop == 0:
                hops.append((self.maximum.copy(), self.total.astype(np.float32)))
                self.maximum[:], self.total[:] = -np.inf, 0

    def _export(self) -> bytes:
        parts = []
        with self.engine.lock:
            for ring in self.engine.rings:
                times = np.arange(self._position - ring.history, self._position)
                parts.append(ring.rows[ring.where(np.array(self.slot), times)].numpy().tobytes())
        return b"".join([*parts, self.maximum.tobytes(), self.total.tobytes()])

    def _import(self, position: int, payload: bytes) -> None:
        values = np.frombuffer(payload, np.float32)
        with self.engine.lock:
            for ring in self.engine.rings:
                saved, values = np.split(values, [ring.history * ring.width])
                times = np.arange(position - ring.history, position)
                rows = ring.where(np.array(self.slot), times[times >= 0])
                ring.rows[rows] = torch.from_numpy(saved.reshape(-1, ring.width)[times >= 0])
        self.maximum = values[: len(self.maximum)].copy()
        self.total = values[len(self.maximum) :].view(np.float64).copy()
        self._position = position


class TorchEngine(Engine):
    """The encoder's weights and the rings of all streams."""

    name = "torch"

    def __init__(self, encoder: AnyEncoder, hop: int, threads: int) -> None:
        super().__init__(encoder, hop, threads)
        self.detail = f"torch ({threads} thread{'s' * (threads > 1)})"
        self.rings = [Ring(conv) for block in self.blocks for conv in (block.conv1, block.conv2)]
        self.free: list[int] = []
        self.slots = 0

    def stream(self) -> TorchStream:
        """A new stream with an empty state; the rings grow by doubling."""
        with self.lock:
            if not self.free:
                grown = max(1, 2 * self.slots)
                for ring in self.rings:
                    ring.resize(grown)
                self.free = list(range(self.slots, grown))[::-1]
                self.slots = grown
            return TorchStream(self, self.free.pop())

    def push(self, work: Sequence[tuple[Stream, Samples]]) -> list[Hops]:
        """Push to many streams in one call."""
        self.check(work)
        for _, samples in work:
            if not np.isfinite(samples).all():
                raise not_finite(samples)
        streams = [cast(TorchStream, stream) for stream, _ in work]
        hops: list[list[tuple[NDArray[np.float32], ...]]] = [[] for _ in work]
        with self.lock, one_thread_count(self.threads), torch.inference_mode():
            for start in range(0, max((len(samples) for _, samples in work), default=0), ROWS):
                chunks = [samples[start : start + ROWS] for _, samples in work]
                features = self._features(streams, chunks)
                ends = np.cumsum([len(chunk) for chunk in chunks])
                for stream, piece, out in zip(streams, np.split(features, ends[:-1]), hops, strict=True):
                    stream.pool(piece, out)
        return [Hops(*map(np.stack, zip(*out, strict=True))) if out else self.none for out in hops]

    def _features(self, streams: list[TorchStream], chunks: list[Samples]) -> NDArray[np.float32]:
        """Features (N, reduced) of all chunks, one after the other."""
        slots = np.repeat([stream.slot for stream in streams], [len(chunk) for chunk in chunks])
        times = np.concatenate(
            [stream.position + np.arange(len(chunk)) for stream, chunk in zip(streams, chunks, strict=True)]
        )
        x = torch.from_numpy(np.concatenate(chunks).view(np.float32)).view(-1, 2)
        for block, ring1, ring2 in zip(self.blocks, self.rings[::2], self.rings[1::2], strict=True):
            h = activate(ring1.push(x, slots, times), self.shape.activation)
            h = activate(ring2.push(h, slots, times), self.shape.activation)
            if block.residual is not None:
                x = torch.addmm(torch.from_numpy(block.residual[1]), x, torch.from_numpy(block.residual[0]))
            x = h + x
        return cast(NDArray[np.float32], x.numpy())


@contextmanager
def one_thread_count(threads: int) -> Iterator[None]:
    """Run torch on so many threads, and leave its setting as it was."""
    before = torch.get_num_threads()
    if before == threads:
        yield
        return
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
