"""Load on /predict: clients that send the same request again and again over connections they keep."""

import http.client
import threading
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import numpy as np

from streaming.errors import WavetellError

SAMPLES = 16_384


@dataclass
class Throughput:
    """Answers in a time."""

    seconds: float = 0.0
    latencies_s: list[float] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Requests a second."""
        return len(self.latencies_s) / self.seconds

    @staticmethod
    def together(parts: list["Throughput"]) -> "Throughput":
        """Several runs as one."""
        return Throughput(
            sum(part.seconds for part in parts), [each for part in parts for each in part.latencies_s]
        )

    def summary(self) -> dict[str, float]:
        """The numbers that matter."""
        p50, p99 = np.quantile(self.latencies_s, [0.5, 0.99])
        return {"per_second": self.per_second, "p50_ms": 1000 * float(p50), "p99_ms": 1000 * float(p99)}


def hammer(url: str, clients: int, seconds: float) -> Throughput:
    """Send from several clients for a while."""
    result = Throughput()
    began = time.monotonic()
    threads = [threading.Thread(target=client, args=(url, began + seconds, result)) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result.seconds = time.monotonic() - began
    if not result.latencies_s:
        raise WavetellError(f"{url} answered nothing within {seconds:g} s")
    return result


def client(url: str, until: float, result: Throughput) -> None:
    """One client."""
    parts = urlsplit(url)
    rng = np.random.default_rng(1)
    body = (rng.standard_normal((SAMPLES, 2)) @ [1, 1j]).astype(np.complex64).tobytes()
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    # Every window that the head answers live is asked for, not only those side by side.
    path = f"{parts.path}?step=hop"
    while time.monotonic() < until:
        began = time.monotonic()
        connection.request("POST", path, body, {"Content-Type": "application/octet-stream"})
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise WavetellError(f"{url} answered {answer.status}: {content[:200]!r}")
        result.latencies_s.append(time.monotonic() - began)
    connection.close()
