"""The band pipeline's speed, and what each of its stages costs: CPU time on one core.

    OMP_NUM_THREADS=1 python -m benchmarks.speed.band [BUNDLE] [--seconds 4] [--passes 3]

Noise, one emission of 25, 300 and 800 kHz, and 16 of 5 to 200 kHz, 15 dB each, at 2.4 MS/s, in blocks of
16,384 samples as a radio delivers them. The emissions are drawn by the generator, each of another class and
on without a pause. A pass is a whole stream; of the passes the fastest counts. WAVETELL_ISA=avx2 keeps the
encoder from using AVX-512.
"""

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.signal import resample

from streaming.band import embedding
from streaming.band.bank import Bank, Channel
from streaming.band.embedding import EmissionEmbedder
from streaming.band.evidence import Evidence
from streaming.band.frontend import Band, BandSettings
from streaming.band.looks import Looks
from streaming.band.pipeline import BandPipeline
from streaming.band.regions import Standout
from streaming.band.tracker import Tracker
from streaming.block import Block, Samples
from streaming.bundle import load_bundle
from streaming.correction import Correction
from streaming.engine import open_engine
from streaming.head import Head
from streaming.pipeline import choose_head
from streaming.projection import Projection
from training.signals.phasor import phasor
from training.signals.reception import IDEAL, receive
from training.signals.wide import Emitted, draw

RATE_HZ, BLOCK = 2.4e6, 16_384
SNR_DB = 15.0
EXCERPT = 1 << 17  # samples of an emission before it is brought to its width
# fmt: off
CLASSES = (
    "QPSK", "16QAM", "2FSK", "GFSK", "BPSK", "AM-DSB", "NBFM", "8PSK",
    "OFDM", "64QAM", "MSK", "4FSK", "GMSK", "OQPSK", "16APSK", "WBFM",
)
# fmt: on
WIDTHS_HZ = {
    "noise": (),
    "25 kHz": (25e3,),
    "300 kHz": (300e3,),
    "800 kHz": (800e3,),
    "16 emissions": tuple(np.geomspace(5e3, 200e3, 16).tolist()),
}
STAGES: dict[str, tuple[Any, str]] = {
    "correction": (Correction, "push"),
    "looks": (Looks, "push"),
    "standout": (Standout, "find"),
    "tracker": (Tracker, "push"),
    "bank": (Bank, "push"),
    "channels": (Channel, "read"),
    "evidence": (Evidence, "push"),
    "features": (embedding, "describe"),
    "encoder": (EmissionEmbedder, "_encode"),
    "projection": (Projection, "push"),
    "head": (Head, "name_all"),
}


def scene(widths_hz: Sequence[float], samples: int) -> Samples:
    """Emissions of these bandwidths side by side, as an ideal receiver delivers them."""
    rng = np.random.default_rng(1)
    gap_hz = (0.9 * RATE_HZ - sum(widths_hz)) / (len(widths_hz) + 1)
    lower_hz = -0.45 * RATE_HZ
    side_by_side = list[tuple[Emitted, float]]()
    for name, width_hz in zip(CLASSES, widths_hz, strict=False):
        lower_hz += gap_hz
        one = steady(name, rng)
        width = (one.upper_hz - one.lower_hz) / one.rate_hz
        x = np.resize(resample(one.samples, round(EXCERPT * width * RATE_HZ / width_hz)), samples)
        upper_hz = lower_hz + width_hz
        below_hz = one.lower_hz * width_hz / (width * one.rate_hz)
        x = x * phasor((lower_hz - below_hz) / RATE_HZ * np.arange(float(samples)))
        moved = replace(one, samples=x, rate_hz=RATE_HZ, lower_hz=lower_hz, upper_hz=upper_hz)
        side_by_side.append((moved, SNR_DB))
        lower_hz = upper_hz
    nothing = draw("noise", rng, RATE_HZ, samples)
    return receive(nothing, rng, -60.0, side_by_side, IDEAL)


def steady(name: str, rng: np.random.Generator) -> Emitted:
    """An emission of this class that is on all the time."""
    while True:
        one = draw(name, rng, samples=EXCERPT, offset_hz=0.0)
        if sum(end - begin for begin, end in one.bursts) == EXCERPT:
            return one


def cpu_seconds(push: Callable[[Block], object], x: Samples) -> float:
    """CPU time of a stream."""
    blocks = [Block(x[i : i + BLOCK], i, RATE_HZ) for i in range(0, len(x), BLOCK)]
    began = time.process_time()
    for block in blocks:
        push(block)
    return time.process_time() - began


def watch(spent: dict[str, float]) -> None:
    """Add up the CPU time of every stage from now on, without that of stages that it calls."""
    inner = [0.0]  # of the stages that each stage under way has called

    def timed(stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **more: Any) -> Any:  # noqa: ANN401 - whatever the stage takes
            inner.append(0.0)
            began = time.process_time()
            try:
                return call(*args, **more)
            finally:
                passed = time.process_time() - began
                spent[stage] += passed - inner.pop()
                inner[-1] += passed

        return run

    for stage, (owner, name) in STAGES.items():
        setattr(owner, name, timed(stage, getattr(owner, name)))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", nargs="?", default="radio")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each stream")
    parser.add_argument("--passes", type=int, default=3, help="of each stream; the fastest counts")
    args = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    bundle = load_bundle(args.bundle)
    head = choose_head(bundle, "", "live")
    engine = open_engine(bundle.encoder, head.hop)
    streams = {name: scene(widths, round(args.seconds * RATE_HZ)) for name, widths in WIDTHS_HZ.items()}
    ways: dict[str, Callable[[], Callable[[Block], object]]] = {
        "front end": lambda: Band(BandSettings()).push,
        "pipeline": lambda: BandPipeline(bundle, head, engine).push,
    }
    print(f"{engine.detail}\n{'MS/s of a core':<20}" + "".join(f"{way:>12}" for way in ways))
    for name, x in streams.items():
        best = [min(cpu_seconds(way(), x) for _ in range(args.passes)) for way in ways.values()]
        print(f"{name:<20}" + "".join(f"{len(x) / 1e6 / cpu_s:>12.2f}" for cpu_s in best), flush=True)
    spent = defaultdict[str, float](float)
    watch(spent)
    print(f"\n{'of a core, %':<20}{'all':>8}" + "".join(f"{stage:>11}" for stage in [*STAGES, "the rest"]))
    for name, x in streams.items():
        best_parts = [np.inf]
        for _ in range(args.passes):
            spent.clear()
            whole = cpu_seconds(ways["pipeline"](), x)
            parts = [spent[stage] for stage in STAGES]
            best_parts = min(best_parts, [whole, *parts, whole - sum(parts)])
        print(f"{name:<20}{100 * best_parts[0] / args.seconds:>8.1f}", end="")
        print("".join(f"{100 * part / args.seconds:>11.2f}" for part in best_parts[1:]), flush=True)


if __name__ == "__main__":
    main()
