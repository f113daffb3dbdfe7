"""The kernel's part before and beside the encoder; see streaming/native/signals.h.

What it computes is defined by the numpy code of the modules that call it, which also serves where there is no
kernel. Within one instruction set the result depends on nothing but the samples.
"""

import ctypes
import functools
from ctypes import c_double, c_int32, c_int64, c_void_p

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.errors import BackendError
from streaming.native_library import choose_isa, library

PORTABLE, FAST = "portable", "avx2"  # what AVX-512 would add is lost in memory
Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]


class Followed(ctypes.Structure):
    """A track, or bins that are watched, as the kernel follows it; see streaming/native/signals.h."""

    _fields_ = (
        ("mask", c_void_p),
        ("reached", c_void_p),
        ("splatter", c_void_p),
        ("floor", c_void_p),
        ("total", c_void_p),
        ("looks", c_int64),
        ("last", c_int64),
        ("level", c_double),
        ("peak", c_double),
        ("kind", c_int32),
        ("reaches", c_int32),
        ("verdict", c_int32),
        ("unused", c_int32),
    )


class FollowRules(ctypes.Structure):
    """The constants by which tracks are followed."""

    _fields_ = (
        *[(name, c_double) for name in ("louder", "fainter", "present", "shadow")],
        *[(name, c_double) for name in ("on_top", "within", "heard", "freedom", "forgotten")],
        *[(name, c_int64) for name in ("together", "watch", "memory", "closed", "hang")],
    )


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

    def standout(self, looks: Floats, floor: Floats, limits: Floats) -> Masks:
        """The bins (n, bins) of looks that stand out: `streaming.band.regions`."""
        x, level = np.ascontiguousarray(looks), np.ascontiguousarray(floor)
        out = np.empty(x.shape, bool)
        library().wavetell_standout(
            self._handle,
            x.ctypes.data,
            *x.shape,
            level.ctypes.data,
            limits.ctypes.data,
            len(limits),
            out.ctypes.data,
        )
        return out

    def reorder(self, ordered: Floats, old: Floats | None, fresh: Floats) -> None:
        """Columns that are sorted, (rows, bins), lose the values `old` and gain others; the last row is free
        where nothing is lost."""
        library().wavetell_reorder(
            self._handle,
            ordered.ctypes.data,
            *ordered.shape,
            None if old is None else old.ctypes.data,
            fresh.ctypes.data,
        )

    def follow(
        self,
        rules: FollowRules,
        looks: Floats,
        hot: Masks,
        floor: Floats,
        tracks: "ctypes.Array[Followed]",
        at: int,
        total: Floats,
        held: Masks,
        fresh: Masks,
    ) -> int:
        """Follow tracks through looks (n, bins): how many looks, or -1 less those before one that needs
        decisions; then `fresh` are the bins where something begins."""
        return int(
            library().wavetell_follow(
                self._handle,
                ctypes.addressof(rules),
                looks.ctypes.data,
                hot.ctypes.data,
                *looks.shape,
                floor.ctypes.data,
                ctypes.addressof(tracks),
                len(tracks),
                at,
                total.ctypes.data,
                held.ctypes.data,
                fresh.ctypes.data,
            )
        )

    def settle(
        self, rules: FollowRules, look: Floats, tracks: "ctypes.Array[Followed]", total: Floats, held: Masks
    ) -> None:
        """Finish a look (bins,) after its decisions."""
        library().wavetell_settle(
            self._handle,
            ctypes.addressof(rules),
            look.ctypes.data,
            len(look),
            ctypes.addressof(tracks),
            len(tracks),
            total.ctypes.data,
            held.ctypes.data,
        )

    def channel(self, block: Samples, at: int, response: Samples, sign: float, kept: int) -> Samples:
        """The samples of a channel around bin `at` of a block's transform: `streaming.band.bank`."""
        out = np.empty(kept // 2, np.complex64)
        library().wavetell_channel(
            self._handle,
            block.ctypes.data,
            len(block),
            at,
            response.ctypes.data,
            len(response),
            sign,
            kept,
            out.ctypes.data,
        )
        return out

    def apart(self, rows: NDArray[np.floating], earlier: int, recent: int) -> Floats:
        """How far the two parts of every stretch of rows (n, columns) differ: `streaming.changes`."""
        x = np.ascontiguousarray(rows, np.float64)
        out = np.empty(len(x) - earlier - recent + 1)
        library().wavetell_apart(self._handle, x.ctypes.data, *x.shape, earlier, recent, out.ctypes.data)
        return out

    def moments(self, hops: Samples, count: int) -> Floats:
        """So many moments of hops (n, samples), a multiple of eight: `streaming.band.evidence`."""
        x, out = np.ascontiguousarray(hops, np.complex64), np.empty((len(hops), count))
        library().wavetell_moments(self._handle, x.ctypes.data, *x.shape, out.ctypes.data)
        return out


@functools.cache
def signal_kernel() -> SignalKernel | None:
    """The fastest that runs here; None where no kernel is built."""
    try:
        return SignalKernel(FAST if choose_isa(bf16=False) in ("avx512", FAST) else PORTABLE)
    except BackendError:
        return None
