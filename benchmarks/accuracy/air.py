"""What is found in real recordings of bursts, and in the noise before them.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.air ../shared/data/ota433 [BUNDLE] [--noise 600]

Where a burst begins is known from rtl_433 (`first_burst_s` of labels.csv): the front end finds it if a track
begins near. What a receiver recorded before it is noise: looped, for `--noise` seconds in all, the model may
report no emission in it; nor in simulated noise behind a receiver with DC, I/Q imbalance and 8 bits.
"""

import argparse
import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from hardware.samples import to_complex
from streaming.band.frontend import Band, BandSettings, Piece
from streaming.block import Block, Samples
from streaming.bundle import Bundle, load_bundle
from streaming.engine import Engine, open_engine
from streaming.pipeline import choose_head
from training.evaluation.exam.emissions import FoundEmission, emissions_of
from training.signals.classes import NOISE
from training.signals.conditions import Conditions
from training.signals.stream import Stream, in_turn

NEAR_S = 5e-3  # a burst is found if a track begins this near to where rtl_433 found it
GUARD_S = 0.05  # before a burst that is not counted as noise
SIMULATED_HZ = 250e3
CHUNK = 2**18


def beginnings(blocks: Iterable[Block]) -> list[float]:
    """Where the front end says that something begins, in samples."""
    band = Band(BandSettings())
    items = [item for block in blocks for item in band.push(block)] + band.flush()
    return [item.start for item in items if isinstance(item, Piece) and item.begins]


def looped(samples: Samples, rate_hz: float, seconds: float) -> list[Block]:
    """The samples again and again, at least once."""
    times = max(1, round(seconds * rate_hz / len(samples)))
    return [Block(samples, i * len(samples), rate_hz) for i in range(times)]


def simulated(seconds: float) -> Iterator[Block]:
    """Noise of a simulated receiver."""
    conditions, index = Conditions(), 0
    plan = in_turn([NOISE], round(seconds * SIMULATED_HZ), conditions, 1)
    stream = Stream(plan, conditions, 1, level=0.0)
    while len(samples := stream.next(CHUNK)):
        yield Block(samples, index, SIMULATED_HZ)
        index += len(samples)


def counted(emissions: list[FoundEmission]) -> str:
    """How many there are, and of which label."""
    labels = Counter(emission.label for emission in emissions)
    return ", ".join([f"{len(emissions)} emissions", *(f"{name} {n}" for name, n in labels.most_common())])


def recordings(folder: Path, bundle: Bundle, engine: Engine, seconds: float) -> None:
    """Print what was found in ota433."""
    with (folder / "labels.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["modulation"]]
    near, heard_s, reported = 0, 0.0, list[FoundEmission]()
    for row in rows:
        rate_hz, burst_s = float(row["sample_rate_hz"]), float(row["first_burst_s"])
        samples = to_complex((folder / row["file"]).read_bytes(), "cu8")
        found = np.array(beginnings([Block(samples, 0, rate_hz)])) / rate_hz
        near += bool(np.any(np.abs(found - burst_s) < NEAR_S))
        before = samples[: max(0, round((burst_s - GUARD_S) * rate_hz))]
        if len(before) and seconds:
            blocks = looped(before, rate_hz, seconds / len(rows))
            heard_s += blocks[-1].end / rate_hz
            reported += emissions_of(bundle, engine, blocks)
    print(f"first burst found within {NEAR_S * 1e3:g} ms: {near} of {len(rows)}")
    if seconds:
        print(f"noise before the first bursts, {heard_s:.0f} s: {counted(reported)}")


def main() -> None:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("bundle", nargs="?", default="radio")
    parser.add_argument("--noise", type=float, default=600.0, metavar="SECONDS")
    args = parser.parse_args()
    bundle = load_bundle(args.bundle)
    engine = open_engine(bundle.encoder, choose_head(bundle, "", "live").hop)
    recordings(args.folder, bundle, engine, args.noise)
    if args.noise:
        reported = emissions_of(bundle, engine, simulated(args.noise))
        print(f"simulated noise, {args.noise:g} s: {counted(reported)}")


if __name__ == "__main__":
    main()
