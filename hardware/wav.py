"""WAV recordings: two channels, I and Q, of 16 bit or float.

SDR# and HDSDR add a chunk `auxi` with the frequency; SDR++ and gqrx write it into the name.
"""

import struct
from pathlib import Path
from typing import BinaryIO

from hardware.file_name import read_name
from hardware.recording import Capture, Recording, whole_samples
from streaming.errors import FormatError
from streaming.quantities import RATE_HZ, in_range

PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE
DATATYPES = {(PCM, 16): "ci16_le", (FLOAT, 32): "cf32_le"}
CHUNKS = 1000  # that are looked at
UNKNOWN_SIZE = (0, 0xFFFFFFFF)  # a writer that was killed, or more than 4 GB (RF64)


def read_wav(path: Path, datatype: str | None) -> Recording:
    """A WAV file."""
    with path.open("rb") as file:
        size = path.stat().st_size
        if file.read(4) not in (b"RIFF", b"RF64") or file.read(8)[4:] != b"WAVE":
            raise FormatError(f"{path} is not a WAV file: it does not begin with RIFF and WAVE")
        chunks = find_chunks(file, size)
        if b"fmt " not in chunks or b"data" not in chunks:
            raise FormatError(f"{path} is a WAV file without a fmt or data chunk; it was cut short")
        found, rate_hz = read_format(path, read_chunk(file, chunks[b"fmt "]))
        freq_hz = None
        if b"auxi" in chunks and chunks[b"auxi"][1] >= 36:
            # Start and stop time of 16 bytes each, then the centre frequency in Hz.
            freq_hz = float(struct.unpack_from("<I", read_chunk(file, chunks[b"auxi"]), 32)[0]) or None
    datatype = datatype or found
    first_byte, length = chunks[b"data"]
    if length in UNKNOWN_SIZE:
        length = size - first_byte
    if first_byte + length > size:
        raise FormatError(
            f"{path} says {length} bytes of samples but has {size - first_byte}; it was cut short"
        )
    facts = read_name(path.name)
    capture = Capture(
        first_byte,
        whole_samples(path, length, datatype),
        freq_hz=freq_hz or facts.freq_hz,
        utc_ns=facts.utc_ns,
    )
    return Recording(path, datatype, rate_hz, [capture], "its header and name")


def find_chunks(file: BinaryIO, size: int) -> dict[bytes, tuple[int, int]]:
    """First byte and length of every chunk."""
    chunks: dict[bytes, tuple[int, int]] = {}
    position = 12
    while position + 8 <= size and len(chunks) < CHUNKS:
        file.seek(position)
        name, length = struct.unpack("<4sI", file.read(8))
        chunks.setdefault(name, (position + 8, length))
        if name == b"data" and length in UNKNOWN_SIZE:
            break
        position += 8 + length + length % 2
    return chunks


def read_chunk(file: BinaryIO, chunk: tuple[int, int]) -> bytes:
    """The bytes of one small chunk."""
    file.seek(chunk[0])
    return file.read(min(chunk[1], 4096))


def read_format(path: Path, chunk: bytes) -> tuple[str, float]:
    """Datatype and rate."""
    if len(chunk) < 16:
        raise FormatError(f"{path} has a fmt chunk of {len(chunk)} bytes; it was cut short")
    tag, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunk)
    if tag == EXTENSIBLE and len(chunk) >= 26:
        (tag,) = struct.unpack_from("<H", chunk, 24)
    if channels != 2:
        raise FormatError(f"{path} has {channels} channel{'s' * (channels != 1)}; I and Q take 2")
    if (tag, bits) not in DATATYPES:
        raise FormatError(
            f"{path} has samples of {bits} bit, format {tag}; it must be 16 bit PCM or 32 bit float"
        )
    if not in_range(rate, RATE_HZ):
        raise FormatError(f"{path} has a rate of {rate} in its header; it must be {RATE_HZ}")
    return DATATYPES[tag, bits], float(rate)
