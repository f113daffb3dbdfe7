"""What reading a radio costs: 2.4 MS/s from the replay radio, through each binding.

    .venv/bin/python -m benchmarks.speed.radio [SECONDS]

The time of the radio's own code (it counts the samples out) is in the figure.
"""

import sys
import time

from hardware import open_source
from streaming.errors import SourceError
from tests.replay_radio import load

RATE = 2.4e6


def measure(device: str, binding: str, seconds: float) -> str:
    """One line: share of a core, samples lost, events."""
    with open_source(f"soapy:driver=replay,{device}?rate={RATE:g}&binding={binding}") as source:
        blocks = source.blocks()
        next(blocks)
        began, cpu = time.monotonic(), time.process_time()
        while time.monotonic() - began < seconds:
            next(blocks)
        elapsed = time.monotonic() - began
        share = (time.process_time() - cpu) / elapsed
        counts = source.counts
    lost = sum(counts.lost.values()) + sum(counts.lost_estimated.values())
    return (
        f"{device:<20} {binding:<8} {counts.samples / elapsed / 1e6:6.3f} MS/s {100 * share:5.1f} % of a core"
        f"  lost {lost}  {dict(counts.events) or ''}"
    )


def main() -> None:
    """Measure every way."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    if not load():
        raise SystemExit("the replay radio needs g++ and libsoapysdr-dev")
    for device in ("tone=10000,time=1", "tone=10000", "tone=10000,short=500"):
        for binding in ("python", "ctypes"):
            try:
                print(measure(device, binding, seconds), flush=True)
            except SourceError as error:
                print(f"{binding}: {error}")


if __name__ == "__main__":
    main()
