"""A bundle: an encoder, the heads that belong to it and the settings they were fitted with, in one file.

The file is safetensors: plain arrays behind a JSON header, so a model from an unknown source can be wrong
but never runs code. Tensors are named `encoder/...` and `heads/NAME/...`; the header's entry `wavetell` is a
JSON object with the format version, the encoder's shape, each head's description, front-end settings,
provenance, and a sha256 of each part.

>>> load_bundle("paper-synthetic").heads["client-1"].classes
('BPSK', 'QPSK', '8PSK', '16QAM')
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as parse_tensors
from safetensors.numpy import save as write_tensors

from streaming.bundle_meta import Meta
from streaming.checked import as_json, from_json, wrong
from streaming.errors import BundleError, ConfigError, InputError
from streaming.files import write_whole
from streaming.head import Head
from streaming.plain_encoder import PlainEncoder
from streaming.projection import Projection
from streaming.shape import EncoderShape
from streaming.weights import AnyEncoder

FORMAT = 2
MAX_BYTES = 10 * 2**20
LARGEST = 1e9  # in a tensor
SHIPPED = Path(__file__).parent / "bundles"

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Bundle:
    """What runs: encoder, heads, and what is said about them."""

    encoder: AnyEncoder
    heads: dict[str, Head] = field(default_factory=dict)
    meta: Meta = field(default_factory=Meta)
    name: str = "unnamed"
    projection: Projection | None = None  # of emissions' features, behind the band front end

    @property
    def entries(self) -> int:
        """Entries of a live embedding: the encoder's, the projection's and the odds of an outlier."""
        return self.encoder.shape.outputs + (self.projection.outputs + 1 if self.projection else 0)

    @property
    def sha256(self) -> str:
        """The hash of everything in it; every answer carries it."""
        return hashlib.sha256(canonical(self.description()).encode()).hexdigest()

    def own_head(self, like: Head) -> Head:
        """The model's own head with this window and hop; where it has none, the one that was taught."""
        own = [h for h in self.heads.values() if h.mode == "live" and h.name not in self.meta.fitted]
        return next((head for head in own if (head.window, head.hop) == (like.window, like.hop)), like)

    def description(self) -> dict[str, Any]:
        """The JSON object of the file's header."""
        heads = {name: head.meta() for name, head in sorted(self.heads.items())}
        parts = {"encoder": encoder_sha256(self.encoder)}
        if self.projection:
            parts["projection"] = digest(self.projection.arrays())
        parts |= {f"heads/{name}": digest(self.heads[name].arrays()) for name in heads}
        description = {
            "format": FORMAT,
            "encoder": as_json(self.encoder.shape),
            "heads": heads,
            "meta": as_json(self.meta),
            "sha256": parts,
        }
        return description | {
            "description_sha256": hashlib.sha256(canonical(description).encode()).hexdigest()
        }

    def save(self, path: Path) -> None:
        """Write the file; a crash leaves the old one or the new one, never half of one."""
        tensors = {f"encoder/{name}": array for name, array in self.encoder.arrays().items()}
        if self.projection:
            tensors |= {f"projection/{name}": array for name, array in self.projection.arrays().items()}
        for name, head in self.heads.items():
            tensors |= {f"heads/{name}/{key}": array for key, array in head.arrays().items()}
        raw = write_tensors(tensors, {"wavetell": canonical(self.description())})
        if len(raw) > MAX_BYTES:
            raise BundleError(
                f"{path}: the bundle would have {len(raw):,} bytes; at most {MAX_BYTES:,} are allowed"
            )
        write_whole(path, raw)
        path.chmod(0o644)  # readable by all users


def load_bundle(name_or_path: str | Path) -> Bundle:
    """A shipped bundle by its name, or any bundle by its path."""
    path = find_bundle(name_or_path)
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise BundleError(f"{path}: the file has {size:,} bytes; a bundle has at most {MAX_BYTES:,}")
    try:
        return parse_bundle(path.read_bytes(), path.stem)
    except BundleError as error:
        raise BundleError(f"{path}: {error}") from None


def find_bundle(name_or_path: str | Path) -> Path:
    """The file that a name or path means."""
    path = Path(name_or_path)
    if path.is_file():
        return path
    shipped = {file.stem: file for file in sorted(SHIPPED.glob("*.safetensors"))}
    if str(name_or_path) in shipped:
        return shipped[str(name_or_path)]
    raise BundleError(
        f"there is no model {str(name_or_path)!r}; shipped are {', '.join(shipped)}, or give a file"
    )


