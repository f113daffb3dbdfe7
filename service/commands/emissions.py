"""List every emission in a source's band: when, where and how strong, without naming it.

A line per emission: its number, when it was heard, its centre and bandwidth, its SNR and how many bursts it
had. Bursts at one place are one emission; a steady carrier is listed, too. `listen` and `predict` name them,
which takes a model.

examples:
  wavetell emissions capture_433.92M_2400k.cu8
  wavetell emissions 'rtltcp:127.0.0.1:1234?freq=868.3M&rate=2.4M' --seconds 10 --json
"""

import argparse
import json
import sys
from dataclasses import dataclass

from hardware import open_source
from hardware.address import source_address
from streaming.band.box import Box
from streaming.band.frontend import Band, BandSettings, Item, Piece
from streaming.block import check_samples
from streaming.errors import ConfigError


@dataclass
class Emission:
    """What was found of one emitter; times in seconds of the source."""

    number: int
    begin_s: float
    end_s: float
    box: Box  # in hertz from the source's centre
    bursts: int = 0
    longest_s: float = 0.0  # the burst that the box is of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("source", metavar="SOURCE", help="a recording, or where the samples come from")
    parser.add_argument("--seconds", type=float, help="stop after this much of the stream")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")


def run(args: argparse.Namespace) -> None:
    """Find them, then print them in the order in which they began."""
    if args.seconds is not None and args.seconds <= 0:
        raise ConfigError(f"--seconds is {args.seconds:g}; it must be above 0")
    band, freq_hz = Band(BandSettings()), None
    items: list[Item] = []
    with open_source(source_address(args.source)) as source:
        if source.inferred:
            print(f"wavetell: {source.inferred}", file=sys.stderr)
        for block in source.blocks():
            check_samples(block.samples)
            freq_hz = block.freq_hz
            items += band.push(block)
            if args.seconds and block.end >= args.seconds * block.rate_hz:
                break
        rate_hz = source.rate_hz
    items += band.flush()
    found = sorted(
        emissions([item for item in items if isinstance(item, Piece)], rate_hz), key=lambda e: e.begin_s
    )
    for emission in found:
        print(json.dumps(as_json(emission, freq_hz)) if args.json else as_text(emission, freq_hz))
    if not args.json:
        print(f"{len(found)} emissions")


def emissions(pieces: list[Piece], rate_hz: float) -> list[Emission]:
    """The emissions that pieces of tracks are of."""
    found: dict[int, Emission] = {}
    begun: dict[int, float] = {}  # by track
    for piece in pieces:
        start_s = piece.start / rate_hz
        end_s = (piece.start + len(piece.samples) * piece.step) / rate_hz
        if piece.begins:
            begun[piece.track] = start_s
        one = found.setdefault(piece.emission, Emission(piece.emission, start_s, end_s, piece.box))
        one.begin_s, one.end_s = min(one.begin_s, start_s), max(one.end_s, end_s)
        one.bursts += piece.ends
        if end_s - begun[piece.track] >= one.longest_s:
            one.longest_s, one.box = end_s - begun[piece.track], piece.box
    return list(found.values())


def as_json(emission: Emission, freq_hz: float | None) -> dict[str, object]:
    """One object; frequencies are absolute where the source's is known."""
    centre_hz = emission.box.centre + (freq_hz or 0.0)
    return {
        "emission": emission.number,
        "begin_s": round(emission.begin_s, 6),
        "end_s": round(emission.end_s, 6),
        "bursts": emission.bursts,
        "centre_hz": round(centre_hz, 1),
        "bandwidth_hz": round(emission.box.width, 1),
        "snr_db": round(emission.box.snr_db, 1),
    }


def as_text(emission: Emission, freq_hz: float | None) -> str:
    """One line of the table."""
    place = emission.box.centre if freq_hz is None else emission.box.centre + freq_hz
    centre = f"{place:>+15,.0f} Hz" if freq_hz is None else f"{place / 1e6:>14,.4f} MHz"
    return (
        f"{emission.number:>5}  {emission.begin_s:>9.3f} to {emission.end_s:<9.3f} s {centre} "
        f"{emission.box.width:>12,.0f} Hz wide {emission.box.snr_db:>6.1f} dB {emission.bursts:>5} bursts"
    )
