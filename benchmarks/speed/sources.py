"""How fast sources deliver.

    python -m benchmarks.speed.sources

A recording is read twice and the second time counts: what is measured is our own work, not the disk.
"""

import resource
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from hardware import open_source
from hardware.zmq_sink import ZmqSink
from streaming.block import Block

SAMPLES = 20_000_000
SUFFIXES = {"cf32": np.float32, "cs16": np.int16, "cs8": np.int8, "cu8": np.uint8}


def seconds_to_read(address: str, samples: int) -> float:
    """Wall-clock seconds until so many samples were delivered."""
    with open_source(address) as source:
        began = time.perf_counter()
        got = 0
        for block in source.blocks():
            got += len(block.samples)
            if got >= samples:
                break
        return time.perf_counter() - began


def files() -> None:
    """Every raw type, as fast as it can be read."""
    with tempfile.TemporaryDirectory() as folder:
        for suffix, dtype in SUFFIXES.items():
            path = Path(folder) / f"x_1M.{suffix}"
            np.tile(np.arange(100).astype(dtype), SAMPLES // 50).tofile(path)
            address = f"file:{path}?rate=1M"
            took = [seconds_to_read(address, SAMPLES) for _ in range(2)][1]
            print(f"file, {suffix:<5} {SAMPLES / took / 1e6:7.0f} MS/s")
            path.unlink()


def zmq(tags: bool) -> None:
    """PUSH to PULL through loopback, both ends in this process."""
    blocks = [Block(np.zeros(65_536, np.complex64), 65_536 * i, 1e6) for i in range(SAMPLES // 65_536)]
    with ZmqSink("tcp://127.0.0.1:*", "push", tags) as sink:
        sender = threading.Thread(target=lambda: [sink.push(block) for block in blocks])
        sender.start()
        took = seconds_to_read(f"zmq:{sink.endpoint}?type=pull&rate=1M", 65_536 * len(blocks))
        sender.join()
    print(f"zmq, {'tags' if tags else 'plain':<6} {SAMPLES / took / 1e6:7.0f} MS/s")


def core(address: str, seconds: float = 5.0) -> None:
    """Share of a core that a source at real pace takes."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    began = time.perf_counter()
    rate_hz = float(address.partition("rate=")[2].partition("&")[0])
    seconds_to_read(address, round(seconds * rate_hz))
    after = resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{address}: {100 * used / (time.perf_counter() - began):.1f} % of a core")


if __name__ == "__main__":
    files()
    zmq(tags=False)
    zmq(tags=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.cu8"
        np.full(2 * 12_000_000, 127, np.uint8).tofile(path)
        core(f"file:{path}?rate=2400000&pace=realtime")
