"""How much faster the native kernel is on several cores: streams side by side, and one stream cut up.

    python -m benchmarks.speed.threads [SECONDS]

Wall time, since that is what more cores are for; one thread and as many as there are cores alternate, and
the median of the trials counts. The machine must be quiet. The aim is 1.8 times on two cores.
"""

import os
import sys
import time

import numpy as np

from streaming.block import Samples
from streaming.encoder import Encoder
from streaming.engine import Engine, Stream, open_engine
from streaming.shape import EncoderShape

CONFIGURATIONS = ((1, 1024), (1, 4096), (4, 100), (4, 1024), (16, 100))  # streams, chunk
TURN_S = 0.2


def trial(engine: Engine, work: list[tuple[Stream, Samples]]) -> float:
    """Samples per second in a short trial."""
    begin, pushes = time.perf_counter(), 0
    while time.perf_counter() < begin + TURN_S:
        engine.push(work)
        pushes += 1
    return pushes * sum(len(samples) for _, samples in work) / (time.perf_counter() - begin)


def main() -> None:
    """Print a line for each configuration and back end."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    cores = len(os.sched_getaffinity(0))
    encoder = Encoder(EncoderShape())
    rng = np.random.default_rng(0)
    print(f"thousand samples per second, one thread and {cores}")
    for backend in ("native", "native-bf16"):
        engines = [open_engine(encoder, 100, backend, threads) for threads in (1, cores)]
        for streams, chunk in CONFIGURATIONS:
            iq = rng.standard_normal((streams, 2 * chunk), np.float32).view(np.complex64)
            works = [[(engine.stream(), row) for row in iq] for engine in engines]
            rates: list[list[float]] = [[], []]
            until = time.perf_counter() + seconds
            while time.perf_counter() < until:
                for engine, work, found in zip(engines, works, rates, strict=True):
                    found.append(trial(engine, work))
            one, many = (float(np.median(found)) for found in rates)
            line = f"{one / 1e3:5.0f} {many / 1e3:5.0f}  {many / one:.2f} times"
            print(f"{backend:<12} {streams:>2} streams, chunks of {chunk:>4}: {line}", flush=True)


if __name__ == "__main__":
    main()
