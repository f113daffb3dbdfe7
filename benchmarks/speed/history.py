"""How long the table, the review and the occupancy of twelve hours with 200,000 emissions take over REST.

    python -m benchmarks.speed.history                        # SQLite
    python -m benchmarks.speed.history --history postgresql://user@host/database

A history is made in a folder that is deleted afterwards (in PostgreSQL: rows of a stream, which are), added
up as a running service would have, and asked by a real service. Printed are milliseconds: the median and the
95th percentile of `--requests` of each kind; at most 300 at the 95th is wanted.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path

import httpx
import numpy as np

from service.live.emissions import EmissionRow
from service.storage.database import Database, open_database
from service.storage.history import PUT_EMISSION
from service.storage.ids import new_id
from service.storage.rollup import roll_up
from service.storage.schema import migrate

RATE_HZ, FREQ_HZ, CHANNELS = 2.4e6, 433.92e6, 96
CLASSES = (
    ("OOK", "ASK"),
    ("2FSK", "FSK"),
    ("GFSK", "FSK"),
    ("QPSK", "PSK"),
    ("NBFM", "FM"),
    ("unknown", None),
)
HOUR_NS = 3600 * 10**9
CHUNK = 10_000


def made(stream: str, count: int, hours: float, seed: int = 1) -> Iterator[EmissionRow]:
    """Emissions as a busy band has them: most are short, in channels, with edges that vary."""
    rng = np.random.default_rng(seed)
    begin = time.time_ns() - round(hours * HOUR_NS)
    starts = np.sort(rng.uniform(0, hours * 3600, count))
    lengths = np.where(
        rng.random(count) < 0.002, rng.exponential(1200, count), rng.exponential(0.8, count) + 0.05
    )
    for i, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
        label, family = CLASSES[int(rng.integers(len(CLASSES)))]
        width = float(rng.uniform(8e3, 18e3))
        centre = (
            FREQ_HZ + (int(rng.integers(CHANNELS)) - CHANNELS / 2 + 0.5) * 25e3 + float(rng.normal(0, 300))
        )
        yield EmissionRow(
            id=f"{stream}-1-{i}",
            stream=stream,
            state="end",
            from_ns=begin + round(start * 1e9),
            to_ns=begin + round((start + length) * 1e9),
            start_sample=round(start * RATE_HZ),
            end_sample=round((start + length) * RATE_HZ),
            label=label,
            family=family,
            probability=float(rng.uniform(0.5, 1)),
            nearest="{}",
            lower_hz=centre - width / 2,
            upper_hz=centre + width / 2,
            snr_db=float(rng.uniform(3, 35)),
            level_db=-60.0,
            freq_hz=FREQ_HZ,
            bursts=int(rng.integers(1, 20)),
            duty=float(rng.uniform(0.05, 1)),
            utc_ns=None,
            rate_hz=RATE_HZ,
            sha256="0" * 64,
        )


def fill(database: Database, stream: str, count: int, hours: float) -> None:
    """Write them, and add up what is over."""
    migrate(database)
    rows: list[tuple[object, ...]] = []
    for row in made(stream, count, hours):
        rows.append(astuple(row))
        if len(rows) == CHUNK:
            database.run([(PUT_EMISSION, rows)])
            rows = []
    database.run([(PUT_EMISSION, rows)])
    while roll_up(database, stream, time.time_ns()):
        pass
    # PostgreSQL does it by itself within minutes of so many rows.
    database.run([(f"ANALYZE {table}", [()]) for table in ("emissions", "rollup") if database.postgres])


@contextmanager
def serving(data: Path, history: str) -> Iterator[str]:
    """A service on a port of its own; its address."""
    options = ["--port", "0", "--data", str(data), "--history", history]
    command = [sys.executable, "-m", "service.cli", "serve", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            yield line.split()[1].rstrip("/")
        finally:
            process.terminate()


def paths(stream: str) -> dict[str, str]:
    """What the page asks for: its first page of the table, some sorted and filtered, review, occupancy."""
    base, now = f"/v1/streams/{stream}", time.time() // 3600 * 3600 + 3600
    stamps = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)) for at in (now - 86_400, now)]
    span = f"from={stamps[0]}&to={stamps[1]}"
    return {
        "table": f"{base}/emissions?sort=last&limit=50",
        "table by SNR": f"{base}/emissions?sort=snr&limit=50",
        "table of a label": f"{base}/emissions?sort=first&label=QPSK&limit=50",
        "review": f"{base}/review?{span}&step_s=600",
        "occupancy": f"{base}/occupancy?{span}&step_s=3600",
    }


def measure(base: str, stream: str, requests: int) -> dict[str, dict[str, float]]:
    """Median and 95th percentile of each request in milliseconds."""
    found = {}
    with httpx.Client(base_url=base, timeout=60) as client:
        for name, path in paths(stream).items():
            took = []
            for _ in range(requests):
                began = time.perf_counter()
                client.get(path).raise_for_status()
                took.append(1000 * (time.perf_counter() - began))
            p50, p95 = np.percentile(took, [50, 95])
            found[name] = {"p50_ms": round(float(p50), 1), "p95_ms": round(float(p95), 1)}
    return found


def main(argv: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--history", default="", help="postgresql:// URL; SQLite where there is none")
    parser.add_argument("--emissions", type=int, default=200_000)
    parser.add_argument("--hours", type=float, default=12.0)
    parser.add_argument("--requests", type=int, default=40)
    args = parser.parse_args(argv)
    stream = new_id()
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(args.history, Path(folder))
        try:
            fill(database, stream, args.emissions, args.hours)
            with serving(Path(folder), args.history) as base:
                print(json.dumps(measure(base, stream, args.requests), indent=1))
        finally:
            tables = ("emissions", "rollup", "rolled")
            database.run([(f"DELETE FROM {table} WHERE stream = ?", [(stream,)]) for table in tables])  # noqa: S608
            database.close()


if __name__ == "__main__":
    main()
