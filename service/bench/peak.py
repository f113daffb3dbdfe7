"""The most float32 multiply-adds a second that this core can do, by chains of them that live in registers."""

from ctypes import c_int32, c_int64
from functools import partial

from service.bench.race import Runner
from streaming.errors import BackendError
from streaming.native_library import library

STEPS = 20_000


def peak_runners() -> list[Runner]:
    """One for each width of vectors that this processor has; none where the native kernel is not built."""
    try:
        chains = library().wavetell_fma_chains  # streaming/native/peak.cpp
    except BackendError:
        return []
    chains.restype, chains.argtypes = c_int64, [c_int32, c_int64]
    return [Runner(partial(chains, lanes, STEPS)) for lanes in (4, 8, 16) if chains(lanes, 1)]
