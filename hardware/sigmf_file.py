"""SigMF: recordings (a pair of files), archives (a tar with one pair) and lost samples (`core:global_index`).

Our recorder adds to a capture why samples before it were lost (`wavetell:gap_reason`, `wavetell:gap_exact`).
"""

import hashlib
import json
import logging
import re
import tarfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import sigmf

from hardware.recording import Capture, Recording, whole_samples
from hardware.samples import NAMES, sample_bytes
from streaming.errors import ConfigError, FormatError

log = logging.getLogger(__name__)

CHECKED_BYTES = 256 << 20  # a checksum over more would make the user wait


@dataclass(frozen=True)
class Dataset:
    """Metadata, and where their samples lie: in a file of their own or inside an archive."""

    path: Path  # what the user named
    metadata: sigmf.SigMFFile
    data: Path
    first_byte: int
    size: int


def read_sigmf(path: Path, datatype: str | None) -> Recording:
    """A recording by either file of its pair, or an archive."""
    found = find_dataset(path)
    if found.first_byte + found.size > found.data.stat().st_size:
        raise FormatError(f"{path} says {found.size} bytes of samples but is shorter; it was cut short")
    check_sum(found)
    said = found.metadata.get_global_field(sigmf.DATATYPE_KEY)
    if datatype is None and said not in NAMES:
        raise FormatError(f"{path} says core:datatype {said!r}; it must be cf32_le, ci16_le, ci8 or cu8")
    datatype = datatype or NAMES[said]
    channels = found.metadata.get_global_field(sigmf.NUM_CHANNELS_KEY, 1)
    if channels != 1:
        raise FormatError(f"{path} says core:num_channels {channels}; it must be 1")
    try:
        rate = found.metadata.get_global_field(sigmf.SAMPLE_RATE_KEY)
        rate_hz = None if rate is None else float(rate)
        captures = read_captures(found, datatype)
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise FormatError(f"{path} has metadata that cannot be read: {error}") from None
    if rate_hz is not None and not 0 < rate_hz < float("inf"):
        raise FormatError(f"{path} says core:sample_rate {rate_hz}; it must be above 0")
    return Recording(found.data, datatype, rate_hz, captures, "its metadata")


def find_dataset(path: Path) -> Dataset:
    """Metadata and samples by either file of a pair, or an archive."""
    archive = path.suffix.lower() == ".sigmf"
    meta = path if archive else path.with_suffix(".sigmf-meta")
    if not meta.is_file():
        raise ConfigError(f"there is no file {meta}")
    return find_in_archive(path) if archive else find_pair(meta)


def parse(path: Path, text: bytes) -> sigmf.SigMFFile:
    """The metadata, as the sigmf package holds it."""
    try:
        metadata = json.loads(text)
        if not isinstance(metadata["global"], dict) or not isinstance(metadata["captures"], list):
            raise TypeError("global or captures")
        return sigmf.SigMFFile(metadata=metadata)
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(
            f"{path} holds no SigMF metadata; it was cut short or is another file ({error})"
        ) from None


def find_pair(meta: Path) -> Dataset:
    """The samples that belong to a metadata file."""
    metadata = parse(meta, meta.read_bytes())
    name = metadata.get_global_field(sigmf.DATASET_KEY, meta.with_suffix(".sigmf-data").name)
    if not isinstance(name, str) or Path(name).name != name:
        raise FormatError(f"{meta} says core:dataset {name!r}; it must be a file beside it")
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
            text = handle.read() if handle else b""
            samples = archive.getmember(metas[0].name.removesuffix("meta") + "data")
            return Dataset(path, parse(path, text), path, samples.offset_data, samples.size)
    except (tarfile.TarError, KeyError) as error:
        raise FormatError(f"{path} is not a complete SigMF archive (an uncompressed tar): {error}") from None


def read_captures(found: Dataset, datatype: str) -> list[Capture]:
    """The capture segments, with their place in the file and in the stream."""
    infos = found.metadata.get_captures() or [{}]
    headers = [int(info.get(sigmf.HEADER_BYTES_KEY, 0)) for info in infos]
    trailing = int(found.metadata.get_global_field(sigmf.TRAILING_BYTES_KEY, 0))
    total = whole_samples(found.data, found.size - sum(headers) - trailing, datatype)
    starts = [int(info.get(sigmf.SAMPLE_START_KEY, 0)) for info in infos]
    notes = found.metadata.get_annotations()
    ends = [int(note[sigmf.SAMPLE_START_KEY]) + int(note.get(sigmf.SAMPLE_COUNT_KEY, 0)) for note in notes]
    if starts != sorted(starts) or starts[0] < 0:
        raise ValueError("core:sample_start of the captures does not rise")
    if starts[-1] >= total or max(ends, default=0) > total:
        raise ValueError(f"it goes up to sample {max(starts[-1], *ends, 0)}, {found.data} only to {total}")
    captures: list[Capture] = []
    # Samples before the first capture are not described: they are skipped.
    position = found.first_byte + starts[0] * sample_bytes(datatype)
    base = int(infos[0].get(sigmf.GLOBAL_INDEX_KEY, 0))
    for info, header, start, end in zip(infos, headers, starts, [*starts[1:], total], strict=True):
        position += header
        expected = captures[-1].index + captures[-1].samples if captures else 0
        index = int(info.get(sigmf.GLOBAL_INDEX_KEY, expected + base)) - base
        if index < expected:
            raise ValueError(f"core:global_index runs backwards at sample {start}")
        captures.append(read_capture(info, position, end - start, index))
        position += (end - start) * sample_bytes(datatype)
    return [capture for capture in captures if capture.samples]


def read_capture(info: dict[str, Any], first_byte: int, samples: int, index: int) -> Capture:
    """One capture segment."""
    freq, moment = info.get(sigmf.FREQUENCY_KEY), info.get(sigmf.DATETIME_KEY)
    return Capture(
        first_byte,
        samples,
        index,
        None if freq is None else float(freq),
        None if moment is None else parse_utc(moment),
        str(info.get("wavetell:gap_reason", "recording gap")),
        bool(info.get("wavetell:gap_exact", True)),
    )


def parse_utc(text: str) -> int:
    """RFC 3339 in UTC as nanoseconds since 1970; `datetime` knows only microseconds."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?Z", text)
    if not match:
        raise ValueError(f"core:datetime is {text!r}; it must be such as 2024-01-31T18:45:00.5Z")
    seconds = int(datetime.fromisoformat(match[1] + "+00:00").timestamp())
    return seconds * 10**9 + int((match[2] or "0")[:9].ljust(9, "0"))


def check_sum(found: Dataset) -> None:
    """Compare the samples with core:sha512, where there is one."""
    said = found.metadata.get_global_field(sigmf.SHA512_KEY)
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
