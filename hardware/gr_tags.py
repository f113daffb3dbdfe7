"""GNU Radio's framing of tagged streams over ZMQ: a header before the samples, with tags as PMTs.

    <HBQQ   magic 0x5FF0, version 1, offset of the first sample in the sender's stream, number of tags
    <Q      for each tag: its offset, then key, value and source as big-endian PMTs

>>> parse_header(write_header(7, [Tag(7, "rx_rate", 250e3)]))
Header(offset=7, tags=[Tag(offset=7, key='rx_rate', value=250000.0)], size=47)
"""

import struct
from dataclasses import dataclass

from streaming.errors import FormatError

MAGIC, VERSION = 0x5FF0, 1
HEADER = struct.Struct("<HBQQ")
# PMT type -> how its big-endian number is packed
NUMBERS = {0x03: ">i", 0x04: ">d", 0x05: ">dd", 0x0B: ">Q", 0x0D: ">q"}
CONSTANTS: dict[int, "Pmt"] = {0x00: True, 0x01: False, 0x06: None}
SYMBOL, PAIR, VECTOR, DICT, UNIFORM, TUPLE = 0x02, 0x07, 0x08, 0x09, 0x0A, 0x0C
UNIFORM_BYTES = (1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16)
MAX_DEPTH = 16  # of nested PMTs; a malicious message must not exhaust the stack

Pmt = bool | int | float | complex | str | bytes | tuple["Pmt", ...] | None


@dataclass(frozen=True)
class Tag:
    """A tag at a sample of the sender's stream."""

    offset: int
    key: str
    value: Pmt


@dataclass(frozen=True)
class Header:
    """What stands before the samples of a message."""

    offset: int
    tags: list[Tag]
    size: int  # bytes


def parse_header(message: bytes | memoryview) -> Header | None:
    """The header of a message, or None where it begins with samples."""
    message = memoryview(message)
    if len(message) < HEADER.size:
        return None
    magic, version, offset, count = HEADER.unpack_from(message)
    # Samples that look like a header by chance, one message in 16 million, do not parse as one below.
    if magic != MAGIC or version != VERSION:
        return None
    position = HEADER.size
    tags = []
    try:
        if count > len(message):
            raise FormatError(f"{count} tags in a message of {len(message)} bytes")
        for _ in range(count):
            (tag_offset,) = struct.unpack_from("<Q", message, position)
            key, position = read_pmt(message, position + 8)
            value, position = read_pmt(message, position)
            _, position = read_pmt(message, position)
            tags.append(Tag(tag_offset, str(key), value))
    except (struct.error, IndexError, UnicodeDecodeError, FormatError) as error:
        if len(message) % 8 == 0:
            return None
        raise FormatError(f"a GNU Radio header whose tags cannot be read: {error}") from None
    return Header(offset, tags, position)


def read_pmt(data: memoryview, position: int, depth: int = 0) -> tuple[Pmt, int]:
    """A PMT and the position after it."""
    if depth > MAX_DEPTH:
        raise FormatError(f"PMTs nested deeper than {MAX_DEPTH}")
    kind = data[position]
    position += 1
    if kind in CONSTANTS:
        return CONSTANTS[kind], position
    if kind in NUMBERS:
        parts = struct.unpack_from(NUMBERS[kind], data, position)
        return complex(*parts) if len(parts) == 2 else parts[0], position + struct.calcsize(NUMBERS[kind])
    if kind == SYMBOL:
        (length,) = struct.unpack_from(">H", data, position)
        return bytes(take(data, position + 2, length)).decode(), position + 2 + length
    if kind == UNIFORM:
        item, count, padding = struct.unpack_from(">BIB", data, position)
        start, length = position + 6 + padding, UNIFORM_BYTES[item] * count
        return bytes(take(data, start, length)), start + length
    if kind in (PAIR, DICT):
        count = 2
    elif kind in (VECTOR, TUPLE):
        (count,) = struct.unpack_from(">I", data, position)
        position += 4
    else:
        raise FormatError(f"PMT type {kind:#04x} is not known")
    items = []
    for _ in range(count):
        item_value, position = read_pmt(data, position, depth + 1)
        items.append(item_value)
    return tuple(items), position


def take(data: memoryview, position: int, length: int) -> memoryview:
    """Bytes that must be there; a slice would silently be shorter."""
    if position + length > len(data):
        raise IndexError("it ends in the middle of a tag")
    return data[position : position + length]


def write_header(offset: int, tags: list[Tag]) -> bytes:
    """The header for samples that begin at `offset`."""
    parts = [HEADER.pack(MAGIC, VERSION, offset, len(tags))]
    for tag in tags:
        # The source of a tag is #f where it is not given, as in GNU Radio.
        parts += [struct.pack("<Q", tag.offset), write_pmt(tag.key), write_pmt(tag.value), write_pmt(False)]
    return b"".join(parts)


def write_pmt(value: Pmt) -> bytes:
    """A PMT: symbols, doubles, unsigned integers, booleans, tuples of them."""
    if value is None:
        return b"\x06"
    if isinstance(value, bool):
        return b"\x00" if value else b"\x01"
    if isinstance(value, int):
        return struct.pack(">BQ", 0x0B, value)
    if isinstance(value, float):
        return struct.pack(">Bd", 0x04, value)
    if isinstance(value, str):
        text = value.encode()
        return struct.pack(">BH", SYMBOL, len(text)) + text
    if isinstance(value, tuple):
        return struct.pack(">BI", TUPLE, len(value)) + b"".join(map(write_pmt, value))
    raise FormatError(f"a tag cannot carry {value!r}")
