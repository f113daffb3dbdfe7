"""How many emissions per second of CPU time the wide generator draws and receives, beside the streams.

OMP_NUM_THREADS=1 python -m benchmarks.speed.emissions --samples 32768
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from training.signals.classes import CLASSES
from training.signals.conditions import Conditions
from training.signals.reception import draw_neighbours, receive
from training.signals.stream import Stream, in_turn
from training.signals.wide import draw

EACH = 40  # emissions per class


def per_second(make: Callable[[str, int], object]) -> dict[str, float]:
    """Emissions per second of CPU time, by class."""
    out = dict[str, float]()
    for name in CLASSES:
        make(name, 0)
        began = time.process_time()
        for seed in range(EACH):
            make(name, seed)
        out[name] = EACH / (time.process_time() - began)
    return out


def wide(samples: int) -> Callable[[str, int], object]:
    """An emission and its receiver."""

    def make(name: str, seed: int) -> object:
        rng = np.random.default_rng(seed)
        return receive(draw(name, rng, samples=samples), rng, 20.0)

    return make


def beside_neighbours(samples: int) -> Callable[[str, int], object]:
    """The same with one to three neighbours."""

    def make(name: str, seed: int) -> object:
        rng = np.random.default_rng(seed)
        emitted = draw(name, rng, samples=samples)
        return receive(emitted, rng, 20.0, draw_neighbours(rng, emitted, CLASSES))

    return make


def streamed(samples: int) -> Callable[[str, int], object]:
    """A stream of one emission."""

    def make(name: str, seed: int) -> object:
        return Stream(in_turn([name], samples, Conditions(), seed), Conditions(), seed).next(samples)

    return make


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=32_768)
    samples = parser.parse_args().samples
    ways = {"wide": wide, "with neighbours": beside_neighbours, "stream": streamed}
    table = {title: per_second(way(samples)) for title, way in ways.items()}
    print(f"{samples:,} samples".ljust(16) + "".join(f"{title:>18}" for title in ways))
    for name in CLASSES:
        print(name.ljust(16) + "".join(f"{row[name]:>18.0f}" for row in table.values()))
    means = (len(row) / sum(1 / speed for speed in row.values()) for row in table.values())
    print("all alike".ljust(16) + "".join(f"{mean:>18.0f}" for mean in means))


if __name__ == "__main__":
    main()
