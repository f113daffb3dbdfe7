"""Live load: samples sent over ZMQ at a radio's pace, answers read from WebSockets, and the time between."""

import asyncio
import json
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np
import zmq
from websockets.asyncio.client import ClientConnection, connect

MESSAGE_S = 0.004  # of samples in one message: what a radio's driver hands over at once
SETTLE_S = 2.0  # before anything counts


class Sender(threading.Thread):
    """Sends noise at its rate and remembers when each sample left."""

    def __init__(self, rate_hz: float) -> None:
        super().__init__(daemon=True)
        self.rate_hz, self.count = rate_hz, round(rate_hz * MESSAGE_S)
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.PUB)
        self.socket.sndhwm = 1000
        self.port = self.socket.bind_to_random_port("tcp://127.0.0.1")
        rng = np.random.default_rng(1)
        self.payload = (rng.standard_normal((self.count, 2)) @ [1, 1j]).astype(np.complex64).tobytes()
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
            self.socket.send(self.payload)
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
    missed: int = 0

    def summary(self) -> dict[str, Any]:
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
        }


async def measure(
    base: str, streams: int, rate_hz: float, seconds: float, *, readers: int, silent: int
) -> Outcome:
    """Run one scenario against a running service."""
    outcome = Outcome(streams, rate_hz, seconds)
    senders = [Sender(rate_hz) for _ in range(streams)]
    async with httpx.AsyncClient(base_url=base, timeout=30) as http:
        ids = []
        for sender in senders:
            ids.append((await http.post("/v1/streams", json={"source": sender.address})).json()["id"])
            sender.start()
        await asyncio.sleep(1)  # ZMQ connects in the background
        for sender in senders:
            sender.connected.set()
        sockets = [await connect(f"ws{base[4:]}/v1/streams/{ids[0]}/live") for _ in range(readers)]
        drains = [asyncio.create_task(drain(socket)) for socket in sockets[silent:]]
        pairs = zip(ids, senders, strict=True)
        await asyncio.gather(*(follow(base, one, sender, outcome) for one, sender in pairs))
        for drain_task in drains:
            drain_task.cancel()
        for one in ids:
            about = (await http.get(f"/v1/streams/{one}")).json()["samples"]
            outcome.dropped += sum(about["dropped"].values()) + sum(about["lost"].values())
            outcome.dropped += sum(about["lost_estimated"].values())
        text = (await http.get("/metrics")).text
        outcome.missed = round(float(text.split("\nwavetell_reader_missed_messages_total ")[1].split()[0]))
    for sender in senders:
        sender.stopping.set()
        sender.join()
    for socket in sockets:
        socket.transport.abort()
    return outcome


async def follow(base: str, stream: str, sender: Sender, outcome: Outcome) -> None:
    """Read every hop of one stream and note how long it took."""
    counting = time.monotonic() + SETTLE_S
    async with connect(f"ws{base[4:]}/v1/streams/{stream}/live?hops=true", max_size=None) as socket:
        while (now := time.monotonic()) < counting + outcome.seconds:
            message = json.loads(await socket.recv())
            now = time.monotonic()
            if message["type"] == "hops" and now > counting:
                outcome.latencies_s += [now - sender.left(hop["end"]) for hop in message["hops"]]


async def drain(socket: ClientConnection) -> None:
    """A reader that reads."""
    async for _ in socket:
        pass
