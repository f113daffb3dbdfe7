"""A station of the benchmark: `python -m service.bench.member PORT NAME TOKEN FOLDER PRECISION ROUNDS`.

Its training is a moment's arithmetic; it prints the requests it needed.
"""

import sys
from pathlib import Path

import httpx
import numpy as np

from training.federation.manifest import PRECISIONS, Manifest
from training.federation.station.client import HttpExchange
from training.federation.station.loop import Result, Station
from training.pretraining.checkpoint import load_checkpoint, save_checkpoint


def arithmetic(folder: Path, manifest: Manifest, generation: int) -> Result:
    """Stands for training: every weight moves a little."""
    found = load_checkpoint(folder / "global.safetensors")
    assert found is not None
    rng = np.random.default_rng([generation, *folder.name.encode()])
    trained = {
        f"model/{name}": array + 1e-3 * rng.standard_normal(array.shape, np.float32)
        for name, array in found[0].items()
    }
    save_checkpoint(folder / "trained.safetensors", trained, {"round": generation, "step": 1})
    return 1000, {"loss": 1.0}


def main(port: str, name: str, token: str, folder: str, precision: str, rounds: str) -> None:
    """Take part in some rounds."""
    requests = 0

    def count(_: httpx.Request) -> None:
        nonlocal requests
        requests += 1

    exchange = HttpExchange(f"http://127.0.0.1:{port}", "main", name, token, patience_s=60)
    exchange.http.event_hooks = {"request": [count]}
    station = Station(exchange, Path(folder), arithmetic, next(p for p in PRECISIONS if p == precision))
    for _ in range(int(rounds)):
        station.step()
    exchange.close()
    print(requests)


if __name__ == "__main__":
    main(*sys.argv[1:])
