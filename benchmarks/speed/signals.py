"""The signal generators' speed, and how well the front end's boxes fit what they make.

OMP_NUM_THREADS=1 python -m benchmarks.speed.signals speed
OMP_NUM_THREADS=1 python -m benchmarks.speed.signals estimates --snr 10
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from streaming.band.frontend import Band, BandSettings, Piece
from streaming.block import Block
from training.signals.classes import CLASSES, NOISE
from training.signals.conditions import Conditions
from training.signals.emission import REFERENCE, Emission
from training.signals.stream import Stream, at_random, in_turn
from training.signals.stretches import make_stretches

RATE_HZ = 250e3
SEEDS = 20


def rate(make: Callable[[], object], samples: int) -> float:
    """Million samples per second of CPU time."""
    began = time.process_time()
    make()
    return samples / 1e6 / (time.process_time() - began)


def speed() -> None:
    """Print how fast each class, a stream and a batch are made."""
    conditions = Conditions()
    for name in CLASSES:
        emission = Emission(name, conditions, np.random.default_rng(1))
        print(f"{name:<16}{rate(lambda e=emission: e.next(1_000_000), 1_000_000):8.1f} MS/s")  # type: ignore[misc]
    stream = Stream(at_random(CLASSES, (5_000, 100_000), conditions, 1), conditions, 1)
    print(f"{'stream of all':<16}{rate(lambda: stream.next(8_000_000), 8_000_000):8.1f} MS/s")
    counts = [20] * len(CLASSES)
    batch = rate(
        lambda: make_stretches(CLASSES, counts, samples=1024, past=8188, conditions=conditions, seed=1),
        sum(counts) * 9212,
    )
    print(f"{'stretches':<16}{batch:8.1f} MS/s, {batch * 1e6 / 9212:.0f} a second of 8,188 + 1,024 samples")


def estimates(snr_db: float) -> None:
    """Print boxes over truths for each class: found, SNR in dB, bandwidth, centre in bandwidths."""
    conditions = replace(Conditions(), snr_db=(snr_db, snr_db), multipath=0.0)
    print(f"{f'SNR {snr_db:g} dB':<12}{'found':>8}{'SNR':>8}{'bandwidth':>11}{'5..95 %':>14}{'centre':>8}")
    for name in CLASSES:
        if name == NOISE:
            continue
        rows = [row for seed in range(SEEDS) if (row := estimated(name, conditions, seed)) is not None]
        if not rows:
            print(f"{name:<12}{0:>6} %")
            continue
        snr, width, centre = np.array(rows).T
        low, high = np.quantile(width, [0.05, 0.95])
        print(
            f"{name:<12}{100 * len(rows) / SEEDS:>6.0f} %{np.median(snr):>+8.1f}{np.median(width):>11.2f}"
            f"{low:>8.2f}..{high:.2f}{np.quantile(np.abs(centre), 0.9):>8.2f}"
        )


def estimated(name: str, conditions: Conditions, seed: int) -> tuple[float, float, float] | None:
    """A quarter of a second of noise, then the signal: the last box, against the truth."""
    stream = Stream(in_turn([NOISE, name], 62_500, conditions, seed), conditions, seed)
    out = Band(BandSettings()).push(Block(stream.next(125_000), 0, RATE_HZ))
    found = [item.box for item in out if isinstance(item, Piece) and item.start > 60_000]
    truth = stream.labels[1]
    if not found:
        return None
    band, last = max(truth.bandwidth, REFERENCE) * RATE_HZ, found[-1]
    away = last.centre - truth.offset * RATE_HZ
    return last.snr_db - truth.snr_db, last.width / band, away / band


def main() -> None:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "estimates"])
    parser.add_argument("--snr", type=float, default=10.0)
    args = parser.parse_args()
    speed() if args.what == "speed" else estimates(args.snr)


if __name__ == "__main__":
    main()
