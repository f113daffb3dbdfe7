"""The kernel's part before and beside the encoder; see streaming/native/signals.h.

What it computes is defined by the numpy code of the modules that call it, which also serves where there is no
kernel. Within one instruction set the result depends on nothing but the samples.
"""

import functools

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.errors import BackendError
from streaming.native_library import choose_isa, library

PORTABLE, FAST = "portable", "avx2"  # what AVX-512 would add is lost in memory


class SignalKernel:
    """The code for one instruction set; the interpreter lock is released while it runs."""

    def __init__(self, isa: str) -> None:
        self.isa = isa
        self._handle = library().wavetell_signals(isa.encode())
        if self._handle is None:
            raise BackendError(f"the native kernel has no code for {isa} on this machine")

    def describe(self, samples: Samples, snr_db: float, features: int) -> NDArray[np.float32]:
        """So many features of an emission: `streaming.features`."""
        x, out = np.ascontiguousarray(samples, np.complex64), np.empty(features, np.float32)
        library().wavetell_describe(self._handle, x.ctypes.data, len(x), snr_db, out.ctypes.data)
        return out


@functools.cache
def signal_kernel() -> SignalKernel | None:
    """The fastest that runs here; None where no kernel is built."""
    try:
        return SignalKernel(FAST if choose_isa(bf16=False) in ("avx512", FAST) else PORTABLE)
    except BackendError:
        return None
