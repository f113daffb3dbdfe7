"""A station process for tests: `python -m ...worker URL NAME TOKEN FOLDER PRECISION [SECONDS]`.

With SECONDS its training takes that long, so that a test can kill it there.
"""

import sys
import time
from functools import partial
from pathlib import Path

from tests.training.federation.support import arithmetic
from training.federation.station.client import HttpExchange
from training.federation.station.loop import Station


def slowly(name, seconds, folder, manifest, generation):
    print("training", flush=True)
    time.sleep(seconds)
    return arithmetic(name, folder, manifest, generation)


if __name__ == "__main__":
    url, name, token, folder, precision = sys.argv[1:6]
    seconds = float(sys.argv[6]) if len(sys.argv) > 6 else 0.0
    exchange = HttpExchange(url, "main", name, token, patience_s=40)
    Station(exchange, Path(folder), partial(slowly, name, seconds), precision).work()
    exchange.close()
