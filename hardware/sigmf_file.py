"""SigMF: recordings (a pair of files), archives (a tar with one pair) and lost samples (`core:global_index`).

Our recorder adds to a capture why samples before it were lost (`wavetell:gap_reason`, `wavetell:gap_exact`).
"""

import hashlib
import logging
import re
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import sigmf

from hardware.recording import Capture, Recording, whole_samples
from hardware.samples import NAMES, sample_bytes
from streaming.checked import Range, check, parse_json, shown
from streaming.errors import ConfigError, FormatError
from streaming.quantities import FREQ_HZ, INDEX, RATE_HZ, UTC_NS, in_range

log = logging.getLogger(__name__)

CHECKED_BYTES = 256 << 20  # a checksum over more would make the user wait
META_BYTES = 64 << 20  # of metadata
Place = Annotated[int, INDEX]
Info = Mapping[str, Any]  # one object of the metadata


@dataclass(frozen=True)
class Metadata:
    """The parts of a metadata object; what is in them is not checked yet."""

    info: Info
    captures: list[Info]
    annotations: list[Info]


@dataclass(frozen=True)
class Dataset:
    """Metadata, and where their samples lie: in a file of their own or inside an archive."""

    path: Path  # what the user named
    metadata: Metadata
    data: Path
    first_byte: int
    size: int


def read_sigmf(path: Path, datatype: str | None) -> Recording:
    """A recording by either file of its pair, or an archive."""
    found = find_dataset(path)
    if found.first_byte + found.size > found.data.stat().st_size:
        raise FormatError(f"{path} says {found.size} bytes of samples but is shorter; it was cut short")
    check_sum(found)
    info = found.metadata.info
    said = info.get(sigmf.DATATYPE_KEY)
    if datatype is None and (not isinstance(said, str) or said not in NAMES):
        raise FormatError(f"{path} says core:datatype {shown(said)}; it must be cf32_le, ci16_le, ci8 or cu8")
    datatype = datatype or NAMES[str(said)]
    channels = info.get(sigmf.NUM_CHANNELS_KEY, 1)
    if channels != 1:
        raise FormatError(f"{path} says core:num_channels {shown(channels)}; it must be 1")
    try:
        rate_hz = number(info, sigmf.SAMPLE_RATE_KEY, RATE_HZ)
        captures = read_captures(found, datatype)
    except ConfigError as error:
        raise FormatError(f"{path} has metadata that cannot be used: {error}") from None
    return Recording(found.data, datatype, rate_hz, captures, "its metadata")


def number(info: Info, key: str, limits: Range) -> float | None:
    """A number of the metadata, None where it is not given."""
    value: float | None = check(Annotated[float, limits] | None, info.get(key), key)
    return value


def place(info: Info, key: str, default: int = 0) -> int:
    """A whole number of the metadata; JSON does not tell 1 from 1.0."""
    value = info.get(key, default)
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    found: int = check(Place, whole, key)
    return found


def find_dataset(path: Path) -> Dataset:
    """Metadata and samples by either file of a pair, or an archive."""
    archive = path.suffix.lower() == ".sigmf"
    meta = path if archive else path.with_suffix(".sigmf-meta")
    if not meta.is_file():
        raise ConfigError(f"there is no file {meta}")
    return find_in_archive(path) if archive else find_pair(meta)


def parse(path: Path, text: bytes) -> Metadata:
    """The parts of the metadata."""
    if len(text) > META_BYTES:
        raise FormatError(f"{path} has {len(text):,} bytes of metadata; at most {META_BYTES:,} are read")
    try:
        content = parse_json(text, "it")
    except ConfigError as error:
        raise FormatError(f"{path} holds no SigMF metadata: {error}") from None
    try:
        parts = content["global"], content["captures"], content.get("annotations", [])
        if not isinstance(parts[0], dict) or not all(objects(part) for part in parts[1:]):
            raise TypeError
    except (KeyError, TypeError):
        raise FormatError(
            f"{path} holds no SigMF metadata; it must have an object global, and lists of objects "
            "captures and annotations"
        ) from None
    return Metadata(*parts)


def objects(value: object) -> bool:
    """Whether it is a list of JSON objects."""
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def find_pair(meta: Path) -> Dataset:
    """The samples that belong to a metadata file."""
    metadata = parse(meta, meta.read_bytes())
    name = metadata.info.get(sigmf.DATASET_KEY, meta.with_suffix(".sigmf-data").name)
    if not isinstance(name, str) or not name or not name.isprintable() or Path(name).name != name:
        raise FormatError(f"{meta} says core:dataset {shown(name)}; it must be a file beside it")
    data = meta.with_name(name)
    if not data.is_file():
        raise FormatError(f"{meta} has no samples: there is no file {data}")
    return Dataset(meta, metadata, data, 0, data.stat().st_size)


