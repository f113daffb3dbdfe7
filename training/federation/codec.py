"""Bodies of the exchange: the tensors of a model or of a difference, as safetensors in three precisions.

    float32, float16     q = d
    int8                 q = round(d / s),   s = max|d| / 127 of each tensor;   d' = s q

What rounding lost, d - d', is kept by the sender and added to its next difference (error feedback). The
scales of all tensors are one small tensor in the order of their names. Files are read piece by piece through
plain reads: the memory needed depends neither on the model's size nor on the number of stations.

>>> body = encode({"w": np.array([0.5, -1.0], np.float32)}, "int8", {"base": "..."})
>>> len(body)
158
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from streaming.errors import FormatError
from training.federation.manifest import Manifest, Precision

Floats = dict[str, NDArray[np.float32]]
SCALES = "scales"
NAMES: dict[Precision, str] = {"float32": "F32", "float16": "F16", "int8": "I8"}
TYPES: dict[Precision, type[np.generic]] = {"float32": np.float32, "float16": np.float16, "int8": np.int8}
BYTES = {"F32": 4, "F16": 2, "I8": 1}
FLOAT16_MAX = 65504.0
PIECE = 1 << 18  # values read at once
LARGEST = 1e6  # of any value: a larger one is a damaged update, whatever its norm


def encode(arrays: Mapping[str, NDArray[Any]], precision: Precision, meta: Mapping[str, str]) -> bytes:
    """The body of these tensors; the same input gives the same bytes."""
    stored: dict[str, NDArray[Any]] = {}
    if precision == "int8":
        largest = np.array([np.abs(arrays[name]).max(initial=0.0) for name in sorted(arrays)])
        scales = (largest / 127).astype(np.float32)
        for name, scale in zip(sorted(arrays), scales, strict=True):
            stored[name] = np.rint(arrays[name] / (scale or 1.0)).clip(-127, 127).astype(np.int8)
        stored[SCALES] = scales
    else:
        limit = FLOAT16_MAX if precision == "float16" else np.inf
        stored = {name: array.clip(-limit, limit).astype(TYPES[precision]) for name, array in arrays.items()}
    return bytes(save({name: np.array(a, order="C") for name, a in stored.items()}, dict(meta) or None))


def sha256_of(raw: bytes) -> str:
    """The name of a blob."""
    return hashlib.sha256(raw).hexdigest()


@dataclass(frozen=True)
class Body:
    """A checked file of the exchange: exactly the manifest's names and shapes, in one precision."""

    path: Path
    manifest: Manifest
    precision: Precision
    meta: dict[str, str]
    starts: dict[str, int]  # tensor -> its first byte in the file
    scales: dict[str, float]

    @classmethod
    def open(cls, path: Path, manifest: Manifest, precision: Precision) -> "Body":
        """Check everything but the values."""
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or length > manifest.header_bound:
                raise FormatError(
                    f"the header says {length:,} bytes; at most {manifest.header_bound:,} are allowed"
                )
            meta, starts = read_layout(file.read(length), size, manifest, precision)
            scales = dict.fromkeys(manifest.tensors, 1.0)
            if precision == "int8":
                file.seek(starts[SCALES])
                values = np.frombuffer(file.read(4 * len(scales)), np.float32)
                if not np.isfinite(values).all() or values.min() < 0:
                    raise FormatError("the scales must be finite and at least 0")
                scales = dict(zip(sorted(scales), values.tolist(), strict=True))
        return cls(path, manifest, precision, meta, starts, scales)

    def read(self, name: str, start: int, stop: int) -> NDArray[np.float32]:
        """Values [start, stop) of a tensor, flat."""
        kind = np.dtype(TYPES[self.precision])
        with self.path.open("rb") as file:
            file.seek(self.starts[name] + start * kind.itemsize)
            stored = np.frombuffer(file.read((stop - start) * kind.itemsize), kind)
        values = stored.astype(np.float32)
        return values if self.precision != "int8" else values * np.float32(self.scales[name])

    def arrays(self) -> Floats:
        """Every tensor."""
        shapes = self.manifest.tensors
        return {n: self.read(n, 0, self.manifest.size(n)).reshape(shape) for n, shape in shapes.items()}

    def check_values(self) -> float:
        """Refuse what is not finite or absurdly large; the norm over all tensors."""
        square = 0.0
        for name, start, stop in pieces(self.manifest, PIECE):
            values = self.read(name, start, stop)
            if not np.isfinite(values).all():
                raise FormatError(f"tensor {name} has values that are not finite")
            if np.abs(values).max(initial=0.0) > LARGEST:
                raise FormatError(f"tensor {name} has values beyond {LARGEST:g}")
            square += float(np.square(values, dtype=np.float64).sum())
        return float(np.sqrt(square))


def pieces(manifest: Manifest, most: int) -> Iterator[tuple[str, int, int]]:
    """Every tensor cut into stretches of at most so many values: name, start, stop."""
    for name in manifest.tensors:
        size = manifest.size(name)
        for start in range(0, size, most):
            yield name, start, min(start + most, size)


def read_layout(
    header: bytes, size: int, manifest: Manifest, precision: Precision
) -> tuple[dict[str, str], dict[str, int]]:
    """The metadata, and where each tensor starts, of a header that is exactly what the manifest says."""
    try:
        content = json.loads(header)
        meta = content.pop("__metadata__", {})
        found = {name: (entry["dtype"], tuple(entry["shape"])) for name, entry in content.items()}
        places = {name: [index(at) for at in entry["data_offsets"]] for name, entry in content.items()}
        if not all(isinstance(value, str) for value in meta.values()):
            raise FormatError("the header's metadata must be text")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FormatError("the header is not safetensors; the body is truncated or damaged") from None
    expected = {name: (NAMES[precision], shape) for name, shape in manifest.tensors.items()}
    if precision == "int8":
        expected[SCALES] = ("F32", (len(manifest.tensors),))
    for name in sorted(expected.keys() | found.keys()):
        if name not in found or name not in expected:
            raise FormatError(f"tensor {name} is {'missing' if name in expected else 'not in the manifest'}")
        if found[name] != expected[name]:
            raise FormatError(
                f"tensor {name} is {describe(*found[name])}; expected {describe(*expected[name])}"
            )
    first, at, starts = 8 + len(header), 0, {}
    for name in sorted(places, key=places.__getitem__):
        dtype, shape = expected[name]
        stop = at + BYTES[dtype] * math.prod(shape)
        if places[name] != [at, stop]:
            raise FormatError(f"tensor {name} lies at bytes {places[name]}; expected {[at, stop]}")
        starts[name], at = first + at, stop
    if first + at != size:
        raise FormatError(f"the body has {size:,} bytes; its tensors need {first + at:,}")
    return meta, starts


def describe(dtype: str, shape: tuple[int, ...]) -> str:
    """A tensor's type as people read it."""
    return f"{dtype} {'x'.join(map(str, shape)) or 'scalar'}"
