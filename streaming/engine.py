"""The encoder one sample at a time: cached convolution states, chunks of any size, many streams in one call.

The features f[t] of the batch encoder over all samples since the reset are computed once and pooled by hops,

    maximum[n] = max f[t],  total[n] = sum f[t],   scatter[n] = sum (f[t] - mean)^2,  n hop <= t < (n + 1) hop

from which every window of whole hops is made: growing over all of them, sliding over the last W / hop. An
encoder of stride s has a feature for every s-th sample, and hops are multiples of s.
The result does not depend on how the stream is cut into chunks.

>>> from streaming.bundle import load_bundle
>>> stream = open_engine(load_bundle("paper-synthetic").encoder, hop=100).stream()
>>> stream.push(np.ones(250, np.complex64)).maximum.shape
(2, 160)
"""

import hashlib
import json
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.errors import BackendError, ConfigError, InputError
from streaming.extras import needs
from streaming.maps import longest_lag
from streaming.weights import AnyEncoder, fingerprint, folded, folded_stages

Backend = Literal["auto", "torch", "native", "native-bf16"]
MAGIC = b"wavetell stream state 1\n"
COMPLEX64 = np.dtype(np.complex64)
_told = threading.Event()  # that `auto` fell back to torch is logged once


class Hops(NamedTuple):
    """The pooled features of the hops that a push completed."""

    maximum: NDArray[np.float32]  # (n, reduced)
    total: NDArray[np.float32]  # (n, reduced)
    scatter: NDArray[np.float32] | None = (
        None  # (n, reduced), about the hop's mean; where deviations are pooled
    )


