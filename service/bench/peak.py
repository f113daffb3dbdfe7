"""The most that this core can do: float32 multiply-adds, and weights read from its caches, a second."""

from ctypes import c_int32, c_int64, c_void_p
from functools import partial

import numpy as np

from service.bench.race import Runner
from streaming.errors import BackendError
from streaming.native_library import library

STEPS = 20_000
PASSES = 100
GROUP = 192  # values that the kernel's reading takes at a time
LANES = (4, 8, 16)


def peak_runners() -> list[Runner]:
    """Multiply-adds that live in registers, one for each width of vectors that this processor has.

    None where the native kernel is not built.
    """
    try:
        chains = library().wavetell_fma_chains  # streaming/native/peak.cpp
    except BackendError:
        return []
    chains.restype, chains.argtypes = c_int64, [c_int32, c_int64]
    return [Runner(partial(chains, lanes, STEPS)) for lanes in LANES if chains(lanes, 1)]


def read_runners(cells: int) -> list[Runner]:
    """Passes over so many cells of 32 bits, each used once: a push of one sample must read all weights so."""
    try:
        reads = library().wavetell_read_chains
    except BackendError:
        return []
    reads.restype, reads.argtypes = c_int64, [c_int32, c_void_p, c_int64, c_int64]
    values = np.ones(cells // GROUP * GROUP, np.float32)

    def passes(lanes: int) -> float:
        return float(reads(lanes, values.ctypes.data, values.size, PASSES) / cells)

    return [Runner(partial(passes, lanes)) for lanes in LANES if passes(lanes)]
