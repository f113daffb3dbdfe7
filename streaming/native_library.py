"""The compiled kernel: where it is, and which of its instruction sets really work on this machine.

An instruction set that the processor advertises may still be refused by the operating system or a virtual
machine, and then the process dies. So a child process runs each first, and compares it with portable code.
"""

import ctypes
import functools
import importlib.util
import math
import os
import subprocess
import sys
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int64, c_void_p
from typing import cast

from streaming.errors import BackendError

MODULE = "streaming._kernel"
EXACT = ("avx512", "avx2", "neon", "portable")  # the fastest first
BF16 = ("amx", "avx512bf16")
ISA_VARIABLE = "WAVETELL_ISA"
PushOne = Callable[[int, int, bytes, int, int], int]  # engine, stream, samples, how many, room for hops
PROBE = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.wavetell_check.restype = ctypes.c_double
isa = sys.argv[2].encode()
print(library.wavetell_check(isa) if library.wavetell_supports(isa) else "inf")
"""


@functools.cache
def library() -> ctypes.CDLL:
    """The kernel with its functions' types; the interpreter lock is released while one runs."""
    kernel = ctypes.CDLL(library_path())
    floats = POINTER(c_float)
    for name, result, arguments in (
        ("wavetell_supports", c_int, [c_char_p]),
        ("wavetell_engine", c_void_p, [c_char_p, *[c_int] * 5]),
        ("wavetell_map", None, [c_void_p, c_int]),
        ("wavetell_stage", None, [c_void_p, *[c_int] * 4, floats, floats]),
        ("wavetell_block", None, [c_void_p, c_int, c_int, c_int, *[floats] * 6]),
        ("wavetell_ready", None, [c_void_p]),
        ("wavetell_engine_close", None, [c_void_p]),
        ("wavetell_stream", c_void_p, [c_void_p]),
        ("wavetell_stream_close", None, [c_void_p]),
        ("wavetell_reset", None, [c_void_p]),
        ("wavetell_save", None, [c_void_p, c_void_p]),
        ("wavetell_restore", None, [c_void_p, c_int64, c_char_p]),
        ("wavetell_push", c_int, [c_void_p, c_int, c_void_p, c_void_p, c_char_p, c_void_p]),
        ("wavetell_push_one", c_int64, [c_void_p, c_void_p, c_char_p, c_int64, c_void_p]),
        ("wavetell_signals", c_void_p, [c_char_p]),
        ("wavetell_machine", c_int, [c_void_p, c_void_p, c_int64, c_double, c_double, c_int64, c_void_p]),
        ("wavetell_describe", None, [c_void_p, c_void_p, c_int64, c_float, c_void_p]),
        (
            "wavetell_standout",
            None,
            [c_void_p, c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_int, c_void_p],
        ),
        ("wavetell_reorder", None, [c_void_p, c_void_p, c_int64, c_int64, c_void_p, c_void_p]),
        (
            "wavetell_follow",
            c_int64,
            [*[c_void_p] * 4, c_int64, c_int64, c_void_p, c_void_p, c_int64, c_int64, *[c_void_p] * 3],
        ),
        ("wavetell_settle", None, [*[c_void_p] * 3, c_int64, c_void_p, c_int64, c_void_p, c_void_p]),
        (
            "wavetell_channel",
            None,
            [c_void_p, c_void_p, c_int64, c_int64, c_void_p, c_int64, c_float, c_int64, c_void_p],
        ),
        ("wavetell_apart", None, [c_void_p, c_void_p, *[c_int64] * 4, c_void_p]),
        ("wavetell_moments", None, [c_void_p, c_void_p, c_int64, c_int64, c_void_p]),
    ):
        function = getattr(kernel, name)
        function.restype, function.argtypes = result, arguments
    return kernel


def push_one() -> PushOne:
    """wavetell_push_one without the cost of ctypes, where the build had Python's headers."""
    try:
        return cast(PushOne, importlib.import_module(MODULE).push_one)
    except ImportError:
        return cast(PushOne, library().wavetell_push_one)


def library_path() -> str:
    """The file of the kernel."""
    found = importlib.util.find_spec(MODULE)
    if found is None or found.origin is None:
        raise BackendError("the native kernel is not built; install a C++ compiler and run `make native`")
    return found.origin


def choose_isa(bf16: bool) -> str:
    """The fastest instruction set that works here, or the one that WAVETELL_ISA names."""
    names: tuple[str, ...] = BF16 if bf16 else EXACT
    named = os.environ.get(ISA_VARIABLE)
    if named in (*BF16, "amx-emulated") if bf16 else named in EXACT:
        names = (str(named),)
    for name in names:
        if works(name):
            return name
    if bf16 and names == BF16:
        raise BackendError("native-bf16 needs a processor with AMX or AVX512-BF16; this one has neither")
    raise BackendError(f"the native kernel cannot run {' or '.join(names)} on this machine")


@functools.cache
def works(isa: str) -> bool:
    """Whether a child process ran the instruction set and got the right result."""
    path = library_path()
    if isa != "amx" and not library().wavetell_supports(isa.encode()):
        return False
    command = [sys.executable, "-I", "-S", "-c", PROBE, path, isa]
    child = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    error = float(child.stdout) if child.returncode == 0 else math.inf
    return error < (1e-6 if isa in EXACT else 2e-2)
