"""What a waterfall draws: power spectra and raw points of a stretch of samples, as one binary frame.

    offset  type       meaning
    0       4 bytes    "WTS1"
    4       uint16     bins
    6       uint16     points
    8       int64      index of the first sample
    16      int64      index of the sample after the last
    24      int64      UTC of the first sample, nanoseconds since 1970
    32      float64    sample rate, Hz
    40      float64    centre frequency, Hz (NaN where nobody said)
    48      float32    mean power, dB below full scale
    52      uint32     samples lost since the frame before
    56      bins x float32       power of each bin in dB, lowest frequency first; their mean is the mean power
    ...     points x 2 x float32 consecutive samples (I, Q) from the end, at unit power: constellation and eye

All little-endian. A reader that asks for boxes gets "WTS2", and behind the points

    ...     uint32     bytes of the text
    ...     text       JSON list of the emissions in the frame: emission, label, family, probability, snr_db,
                       lower_hz and upper_hz (as the emissions' route has them), start_sample, end_sample
    ...                zeros up to a multiple of eight bytes
"""

import json
import struct
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from service.live.emissions import EmissionRow
from streaming.block import Block, Samples
from streaming.ring import Ring

HEADER = struct.Struct("<4sHHqqqddfI")
MAGIC, WITH_BOXES = b"WTS1", b"WTS2"
LATELY_S = 1.5  # an emission may be on the air this long after its newest update
SEGMENTS = 64  # spectra averaged into one row at most, evenly spread over it
FLOOR = 1e-20


def frame(
    blocks: list[Block],
    bins: int,
    points: int,
    lost: int = 0,
    first: Block | None = None,
    emissions: Iterable[EmissionRow] | None = None,
) -> bytes:
    """The frame of these blocks, which hold at least one sample; it may begin earlier, at `first`.

    With `emissions` those of them that lie in the frame are its boxes.
    """
    samples = np.concatenate([block.samples for block in blocks])
    first = first or blocks[0]
    power = float(np.square(np.abs(samples)).mean())
    shown = samples[-points:] if points else samples[:0]
    level = float(np.square(np.abs(shown)).mean()) if len(shown) else 0.0
    header = HEADER.pack(
        MAGIC if emissions is None else WITH_BOXES,
        bins,
        len(shown),
        first.index,
        blocks[-1].end,
        first.utc_ns or 0,
        first.rate_hz,
        np.nan if first.freq_hz is None else first.freq_hz,
        10 * np.log10(power + FLOOR),
        min(lost, 2**32 - 1),
    )
    scaled = (shown / np.sqrt(level + FLOOR)).astype("<c8")
    made = bytes(header + psd_db(samples, bins).astype("<f4").tobytes() + scaled.tobytes())
    return made if emissions is None else made + boxes(emissions, first, blocks[-1])


def boxes(emissions: Iterable[EmissionRow], first: Block, last: Block) -> bytes:
    """The emissions that are heard between these blocks, as the end of a frame."""
    lately = LATELY_S * first.rate_hz
    shown = [
        {
            "emission": row.id,
            "label": row.label,
            "family": row.family,
            "probability": round(row.probability, 4),
            "snr_db": round(row.snr_db, 1),
            "lower_hz": round(row.lower_hz, 1),
            "upper_hz": round(row.upper_hz, 1),
            "start_sample": row.start_sample,
            "end_sample": row.end_sample,
        }
        for row in emissions
        if row.freq_hz == first.freq_hz
        and row.start_sample < last.end
        and row.end_sample + lately > first.index
    ]
    text = json.dumps(shown).encode()
    return struct.pack("<I", len(text)) + text + bytes(-(4 + len(text)) % 8)


def psd_db(samples: Samples, bins: int) -> NDArray[np.float64]:
    """The averaged spectrum in dB, (bins,), lowest frequency first."""
    whole = max(1, len(samples) // bins)
    chosen = np.linspace(0, whole - 1, min(whole, SEGMENTS)).round().astype(int)
    padded = np.pad(samples, (0, max(0, bins - len(samples))))[: whole * bins].reshape(whole, bins)[chosen]
    window = np.hanning(bins + 1)[:-1]
    spectra = np.square(np.abs(np.fft.fft(padded * window))).mean(0) / (np.square(window).sum())
    return np.asarray(10 * np.log10(np.fft.fftshift(spectra) + FLOOR))


def rows(
    ring: Ring,
    start: int,
    end: int,
    *,
    count: int,
    bins: int,
    points: int,
    emissions: list[EmissionRow] | None = None,
) -> list[bytes]:
    """A stretch of what is kept as so many frames, for scrolling back; what is not kept is left out."""
    edges = np.linspace(start, end, count + 1).round().astype(int).tolist()
    pieces = [ring.blocks(a, b) for a, b in pairwise(edges)]
    return [frame(blocks, bins, points, emissions=emissions) for blocks in pieces if blocks]
