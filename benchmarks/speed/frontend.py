"""The front end's speed: CPU time of each stage and of the whole, on one core.

    OMP_NUM_THREADS=1 python -m benchmarks.speed.frontend

Bursts of QPSK in noise, half of the time; blocks of 16,384 samples as a radio delivers them.
"""

import time
from collections.abc import Callable

import numpy as np

from streaming.agc import Agc
from streaming.block import Block, Samples
from streaming.channel import Channel
from streaming.correction import Correction
from streaming.detector import Detector
from streaming.frontend import FrontEnd, FrontEndSettings
from streaming.resample import Resampler
from training.signals.conditions import Conditions
from training.signals.emission import Emission
from training.signals.stream import Part, Stream

SAMPLES, BLOCK = 2**22, 16_384
RATES_HZ = (250e3, 1.024e6, 2.4e6)


def bursts(rate_hz: float) -> Samples:
    """QPSK for 50 ms, noise for 50 ms, alternating."""
    conditions = Conditions(snr_db=(15, 15))
    on, off = (Emission(name, conditions, np.random.default_rng(1)) for name in ("QPSK", "noise"))
    each = int(0.05 * rate_hz)
    plan = (Part(emission, each) for _ in range(SAMPLES) for emission in (off, on))
    return Stream(plan, conditions, seed=1).next(SAMPLES)


def rate(push: Callable[[Samples], object], x: Samples) -> float:
    """Million samples per second of CPU time."""
    began = time.process_time()
    for i in range(0, len(x), BLOCK):
        push(x[i : i + BLOCK])
    return len(x) / 1e6 / (time.process_time() - began)


def whole(settings: FrontEndSettings, rate_hz: float) -> Callable[[Samples], object]:
    """The front end, fed with blocks that count on."""
    front, index = FrontEnd(settings), 0

    def push(x: Samples) -> object:
        nonlocal index
        index += len(x)
        return front.push(Block(x, index - len(x), rate_hz))

    return push


def main() -> None:
    """Print the table."""
    x = bursts(2.4e6)
    correction = Correction()
    correction.learn(x[:100_000])
    stages: dict[str, Callable[[Samples], object]] = {
        "correction": correction.push,
        "detector, blocks of 512": Detector(512).push,
        "detector, blocks of 4,096": Detector(4096).push,
        "channel, 2.4 MHz to 250 kHz": Channel(2.4e6, 300e3, 250e3).push,
        "resampler, step 1.19": Resampler(1.19, 0.1).push,
        "level": Agc(4096).push,
    }
    print(f"{'stage':<44}{'MS/s':>8}")
    for name, push in stages.items():
        print(f"{name:<44}{rate(push, x):>8.1f}")
    for rate_hz in RATES_HZ:
        speed = rate(whole(FrontEndSettings(), rate_hz), bursts(rate_hz))
        row(f"front end at {rate_hz / 1e6:g} MS/s", speed, rate_hz)
    speed = rate(whole(FrontEndSettings(offset_hz=0.0, width_hz=250e3), 2.4e6), x)
    row("front end at 2.4 MS/s, channel of 250 kHz", speed, 2.4e6)


def row(name: str, speed: float, rate_hz: float) -> None:
    """One line, with the share of a core that a stream of this rate takes."""
    print(f"{name:<44}{speed:>8.1f}   {rate_hz / 1e4 / speed:.0f} % of a core")


if __name__ == "__main__":
    main()
