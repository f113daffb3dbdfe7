"""The most that this core can do: float32 multiply-adds, and weights read from its caches, a second."""

import os
from ctypes import c_int32, c_int64, c_void_p
from functools import partial

import numpy as np

from service.bench.race import Runner
from streaming.errors import BackendError
from streaming.native_library import ISA_VARIABLE, library

STEPS = 20_000
PASSES = 100
GROUP = 192  # values that the kernel's reading takes at a time
LANES = (4, 8, 16)
WIDEST = {"avx2": 8, "neon": 4, "portable": 4}  # lanes, where WAVETELL_ISA names one


def widths() -> list[int]:
    """Lanes of the vectors that the kernel may use here."""
    widest = WIDEST.get(os.environ.get(ISA_VARIABLE, ""), LANES[-1])
    return [lanes for lanes in LANES if lanes <= widest]


def peak_runners() -> list[Runner]:
    """Multiply-adds that live in registers, one for each width of vectors that the kernel may use.

    None where the native kernel is not built.
    """
    try:
        chains = library().wavetell_fma_chains  # streaming/native/peak.cpp
    except BackendError:
        return []
    chains.restype, chains.argtypes = c_int64, [c_int32, c_int64]
    return [Runner(partial(chains, lanes, STEPS)) for lanes in widths() if chains(lanes, 1)]


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

    return [Runner(partial(passes, lanes)) for lanes in widths() if passes(lanes)]
