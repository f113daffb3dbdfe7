"""The native kernel as a back end; see streaming/native/ for how it computes.

Results have the same bits for every cut of the stream, alone or among other streams, on one thread or many.
"""

import ctypes
import weakref
from collections.abc import Callable, Sequence
from ctypes import c_int64, c_void_p
from itertools import accumulate
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.engine import Engine, Hops, Stream, check_samples, not_finite
from streaming.errors import BackendError
from streaming.maps import InputMap
from streaming.native_library import choose_isa, library, push_one
from streaming.shape import Activation
from streaming.weights import AnyEncoder


class NativeStream(Stream):
    """One stream's rings, in the kernel's memory."""

    engine: "NativeEngine"

    def __init__(self, engine: "NativeEngine") -> None:
        super().__init__(engine)
        self.handle = library().wavetell_stream(engine.handle)
        self.free = freed_with(self, library().wavetell_stream_close, self.handle)

    def push(self, samples: Samples) -> Hops:
        """Take samples and give the hops that they completed."""
        check_samples(samples)
        self.check_open()
        engine, size = self.engine, samples.size
        with engine.lock:
            if size > engine.fits:
                engine.room(self.completes(size))
            # A copy costs less than asking numpy for an address.
            count = engine.push_one(engine.handle, self.handle, samples.tobytes(), size, engine.address)
            if count < 0:
                raise not_finite(samples)
            self._position += size
            return engine.taken(0, count)

    def completes(self, samples: int) -> int:
        """How many hops so many samples will complete."""
        return (self._position % self.engine.hop + samples) // self.engine.hop

    def reset(self) -> None:
        """Forget everything, as if no sample had come yet."""
        self.check_open()
        with self.engine.lock:
            library().wavetell_reset(self.handle)
            self._position = 0

    def close(self) -> None:
        """Give the memory back."""
        self.closed = True
        self.free()

    def _export(self) -> bytes:
        state = ctypes.create_string_buffer(self.engine.state_bytes)
        with self.engine.lock:
            library().wavetell_save(self.handle, state)
        return state.raw

    def _import(self, position: int, payload: bytes) -> None:
        with self.engine.lock:
            library().wavetell_restore(self.handle, position, payload)
            self._position = position


class NativeEngine(Engine):
    """The packed weights and the kernel's threads."""

    def __init__(self, encoder: AnyEncoder, hop: int, threads: int, bf16: bool = False) -> None:
        self.name, self.element_bytes = ("native-bf16", 2) if bf16 else ("native", 4)
        isa = choose_isa(bf16)
        self.detail = f"{self.name} ({isa}{f', {threads} threads' if threads > 1 else ''})"
        super().__init__(encoder, hop, threads)
        self.push_one = push_one()
        shape, activation = self.shape, get_args(Activation).index(self.shape.activation)
        self.handle = library().wavetell_engine(
            isa.encode(), activation, shape.kernel, hop, self.parts, threads
        )
        if self.handle is None:
            raise BackendError(f"the native kernel may not run {isa} in this process")
        freed_with(self, library().wavetell_engine_close, self.handle)
        self._load()
        self.hops = np.empty((0, self.parts, shape.reduced), np.float32)
        self.room(16)

    def _load(self) -> None:
        """Hand maps and weights to the kernel, in the order in which samples meet them."""
        for name in self.shape.maps or ("iq",):
            library().wavetell_map(self.handle, get_args(InputMap).index(name))
        for conv, stage, c_in in zip(self.stages, self.shape.stages, self.shape.inputs, strict=False):
            about = (c_in, stage.channels, stage.kernel, stage.stride)
            library().wavetell_stage(self.handle, *about, _floats(conv.taps), _floats(conv.bias))
        for block, (c_in, c_out, dilation) in zip(self.blocks, self.shape.blocks, strict=True):
            arrays = (block.conv1.taps, block.conv1.bias, block.conv2.taps, block.conv2.bias)
            residual = map(_floats, block.residual) if block.residual else (None, None)
            library().wavetell_block(self.handle, c_in, c_out, dilation, *map(_floats, arrays), *residual)
        library().wavetell_ready(self.handle)

    def stream(self) -> NativeStream:
        """A new stream with an empty state."""
        return NativeStream(self)

    def push(self, work: Sequence[tuple[Stream, Samples]]) -> list[Hops]:
        """Push to many streams in one call."""
        self.check(work)
        streams = [cast(NativeStream, stream) for stream, _ in work]
        sizes, n = [samples.size for _, samples in work], len(work)
        with self.lock:
            counts = [stream.completes(size) for stream, size in zip(streams, sizes, strict=True)]
            ends = list(accumulate(counts, initial=0))
            room = self.room(ends[-1])
            handles = (c_void_p * n)(*[stream.handle for stream in streams])
            samples = b"".join([samples.tobytes() for _, samples in work])
            bad = library().wavetell_push(self.handle, n, handles, (c_int64 * n)(*sizes), samples, room)
            if bad >= 0:
                raise not_finite(work[bad][1])
            for stream, size in zip(streams, sizes, strict=True):
                stream._position += size
            return [self.taken(done, count) for done, count in zip(ends, counts, strict=False)]

    def room(self, hops: int) -> int:
        """The address where the kernel can write so many hops."""
        if len(self.hops) < hops:
            self.hops = np.empty((hops, self.parts, self.shape.reduced), np.float32)
            self.address = self.hops.ctypes.data
            self.fits = (hops - 1) * self.hop  # samples of one stream that never complete more
        return self.address

    def taken(self, first: int, count: int) -> Hops:
        """The hops that the kernel has written."""
        return Hops(*self.hops[first : first + count].transpose(1, 0, 2).copy()) if count else self.none


def freed_with(owner: object, close: Callable[[int], None], handle: int) -> Callable[[], object]:
    """Close the handle when its owner is gone; at the program's end the kernel's memory goes by itself."""
    free = weakref.finalize(owner, close, handle)
    free.atexit = False
    return free


def _floats(array: NDArray[np.float32]) -> "ctypes._Pointer[ctypes.c_float]":
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