class Stream(ABC):
    """One stream's cached convolution states."""

    def __init__(self, engine: "Engine") -> None:
        self.engine = engine
        self.closed = False
        self._position = 0

    @property
    def position(self) -> int:
        """Samples since the reset."""
        return self._position

    @abstractmethod
    def push(self, samples: Samples) -> Hops:
        """Take complex64 samples (T,) and give the hops that they completed, which may be none."""

    @abstractmethod
    def reset(self) -> None:
        """Forget everything, as if no sample had come yet."""

    @abstractmethod
    def close(self) -> None:
        """Give the memory back; a closed stream takes nothing more."""

    @abstractmethod
    def _export(self) -> bytes:
        """The state: what each convolution still sees, and the unfinished hop."""

    @abstractmethod
    def _import(self, position: int, payload: bytes) -> None:
        """Put back what `_export` gave."""

    def save(self) -> bytes:
        """The state, to be restored into any stream of the same model, back end and hop."""
        self.check_open()
        payload = self._export()
        header = self.engine.header | {
            "position": self.position,
            "payload": hashlib.sha256(payload).hexdigest(),
        }
        return MAGIC + json.dumps(header).encode() + b"\n" + payload

    def restore(self, state: bytes) -> None:
        """Go on from a saved state; a state that does not fit is refused and nothing is changed."""
        self.check_open()
        if not state.startswith(MAGIC):
            raise InputError("the state is not a saved stream state")
        try:
            text, payload = state[len(MAGIC) :].split(b"\n", 1)
            header = json.loads(text)
            found = {name: header[name] for name in self.engine.header}
            position, digest = int(header["position"]), header["payload"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError("the state is damaged: its header cannot be read") from error
        for name, expected in self.engine.header.items():
            if found[name] != expected:
                raise InputError(f"the state belongs to another {name} ({found[name]}); expected {expected}")
        if digest != hashlib.sha256(payload).hexdigest():
            raise InputError("the state is damaged: its contents do not match its checksum")
        if not 0 <= position < 2**62 or len(payload) != self.engine.state_bytes:
            raise InputError("the state is damaged: its contents do not fit the model")
        self._import(position, payload)

    def check_open(self) -> None:
        """Refuse to use a closed stream."""
        if self.closed:
            raise InputError("the stream is closed")


class Engine(ABC):
    """A back end with an encoder's weights, shared by its streams. Calls from several threads take turns."""

    name: str  # the back end in use
    detail: str  # and how it runs here
    element_bytes = 4  # of a cached value

    def __init__(self, encoder: AnyEncoder, hop: int, threads: int) -> None:
        self.shape, self.hop, self.threads = encoder.shape, hop, threads
        shape = encoder.shape
        self.stages, self.blocks = folded_stages(encoder), folded(encoder)
        self.convs = [*self.stages, *(c for block in self.blocks for c in (block.conv1, block.conv2))]
        self.lag = longest_lag(shape.maps)  # samples that the maps look back
        self.parts = 3 if "deviation" in shape.pooling else 2  # of a hop: maximum, total, scatter
        pooling = 8 * self.parts - 4  # bytes of a channel: a maximum, and float64 of the rest
        cached = sum(conv.cached for conv in self.convs)
        self.state_bytes = 8 * self.lag + cached * self.element_bytes + shape.reduced * pooling
        self.lock = threading.Lock()
        self.none = Hops(*np.empty((self.parts, 0, shape.reduced), np.float32))
        model = fingerprint(encoder, self.stages, self.blocks)
        self.header = {"model": model, "backend": self.name, "hop": hop}

    @abstractmethod
    def stream(self) -> Stream:
        """A new stream with an empty state."""

    @abstractmethod
    def push(self, work: Sequence[tuple[Stream, Samples]]) -> list[Hops]:
        """Push to many streams in one call; the chunks may differ in length. All or nothing is taken."""

    def check(self, work: Sequence[tuple[Stream, Samples]]) -> None:
        """Refuse what cannot be pushed, before anything is touched."""
        for stream, samples in work:
            check_samples(samples)
            stream.check_open()
            if stream.engine is not self:
                raise InputError("the stream belongs to another engine")
        if len({id(stream) for stream, _ in work}) < len(work):
            raise InputError("a stream appears twice in one push")


def check_samples(samples: Samples) -> None:
    """Refuse all but a complex64 array (T,) with T >= 1."""
    if not isinstance(samples, np.ndarray):
        raise InputError(f"samples are a {type(samples).__name__}; expected a numpy array of complex64")
    if samples.dtype != COMPLEX64:
        raise InputError(f"samples have dtype {samples.dtype}; expected complex64")
    if samples.ndim != 1:
        raise InputError(f"samples have shape {samples.shape}; expected (T,)")
    if not samples.size:
        raise InputError("samples are empty; expected at least one")


def not_finite(samples: Samples) -> InputError:
    """The error that names the first sample that is NaN or infinite."""
    index = int(np.argmin(np.isfinite(samples)))
    return InputError(f"sample {index} is {samples[index]}; expected finite samples")


def open_engine(encoder: AnyEncoder, hop: int = 100, backend: str = "auto", threads: int = 1) -> Engine:
    """Open a back end; `auto` is the exact native kernel where it runs, else torch.

    Raises
    ------
    BackendError
        Where the back end that was asked for cannot run on this machine.
    """
    for name, value in (("hop", hop), ("threads", threads)):
        if not isinstance(value, int) or value < 1:
            raise ConfigError(f"engine.{name} is {value!r}; it must be a whole number of at least 1")
    if hop % encoder.shape.stride:
        raise ConfigError(
            f"engine.hop is {hop}; it must be a multiple of the encoder's stride, {encoder.shape.stride}"
        )
    if backend not in get_args(Backend):
        raise ConfigError(f"engine.backend is {backend!r}; it must be {' or '.join(get_args(Backend))}")
    from streaming.native_backend import NativeEngine

    if backend == "torch":
        return torch_engine(encoder, hop, threads)
    if backend != "auto":
        return NativeEngine(encoder, hop, threads, bf16=backend == "native-bf16")
    try:
        return NativeEngine(encoder, hop, threads)
    except BackendError as error:
        try:
            engine = torch_engine(encoder, hop, threads)
        except BackendError as also:
            raise BackendError(f"{error}; or take torch: {also}") from None
        if not _told.is_set():
            _told.set()
            logging.getLogger(__name__).warning("using torch, which is slower: %s", error)
        return engine


def torch_engine(encoder: AnyEncoder, hop: int, threads: int) -> Engine:
    """The torch back end, where torch is installed."""
    try:
        from streaming.torch_backend import TorchEngine
    except ModuleNotFoundError as error:
        raise BackendError(needs(error, "the torch back end")) from None
    return TorchEngine(encoder, hop, threads)
