"""Sample formats, and their one conversion to complex64.

    cf32_le   x                 little-endian float32 pairs
    ci16_le   x / 32768         little-endian int16 pairs
    ci8       x / 128           int8 pairs
    cu8       (x - 127.5) / 127.5   uint8 pairs, as an RTL-SDR sends them

>>> to_complex(bytes([0, 255]), "cu8")
array([-1.+1.j], dtype=complex64)
"""

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.errors import ConfigError, FormatError

# datatype -> (dtype of one component, what is taken off, what it is divided by)
DATATYPES: dict[str, tuple[np.dtype[np.generic], float, float]] = {
    "cf32_le": (np.dtype("<f4"), 0.0, 1.0),
    "ci16_le": (np.dtype("<i2"), 0.0, 32768.0),
    "ci8": (np.dtype("i1"), 0.0, 128.0),
    "cu8": (np.dtype("u1"), 127.5, 127.5),
}
# How SigMF, rtl_433 and GNU Radio call them.
NAMES = {
    **{name: name for name in DATATYPES},
    **dict.fromkeys(("cf32", "fc32"), "cf32_le"),
    **dict.fromkeys(("ci16", "cs16", "sc16"), "ci16_le"),
    **dict.fromkeys(("ci8_le", "cs8", "sc8"), "ci8"),
    **dict.fromkeys(("cu8_le", "uc8"), "cu8"),
}


def datatype(name: str, what: str = "type") -> str:
    """The datatype that a name means."""
    if name not in NAMES:
        raise ConfigError(f"{what} is {name!r}; it must be cf32, ci16, ci8 or cu8")
    return NAMES[name]


def sample_bytes(datatype: str) -> int:
    """Bytes of one complex sample."""
    return 2 * DATATYPES[datatype][0].itemsize


def to_complex(raw: bytes | bytearray | memoryview | NDArray[np.generic], datatype: str) -> Samples:
    """Interleaved components as complex64; cf32_le shares its memory with `raw`."""
    dtype, offset, scale = DATATYPES[datatype]
    parts = np.frombuffer(raw, dtype)  # (2 T,)
    if datatype == "cf32_le":
        return parts.view(np.complex64)
    values = parts.astype(np.float32)
    if offset:
        values -= np.float32(offset)
    values /= np.float32(scale)
    return values.view(np.complex64)


def check_plausible(raw: bytes | memoryview, datatype: str, what: str) -> None:
    """Refuse samples that cannot be of this type: integers read as floats, or floats read as integers.

    Integers read as floats are NaN or astronomically large. Floats read as integers have an exponent in every
    fourth byte: nearly all values between 1e-6 and 1e3, which no integer signal looks like.
    """
    whole = len(raw) - len(raw) % 8
    floats = np.abs(np.frombuffer(raw[:whole], "<f4"))
    if not len(floats):
        return
    if datatype == "cf32_le":
        if not np.all(floats < 1e9):
            raise FormatError(
                f"{what} says cf32_le, but its bytes are not such floats; give its type, such as type=cu8"
            )
    elif len(floats) >= 64 and np.mean((floats > 1e-6) & (floats < 1e3)) > 0.99:
        raise FormatError(
            f"{what} says {datatype}, but its bytes look like cf32; give its type, such as type=cf32"
        )
