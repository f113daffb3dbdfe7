"""The native kernel as a back end; see streaming/native/ for how it computes.

Results have the same bits for every cut of the stream, alone or among other streams, on one thread or many.
"""

import ctypes
from collections.abc import Sequence
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.encoder import Activation, Encoder
from streaming.engine import Engine, Hops, Stream, check_samples, not_finite
from streaming.native_library import Work, choose_isa, library


class NativeStream(Stream):
    """One stream's rings, in the kernel's memory."""

    engine: "NativeEngine"

    def __init__(self, engine: "NativeEngine") -> None:
        super().__init__(engine)
        self.handle = library().wavetell_stream(engine.handle)
        self.work = Work(stream=self.handle)
        self.work_address = ctypes.addressof(self.work)
        self._position = 0

    @property
    def position(self) -> int:
        """Samples since the reset."""
        return self._position

    def push(self, samples: Samples) -> Hops:
        """Take samples and give the hops that they completed."""
        check_samples(samples)
        self.check_open()
        samples = np.ascontiguousarray(samples)
        with self.engine.lock:
            hops = self.prepare(self.work, samples)
            if self.engine.kernel_push(self.engine.handle, self.work_address, 1) >= 0:
                raise not_finite(samples)
            self._position += len(samples)
        return hops

    def prepare(self, work: Work, samples: Samples) -> Hops:
        """Fill in the stream's part of a push, and make room for its hops."""
        work.iq = samples.ctypes.data
        work.samples = len(samples)
        count = (self._position % self.engine.hop + len(samples)) // self.engine.hop
        if not count:
            return self.engine.none
        hops = Hops(*np.empty((2, count, self.engine.shape.reduced), np.float32))
        work.maximum, work.total = hops.maximum.ctypes.data, hops.total.ctypes.data
        return hops

    def reset(self) -> None:
        """Forget everything, as if no sample had come yet."""
        self.check_open()
        with self.engine.lock:
            library().wavetell_reset(self.handle)
            self._position = 0

    def close(self) -> None:
        """Give the memory back."""
        if not self.closed:
            self.closed = True
            library().wavetell_stream_close(self.handle)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.close()

    def _export(self) -> bytes:
        state = ctypes.create_string_buffer(library().wavetell_state_bytes(self.handle))
        with self.engine.lock:
            library().wavetell_save(self.handle, state)
        return state.raw

    def _import(self, position: int, payload: bytes) -> None:
        with self.engine.lock:
            library().wavetell_restore(self.handle, position, payload)
            self._position = position


class NativeEngine(Engine):
    """The packed weights and the kernel's threads."""

    def __init__(self, encoder: Encoder, hop: int, threads: int, bf16: bool = False) -> None:
        self.name = "native-bf16" if bf16 else "native"
        isa = choose_isa(bf16)
        self.detail = f"{self.name} ({isa}{f', {threads} threads' if threads > 1 else ''})"
        super().__init__(encoder, hop, threads)
        self.kernel_push = library().wavetell_push
        activation = get_args(Activation).index(self.shape.activation)
        self.handle = library().wavetell_engine(isa.encode(), activation, self.shape.kernel, hop, threads)
        for block, (c_in, c_out, dilation) in zip(self.blocks, self.shape.blocks, strict=True):
            arrays = (block.conv1.taps, block.conv1.bias, block.conv2.taps, block.conv2.bias)
            residual = map(_floats, block.residual) if block.residual else (None, None)
            library().wavetell_block(self.handle, c_in, c_out, dilation, *map(_floats, arrays), *residual)
        library().wavetell_ready(self.handle)
        self.parts = (Work * 1)()

    def stream(self) -> NativeStream:
        """A new stream with an empty state."""
        return NativeStream(self)

    def push(self, work: Sequence[tuple[Stream, Samples]]) -> list[Hops]:
        """Push to many streams in one call."""
        self.check(work)
        chunks = [np.ascontiguousarray(samples) for _, samples in work]
        streams = [cast(NativeStream, stream) for stream, _ in work]
        with self.lock:
            if len(work) > len(self.parts):
                self.parts = (Work * len(work))()
            hops = []
            for part, stream, samples in zip(self.parts, streams, chunks, strict=False):
                part.stream = stream.handle
                hops.append(stream.prepare(part, samples))
            bad = self.kernel_push(self.handle, ctypes.addressof(self.parts), len(work))
            if bad >= 0:
                raise not_finite(chunks[bad])
            for stream, samples in zip(streams, chunks, strict=True):
                stream._position += len(samples)
        return hops

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            library().wavetell_engine_close(self.handle)


def _floats(array: NDArray[np.float32]) -> "ctypes._Pointer[ctypes.c_float]":
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