def find_in_archive(path: Path) -> Dataset:
    """Where the samples lie in the archive, so that nothing has to be unpacked."""
    try:
        with tarfile.open(path, "r:") as archive:
            metas = [member for member in archive if member.name.endswith(".sigmf-meta")]
            if len(metas) != 1:
                raise FormatError(f"{path} holds {len(metas)} recordings; it must be 1")
            handle = archive.extractfile(metas[0])
            text = handle.read(META_BYTES + 1) if handle else b""
            samples = archive.getmember(metas[0].name.removesuffix("meta") + "data")
            if not samples.isreg() or samples.issparse():
                raise FormatError(f"{path} does not hold its samples as a plain file")
            return Dataset(path, parse(path, text), path, samples.offset_data, samples.size)
    except (tarfile.TarError, KeyError) as error:
        raise FormatError(f"{path} is not a complete SigMF archive (an uncompressed tar): {error}") from None


def read_captures(found: Dataset, datatype: str) -> list[Capture]:
    """The capture segments, with their place in the file and in the stream."""
    infos = found.metadata.captures or [{}]
    headers = [place(info, sigmf.HEADER_BYTES_KEY) for info in infos]
    trailing = place(found.metadata.info, sigmf.TRAILING_BYTES_KEY)
    total = whole_samples(found.data, found.size - sum(headers) - trailing, datatype)
    starts = [place(info, sigmf.SAMPLE_START_KEY) for info in infos]
    notes = [annotation_span(note) for note in found.metadata.annotations]
    if starts != sorted(starts):
        raise ConfigError("core:sample_start of the captures does not rise")
    last = max([starts[-1], *(begin for begin, _ in notes)])
    if last >= total:
        raise ConfigError(f"it goes up to sample {last}, {found.data} only to {total}")
    if any(end > total for _, end in notes):
        log.warning("%s ends before its last annotation does", found.data)
    captures: list[Capture] = []
    # Samples before the first capture are not described: they are skipped.
    position = found.first_byte + starts[0] * sample_bytes(datatype)
    base = place(infos[0], sigmf.GLOBAL_INDEX_KEY)
    for info, header, start, end in zip(infos, headers, starts, [*starts[1:], total], strict=True):
        position += header
        expected = captures[-1].index + captures[-1].samples if captures else 0
        index = place(info, sigmf.GLOBAL_INDEX_KEY, expected + base) - base
        if index < expected:
            raise ConfigError(f"core:global_index runs backwards at sample {start}")
        captures.append(read_capture(info, position, end - start, index))
        position += (end - start) * sample_bytes(datatype)
    return [capture for capture in captures if capture.samples]


def annotation_span(note: Info) -> tuple[int, int]:
    """The first sample that an annotation is of, and the one after the last."""
    if sigmf.SAMPLE_START_KEY not in note:
        raise ConfigError("an annotation lacks core:sample_start")
    begin = place(note, sigmf.SAMPLE_START_KEY)
    return begin, begin + place(note, sigmf.SAMPLE_COUNT_KEY)


def read_capture(info: Info, first_byte: int, samples: int, index: int) -> Capture:
    """One capture segment."""
    moment = info.get(sigmf.DATETIME_KEY)
    return Capture(
        first_byte,
        samples,
        index,
        number(info, sigmf.FREQUENCY_KEY, FREQ_HZ),
        None if moment is None else parse_utc(moment),
        check(str, info.get("wavetell:gap_reason", "recording gap"), "wavetell:gap_reason"),
        bool(info.get("wavetell:gap_exact", True)),
    )


def parse_utc(text: object) -> int:
    """RFC 3339 in UTC as nanoseconds since 1970; `datetime` knows only microseconds."""
    match = isinstance(text, str) and re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?Z", text)
    try:
        seconds = int(datetime.fromisoformat(match[1] + "+00:00").timestamp()) if match else -1
    except ValueError:
        seconds = -1
    if not match or not in_range(seconds * 10**9, UTC_NS):
        raise ConfigError(
            f"core:datetime is {shown(text)}; it must be such as 2024-01-31T18:45:00.5Z, from 1970 to 2116"
        )
    return seconds * 10**9 + int((match[2] or "0")[:9].ljust(9, "0"))


def check_sum(found: Dataset) -> None:
    """Compare the samples with core:sha512, where there is one."""
    said = found.metadata.info.get(sigmf.SHA512_KEY)
    if said is None:
        return
    if found.size > CHECKED_BYTES:
        log.info("%s: %d MB are not checked against core:sha512", found.path, found.size >> 20)
        return
    digest = hashlib.sha512()
    with found.data.open("rb") as file:
        file.seek(found.first_byte)
        left = found.size
        while left and (chunk := file.read(min(left, 1 << 20))):
            digest.update(chunk)
            left -= len(chunk)
    if digest.hexdigest() != said:
        raise FormatError(f"{found.path} and its samples differ in core:sha512; one was cut short or changed")
