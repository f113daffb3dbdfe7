"""The back end that runs wherever torch does.

Every convolution keeps its last inputs in a ring. A push gathers, for each new row, the rows its taps see,

    y[t] = act(b + [x[t - (k-1) d], ..., x[t - d], x[t]] W)

so that one GEMM per convolution serves all streams and all their samples, however long each one's chunk is.
A row of a strided convolution's ring is `stride` inputs side by side, and gives an output once it is full.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from streaming.block import Samples
from streaming.encoder import activate
from streaming.engine import Engine, Hops, Stream, not_finite
from streaming.maps import expand
from streaming.weights import AnyEncoder, ConvWeights

ROWS = 256  # samples of one stream taken at a time; the rings hold as many rows beyond what the taps see
Index = NDArray[np.int64]


class Rows(NamedTuple):
    """Which stream and which of its inputs each row of a batch is."""

    slots: Index
    times: Index


class Ring:
    """The last inputs of one convolution for every stream, and its weights."""

    def __init__(self, conv: ConvWeights) -> None:
        kernel, self.width, _ = conv.taps.shape
        self.stride = conv.stride
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

    def push(self, x: Tensor, rows: Rows) -> tuple[Tensor, Rows]:
        """Keep the inputs (N, C_in) and give the convolution's outputs (M, C_out) and whose they are."""
        times, place = rows.times // self.stride, rows.times % self.stride
        kept = self.where(rows.slots, times) * self.stride + torch.from_numpy(place)
        self.rows.view(-1, x.shape[1]).index_copy_(0, kept, x)
        if self.stride > 1:
            full = place == self.stride - 1
            rows = Rows(rows.slots[full], times[full])
        seen = self.where(rows.slots[:, None], rows.times[:, None] - self.shifts)  # (M, k)
        shifted = self.rows.index_select(0, seen.flatten()).view(len(seen), len(self.taps))
        return torch.addmm(self.bias, shifted, self.taps), rows

    def save(self, slot: int, inputs: int) -> NDArray[np.float32]:
        """What a stream still needs after so many inputs."""
        times, begun = self._kept(inputs)
        found = self.rows[self.where(np.array(slot), times)].numpy()
        if self.stride > 1:
            found[-1, begun:] = 0  # what an older row has left there
        return found

    def restore(self, slot: int, inputs: int, saved: NDArray[np.float32]) -> None:
        """Put back what `save` gave."""
        times, _ = self._kept(inputs)
        rows = self.where(np.array(slot), times[times >= 0])
        self.rows[rows] = torch.from_numpy(saved.reshape(-1, self.width)[times >= 0])

    def _kept(self, inputs: int) -> tuple[Index, int]:
        """The rows that are still needed, and how many values the last one has where it is not full."""
        row, begun = divmod(inputs, self.stride)
        return np.arange(row - self.history, row + (self.stride > 1)), begun * self.width // self.stride


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
        self.past = np.zeros(self.engine.lag, np.complex64)  # samples that the maps still see
        self.maximum = np.full(self.engine.shape.reduced, -np.inf, np.float32)
        self.sums = np.zeros(
            (self.engine.parts - 1, self.engine.shape.reduced)
        )  # of values, of their squares

    def close(self) -> None:
        """Give the slot to the next stream."""
        if not self.closed:
            self.closed = True
            self.engine.free.append(self.slot)

    def take(self, chunk: Samples) -> NDArray[np.float32]:
        """The input maps (T, C) of a chunk."""
        samples = np.concatenate([self.past, chunk])
        self.past = samples[len(chunk) :]
        return expand(samples, self.engine.shape.maps)[self.engine.lag :]

    def pool(self, features: NDArray[np.float32], hops: list[tuple[NDArray[np.float32], ...]]) -> None:
        """Add features (T, reduced) to the unfinished hop, and append each hop that is full."""
        stride = self.engine.shape.stride
        per_hop, done = self.engine.hop // stride, 0
        begun = self._position // stride % per_hop
        while done < len(features):
            piece = features[done : done + per_hop - begun]
            np.maximum(self.maximum, piece.max(0), out=self.maximum)
            for i in range(len(self.sums)):
                self.sums[i] += np.power(piece, i + 1, dtype=np.float64).sum(0)
            done, begun = done + len(piece), (begun + len(piece)) % per_hop
            if not begun:
                scatter = [square - self.sums[0] ** 2 / per_hop for square in self.sums[1:]]
                sums = [self.sums[0], *(np.maximum(each, 0) for each in scatter)]
                hops.append((self.maximum.copy(), *(each.astype(np.float32) for each in sums)))
                self.maximum[:], self.sums[:] = -np.inf, 0

    def _export(self) -> bytes:
        engine, parts = self.engine, [self.past.tobytes()]
        with engine.lock:
            for ring, step in zip(engine.rings, engine.steps, strict=True):
                parts.append(ring.save(self.slot, self._position // step).tobytes())
        return b"".join([*parts, self.maximum.tobytes(), self.sums.tobytes()])

    def _import(self, position: int, payload: bytes) -> None:
        engine = self.engine
        past, values = np.split(np.frombuffer(payload, np.float32), [2 * engine.lag])
        self.past = past.view(np.complex64)
        with engine.lock:
            for ring, conv, step in zip(engine.rings, engine.convs, engine.steps, strict=True):
                saved, values = np.split(values, [conv.cached])
                ring.restore(self.slot, position // step, saved)
        self.maximum = values[: len(self.maximum)].copy()
        self.sums = values[len(self.maximum) :].view(np.float64).reshape(self.sums.shape).copy()
        self._position = position


class TorchEngine(Engine):
    """The encoder's weights and the rings of all streams."""

    name = "torch"

    def __init__(self, encoder: AnyEncoder, hop: int, threads: int) -> None:
        super().__init__(encoder, hop, threads)
        self.detail = f"torch ({threads} thread{'s' * (threads > 1)})"
        self.rings = [Ring(conv) for conv in self.convs]
        strides = [conv.stride for conv in self.convs]
        self.steps = [prod(strides[:i]) for i in range(len(strides))]  # samples per input of each ring
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
                features, slots = self._features(streams, chunks)
                for stream, chunk, out in zip(streams, chunks, hops, strict=True):
                    stream.pool(features[slots == stream.slot], out)
                    stream._position += len(chunk)
        return [Hops(*map(np.stack, zip(*out, strict=True))) if out else self.none for out in hops]

    def _features(
        self, streams: list[TorchStream], chunks: list[Samples]
    ) -> tuple[NDArray[np.float32], Index]:
        """Features (N, reduced) of all chunks, and the slot of the stream that each belongs to."""
        slots = np.repeat([stream.slot for stream in streams], [len(chunk) for chunk in chunks])
        times = np.concatenate(
            [stream.position + np.arange(len(chunk)) for stream, chunk in zip(streams, chunks, strict=True)]
        )
        rows = Rows(slots, times)
        taken = [stream.take(chunk) for stream, chunk in zip(streams, chunks, strict=True)]
        x = torch.from_numpy(np.concatenate(taken))
        rings, kind = iter(self.rings), self.shape.activation
        for _ in self.stages:
            x, rows = next(rings).push(x, rows)
            x = activate(x, kind)
        for block in self.blocks:
            h = activate(next(rings).push(x, rows)[0], kind)
            h = activate(next(rings).push(h, rows)[0], kind)
            if block.residual is not None:
                x = torch.addmm(torch.from_numpy(block.residual[1]), x, torch.from_numpy(block.residual[0]))
            x = h + x
        return cast(NDArray[np.float32], x.numpy()), rows.slots


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
