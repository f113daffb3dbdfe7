"""Live load: samples sent over ZMQ at a radio's pace, answers read from WebSockets, and the time between."""

import asyncio
import json
import socket
import threading
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
import numpy as np
import zmq
from websockets.asyncio.client import ClientConnection, connect

from streaming.block import Samples
from streaming.errors import WavetellError

MESSAGE_S = 0.004  # of samples in one message: what a radio's driver hands over at once
MESSAGES = 32  # until the signal begins again
SETTLE_S = 2.0  # before anything counts


def wide_signal(count: int) -> Samples:
    """A signal that fills 0.4 of the band, 20 dB above the noise, and goes on where it ends.

    So wide, a model behind the front end hears it at the source's own rate: that is the most work.
    """
    rng = np.random.default_rng(1)
    noise, spectrum = rng.standard_normal((2, count, 2)) @ [1, 1j]  # (count,) each
    spectrum[np.abs(np.fft.fftfreq(count)) > 0.2] = 0
    signal = np.fft.ifft(spectrum)
    signal *= 10 / np.sqrt(np.mean(np.abs(signal) ** 2))
    return np.asarray(signal + noise / np.sqrt(2), np.complex64)


class Sender(threading.Thread):
    """Sends a signal at its rate and remembers when each sample left."""

    def __init__(self, rate_hz: float) -> None:
        super().__init__(daemon=True)
        self.rate_hz, self.count = rate_hz, round(rate_hz * MESSAGE_S)
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.PUB)
        self.socket.sndhwm = 1000
        self.port = self.socket.bind_to_random_port("tcp://127.0.0.1")
        signal = wide_signal(self.count * MESSAGES)
        self.payloads = [part.tobytes() for part in np.split(signal, MESSAGES)]
        self.sent: list[float] = []  # when message i left
        self.connected = threading.Event()
        self.stopping = threading.Event()

    @property
    def address(self) -> str:
        """The source that a service listens to."""
        return f"zmq:tcp://127.0.0.1:{self.port}?rate={self.rate_hz:.0f}"

    def run(self) -> None:
        """Send until stopped; nothing goes out before the service has subscribed, so indices agree."""
        self.connected.wait()
        began = time.monotonic()
        while not self.stopping.is_set():
            due = began + (len(self.sent) + 1) * MESSAGE_S
            time.sleep(max(0.0, due - time.monotonic()))
            self.sent.append(time.monotonic())
            self.socket.send(self.payloads[(len(self.sent) - 1) % MESSAGES])
        self.context.destroy(0)

    def left(self, end: int) -> float:
        """When the sample before `end` left."""
        return self.sent[(end - 1) // self.count]


@dataclass
class Outcome:
    """What a live scenario gave."""

    streams: int
    rate_hz: float
    seconds: float
    latencies_s: list[float] = field(default_factory=list)
    dropped: int = 0
    missed: int = 0  # messages that readers were too slow for
    silent: int = 0  # readers that never read
    readers: int = 0  # who were there at the end; the service lets go of those who answer no ping

    def summary(self) -> dict[str, float]:
        """The numbers that matter."""
        p50, p99, worst = 1000 * np.quantile(self.latencies_s or [np.nan], [0.5, 0.99, 1.0])
        return {
            "streams": self.streams,
            "rate_hz": self.rate_hz,
            "seconds": self.seconds,
            "hops": len(self.latencies_s),
            "p50_ms": float(p50),
            "p99_ms": float(p99),
            "worst_ms": float(worst),
            "dropped": self.dropped,
            "missed": self.missed,
            "silent": self.silent,
            "readers": self.readers,
        }


async def measure(
    base: str, streams: int, rate_hz: float, seconds: float, *, readers: int, silent: int
) -> Outcome:
    """Run one scenario against a running service."""
    outcome = Outcome(streams, rate_hz, seconds, silent=silent)
    senders = [Sender(rate_hz) for _ in range(streams)]
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(httpx.AsyncClient(base_url=base, timeout=30))
        ids = []
        for sender in senders:
            ids.append((await http.post("/v1/streams", json={"source": sender.address})).json()["id"])
            sender.start()
        await asyncio.sleep(1)  # ZMQ connects in the background
        for sender in senders:
            sender.connected.set()
        stack.callback(close_all, [never_reads(base, ids[0]) for _ in range(silent)])
        live = f"ws{base[4:]}/v1/streams/{ids[0]}/live"
        sockets = [await connect(live) for _ in range(readers - silent)]
        drains = [asyncio.create_task(drain(reader)) for reader in sockets]
        pairs = zip(ids, senders, strict=True)
        await asyncio.gather(*(follow(base, one, sender, outcome) for one, sender in pairs))
        for drain_task in drains:
            drain_task.cancel()
        for one in ids:
            about = (await http.get(f"/v1/streams/{one}")).json()["samples"]
            outcome.dropped += sum(about["dropped"].values()) + sum(about["lost"].values())
            outcome.dropped += sum(about["lost_estimated"].values())
        text = (await http.get("/metrics")).text
        outcome.missed = metric(text, "reader_missed_messages_total")
        outcome.readers = metric(text, "readers")
    for sender in senders:
        sender.stopping.set()
        sender.join()
    for reader in sockets:
        reader.transport.abort()
    return outcome


async def follow(base: str, stream: str, sender: Sender, outcome: Outcome) -> None:
    """Read every hop of one stream and note how long it took."""
    counting = time.monotonic() + SETTLE_S
    async with connect(f"ws{base[4:]}/v1/streams/{stream}/live?hops=true", max_size=None) as reader:
        while (now := time.monotonic()) < counting + outcome.seconds:
            message = json.loads(await reader.recv())
            now = time.monotonic()
            if message["type"] == "hops" and now > counting:
                outcome.latencies_s += [now - sender.left(hop["end"]) for hop in message["hops"]]


def never_reads(base: str, stream: str) -> socket.socket:
    """A WebSocket that asks for every hop and reads none, with little room for what comes."""
    at = urlsplit(base)
    quiet = socket.socket()
    quiet.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    quiet.connect((at.hostname, at.port))
    quiet.sendall(
        f"GET /v1/streams/{stream}/live?hops=true HTTP/1.1\r\nHost: {at.netloc}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: d2F2ZXRlbGwgbmV2ZXIhIQ==\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    if not quiet.recv(12).endswith(b"101"):
        raise WavetellError("the service refused a reader")
    return quiet


def close_all(sockets: list[socket.socket]) -> None:
    """Let the silent readers go."""
    for each in sockets:
        each.close()


def metric(text: str, name: str) -> int:
    """A number of /metrics."""
    return round(float(text.split(f"\nwavetell_{name} ")[1].split(maxsplit=1)[0]))


async def drain(reader: ClientConnection) -> None:
    """A reader that reads."""
    async for _ in reader:
        pass
