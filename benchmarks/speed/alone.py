"""The band's benchmark on a core that has nothing else to do, whatever else this machine does.

    OMP_NUM_THREADS=1 python -m benchmarks.speed.alone [BUNDLE] [--rate 2.4e6] [--emissions 16] [--seconds 10]

The scene of `wavetell bench band` in messages of 4 ms, through the pipeline and attention of a live stream.
Time is that of the processor: a message is taken when it has arrived and what was before it is done, and what
the service does beside (sockets, reports) is added as `REST` of the signal's time. So this is what
`wavetell bench band` would measure if other processes took nothing. WAVETELL_ISA=avx2 keeps the encoder from
using AVX-512.
"""

import argparse
import json
import math
import os
import time

import numpy as np

from service.bench.band_scene import make_band
from service.bench.live_load import MESSAGE_S
from service.live.load import Load
from service.live.streams import PUSH, Limits
from streaming.band.pipeline import BandPipeline
from streaming.block import Block, Samples
from streaming.bundle import load_bundle
from streaming.engine import open_engine
from streaming.pipeline import choose_head

REST = 0.1  # of the signal's time: sockets, reports and requests
SETTLE_S = 3.0  # before latency and processor time count


class Stream:
    """A scene that arrives message by message; what waits for too long is dropped, as the service does."""

    def __init__(self, samples: Samples, rate_hz: float) -> None:
        self.samples, self.rate_hz, self.size = samples, rate_hz, round(rate_hz * MESSAGE_S)
        self.taken = self.dropped = 0  # messages

    def take(self, now: float) -> Block:
        """What has arrived by now, at least one message and at most as much as one push takes."""
        waiting = max(1, int(now / MESSAGE_S + 1e-9) - self.taken)
        if waiting * MESSAGE_S > Limits().queue_ms / 1000:
            self.dropped += waiting - 1
            self.taken += waiting - 1
        count = max(1, min(waiting, PUSH // self.size))
        first = self.taken * self.size
        self.taken += count
        at = np.arange(first, first + count * self.size) % len(self.samples)
        return Block(self.samples[at], first, self.rate_hz)


def run(pipeline: BandPipeline, stream: Stream, seconds: float) -> dict[str, object]:
    """So many seconds after it has settled."""
    load, now, busy = Load(), 0.0, 0.0
    load.give(pipeline)
    latencies, stages, settled = list[float](), dict[str, float](), False
    while now < SETTLE_S + seconds:
        arrived = (stream.taken + 1) * MESSAGE_S
        now = max(now, arrived)
        block = stream.take(now)
        began = time.thread_time()
        predictions = pipeline.push(block)
        pipeline.changes(0.1)
        worked = time.thread_time() - began + REST * len(block.samples) / block.rate_hz
        now += worked
        if now >= SETTLE_S:
            if not settled:
                settled, busy, stages = True, 0.0, pipeline.stages.copy()
            busy += worked
            ends = [math.ceil(p.end / stream.size) * MESSAGE_S for p in predictions if p.emission]
            latencies += [now - end for end in ends]
        load.work(worked, now - arrived)
        load.adapt([pipeline], load.began + now)
    p50, p99 = np.quantile(latencies, [0.5, 0.99])
    return {
        "dropped": stream.dropped * stream.size,
        "answered": pipeline.attention.answered,
        "thinned": pipeline.attention.thinned,
        "unjudged": pipeline.attention.unjudged,
        "cpu_share": round(busy / seconds, 3),
        "latency_p50_ms": round(1000 * float(p50), 1),
        "latency_p99_ms": round(1000 * float(p99), 1),
        "stages": {name: round((s - stages[name]) / seconds, 3) for name, s in pipeline.stages.items()},
    }


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", nargs="?", default="radio")
    parser.add_argument("--rate", type=float, default=2.4e6, help="samples a second")
    parser.add_argument("--emissions", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=10.0)
    args = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    bundle = load_bundle(args.bundle)
    head = choose_head(bundle, "", "live")
    pipeline = BandPipeline(bundle, head, open_engine(bundle.encoder, head.hop))
    band = make_band(args.rate, args.emissions)
    print(json.dumps(run(pipeline, Stream(band.samples, band.rate_hz), args.seconds)))


if __name__ == "__main__":
    main()
