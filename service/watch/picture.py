"""A spectrogram as a PNG file (ISO 15948): frequency to the right, time downwards, the emission outlined."""

import struct
import zlib
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from service.live.spectrum import psd_db
from streaming.block import Block

SIZE = (320, 160)  # pixels, width and height
MOST_BINS = 1 << 15
RANGE_DB = 40.0  # above the floor, from the darkest to the lightest
# The colours of the waterfall (service/dashboard/colours.js), which grow evenly in lightness.
STOPS = ("04070d", "0b1d3a", "143c6e", "2d6a9f", "56b4e9", "bfe3c0", "f6e58d", "fffbe6")
OUTLINE = 255  # the last entry of the palette is white


def spectrogram(
    blocks: list[Block],
    shown_hz: tuple[float, float],
    box: tuple[float, ...] = (),
    size: tuple[int, int] = SIZE,
) -> bytes:
    """A part of the band over time.

    Parameters
    ----------
    blocks
        What was heard, at least one sample; all of one rate.
    shown_hz
        Lower and upper edge of what is shown, in hertz from the source's centre.
    box
        First and last sample, lower and upper edge of the outline, in hertz from the centre; or nothing.
    size
        Width and height in pixels.
    """
    rate_hz, (low, high), (width, height) = blocks[0].rate_hz, shown_hz, size
    bins = min(MOST_BINS, max(16, 2 ** int(np.ceil(np.log2(width * rate_hz / (high - low))))))
    columns = (np.linspace(low, high, width, endpoint=False) / rate_hz + 0.5) * bins
    at = np.clip(columns.astype(int), 0, bins - 1)
    samples, first = np.concatenate([block.samples for block in blocks]), blocks[0].index
    edges = np.linspace(0, len(samples), height + 1).astype(int)
    rows = [psd_db(samples[a : max(b, a + 1)], bins)[at] for a, b in pairwise(edges)]
    power = np.array(rows)  # (height, width) in dB
    floor = np.median(power)
    pixels = np.clip((power - floor + 3) / RANGE_DB * (OUTLINE - 1), 0, OUTLINE - 1).astype(np.uint8)
    if box:
        start, end, lower, upper = box
        left, right = ((np.array([lower, upper]) - low) / (high - low) * width).astype(int)
        top, bottom = ((np.array([start, end]) - first) / len(samples) * height).astype(int)
        outline(pixels, (int(top), int(bottom)), (int(left) - 1, int(right) + 1))
    return png(pixels)


def outline(pixels: NDArray[np.uint8], rows: tuple[int, int], columns: tuple[int, int]) -> None:
    """Draw the edges of a box, as far as they lie in the picture."""
    height, width = pixels.shape
    top, bottom = (max(0, min(height - 1, row)) for row in rows)
    left, right = (max(0, min(width - 1, column)) for column in columns)
    pixels[top : bottom + 1, [left, right]] = OUTLINE
    pixels[[top, bottom], left : right + 1] = OUTLINE


def palette() -> bytes:
    """Red, green and blue of the 256 values of a pixel."""
    stops = np.array([[int(stop[i : i + 2], 16) for i in (0, 2, 4)] for stop in STOPS])
    place = np.linspace(0, len(stops) - 1, OUTLINE)
    ramp = np.stack([np.interp(place, range(len(stops)), stops[:, colour]) for colour in range(3)], 1)
    return bytes(ramp.round().astype(np.uint8).tobytes() + b"\xff\xff\xff")


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Pixels (height, width) of the palette as a file."""
    height, width = pixels.shape
    lines = np.hstack([np.zeros((height, 1), np.uint8), pixels]).tobytes()  # each without a filter
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content) & 0xFFFFFFFF)
        for kind, content in (
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            (b"PLTE", palette()),
            (b"IDAT", zlib.compress(lines)),
            (b"IEND", b""),
        )
    )
