"""Lines for people: a table of emissions, and colours where a terminal shows them."""

import os
from typing import TextIO

from service.schemas.answers import Answer
from service.schemas.emissions import EmissionState

HEADING = (
    f"{'seconds':>10} to {'':<10}    {'':<6} {'':<5} {'centre':>15} {'bandwidth':>13}      "
    f"{'SNR':>8}  {'':>4}         answer"
)
COLOURS = {"new": "\033[1;32m", "end": "\033[2m"}  # bold green, dim
PLAIN = "\033[0m"


def colours(file: TextIO) -> bool:
    """Whether colours may be written: to a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return file.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def emission_line(emission: EmissionState, coloured: bool = False) -> str:
    """One emission."""
    e = emission
    centre = f"{e.centre_hz / 1e6:,.4f} MHz" if e.freq_hz else f"{e.centre_hz / 1e3:+,.1f} kHz"
    nearest = ", ".join(f"{name} {value:.0%}" for name, value in e.nearest.items())
    label = f"{e.label} {e.probability:.0%}" if not nearest else f"{e.label} (nearest: {nearest})"
    line = (
        f"{e.begin:>10.3f} to {e.end:<10.3f} s  {e.state:<6} #{e.emission:<4} {centre:>15} "
        f"{e.bandwidth_hz / 1e3:>9,.1f} kHz wide {e.snr_db:>5.1f} dB  {e.bursts:>4} bursts  {label}"
    )
    colour = COLOURS.get(e.state) if coloured else None
    return f"{colour}{line}{PLAIN}" if colour else line


def answer_line(answer: Answer) -> str:
    """An answer of a model that takes the stream as one signal."""
    likeliest = sorted(answer.probabilities.items(), key=lambda item: -item[1])[:3]
    others = ", ".join(f"{name} {value:.0%}" for name, value in likeliest)
    return f"{answer.start:>12,} to {answer.end:<12,}  {answer.label:<12} {others}"