def parse_bundle(raw: bytes, name: str) -> Bundle:
    """The bundle in the bytes of a file; every part is checked against its sha256."""
    # A safetensors file begins with a length, which may look like either; behind it comes its JSON.
    if raw[8:9] != b"{" and (raw[:2] == b"PK" or raw[:1] == b"\x80"):
        raise BundleError("this is a pickle or zip file, not a bundle; wavetell never unpickles a model")
    description = read_description(raw)
    try:
        tensors = parse_tensors(raw)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise BundleError(f"the tensors cannot be read ({error}); the file is truncated or damaged") from None
    parts = split_tensors(tensors, description["heads"])
    for part, arrays in parts.items():
        if digest(arrays) != description["sha256"].get(part):
            raise BundleError(f"part {part} does not match its sha256; the file was altered or damaged")
    try:
        shape = from_json(EncoderShape, description["encoder"], "encoder")
        encoder = PlainEncoder(shape, parts["encoder"])
        heads = {n: read_head(n, about, parts[f"heads/{n}"]) for n, about in description["heads"].items()}
        projection = Projection.from_arrays(parts["projection"]) if "projection" in parts else None
        bundle = Bundle(encoder, heads, from_json(Meta, description["meta"], "meta"), name, projection)
    except (ConfigError, InputError) as error:
        raise BundleError(f"the model does not fit together: {error}") from None
    for head in heads.values():
        if head.encoder_sha256 != description["sha256"]["encoder"]:
            raise BundleError(f"head {head.name} was fitted for another encoder")
    for head in heads.values():
        if head.mode == "live" and head.hop % encoder.shape.stride:
            raise BundleError(
                f"head {head.name} has hop {head.hop}; it must be a multiple of the encoder's stride, "
                f"{encoder.shape.stride}"
            )
        entries = bundle.entries if head.mode == "live" else encoder.shape.outputs + head.level
        if head.entries != entries:
            raise BundleError(
                f"head {head.name} takes embeddings of {head.entries} entries and this wavetell makes "
                f"{entries}; fit it again"
            )
    return bundle


def read_head(name: str, description: object, arrays: Arrays) -> Head:
    """The head of this name."""
    if not isinstance(description, dict):
        raise wrong(f"head {name}", description, "an object")
    head = Head.from_arrays(description, arrays)
    if head.name != name:
        raise InputError(f"head {name} calls itself {head.name}")
    return head


def read_description(raw: bytes) -> dict[str, Any]:
    """The checked JSON object of the file's header."""
    if len(raw) < 8:
        raise BundleError(f"the file has {len(raw)} bytes; it is truncated")
    length = int.from_bytes(raw[:8], "little")
    if length > MAX_BYTES:
        raise BundleError("this is not a wavetell bundle (no safetensors header)")
    if len(raw) < 8 + length:
        raise BundleError(f"the header has {length:,} bytes and the file ends before; it is truncated")
    try:
        description = json.loads(json.loads(raw[8 : 8 + length])["__metadata__"]["wavetell"])
        claimed = description.pop("description_sha256")
        version = description["format"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BundleError("this is not a wavetell bundle (its header has no wavetell description)") from None
    if version != FORMAT:
        raise BundleError(
            f"the bundle has format {version!r} and this wavetell reads format {FORMAT}; "
            "pretrain and fit the model again"
        )
    try:
        found = hashlib.sha256(canonical(description).encode()).hexdigest()
    except ValueError:
        raise BundleError("the description has a number that is not finite") from None
    if claimed != found:
        raise BundleError("the description does not match its sha256; the file was altered or damaged")
    if not all(isinstance(description.get(key), dict) for key in ("encoder", "heads", "meta", "sha256")):
        raise BundleError("the description lacks encoder, heads, meta or sha256")
    return dict(description)


def split_tensors(tensors: Arrays, heads: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The tensors of each part by their names within it; others are refused."""
    parts: dict[str, dict[str, Any]] = {"encoder": {}, **{f"heads/{name}": {} for name in heads}}
    for name, array in tensors.items():
        if array.dtype.kind == "f" and not float(np.abs(array).max(initial=0)) <= LARGEST:  # nor is NaN
            raise BundleError(f"tensor {name} has values that are not finite or beyond {LARGEST:g}")
        part, _, key = name.rpartition("/")
        if part == "projection":
            parts.setdefault(part, {})
        if part not in parts:
            raise BundleError(f"tensor {name} belongs to no part of the bundle")
        parts[part][key] = array
    return parts


def encoder_sha256(encoder: AnyEncoder) -> str:
    """The hash that ties a head to its encoder."""
    return digest(encoder.arrays())


def digest(arrays: Arrays) -> str:
    """sha256 over names, types, shapes and bytes, in order of name."""
    sha = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        sha.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()


def canonical(value: object) -> str:
    """JSON with one way to write it, so that it can be hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
