"""A band through a running service: at a radio's pace over ZMQ, and as fast as it goes from a file."""

import asyncio
import json
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import zmq
from websockets.asyncio.client import connect

from service.bench.band_scene import Band
from service.bench.live_load import MESSAGE_S

SETTLE_S = 3.0  # before latency and processor time count
DRAIN_S = 10.0  # in which the last samples must have come
BEHIND = 250  # messages that may wait for the service, a second of them


class Sender(threading.Thread):
    """Pushes a band at its rate, over and over, and remembers when each message left."""

    def __init__(self, band: Band) -> None:
        super().__init__(daemon=True)
        self.rate_hz, self.count = band.rate_hz, round(band.rate_hz * MESSAGE_S)
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.PUSH)
        self.socket.sndhwm, self.socket.sndtimeo = (
            BEHIND,
            100,
        )  # ms, after which it looks whether it should stop
        self.port = self.socket.bind_to_random_port("tcp://127.0.0.1")
        whole = len(band.samples) // self.count
        self.payloads = [part.tobytes() for part in np.split(band.samples[: whole * self.count], whole)]
        self.sent: list[float] = []  # when message i left
        self.stopping = threading.Event()

    @property
    def address(self) -> str:
        """The source that a service listens to."""
        return f"zmq:tcp://127.0.0.1:{self.port}?type=pull&rate={self.rate_hz:.0f}"

    def run(self) -> None:
        """Send until stopped; the first message waits for the service."""
        began: float | None = None
        while not self.stopping.is_set():
            if began is not None:
                time.sleep(max(0.0, began + (len(self.sent) + 1) * MESSAGE_S - time.monotonic()))
            left = time.monotonic()
            try:
                self.socket.send(self.payloads[len(self.sent) % len(self.payloads)])
            except zmq.Again:
                continue
            self.sent.append(left)
            began = began or left - MESSAGE_S
        self.context.destroy(round(1000 * DRAIN_S))

    @property
    def samples(self) -> int:
        """Sent so far."""
        return len(self.sent) * self.count

    @property
    def pace(self) -> float:
        """Of what should have been sent; below 1 this machine is too busy to send it."""
        return len(self.sent) * MESSAGE_S / (self.sent[-1] - self.sent[0] + MESSAGE_S) if self.sent else 0.0

    def left(self, end: int) -> float:
        """When the sample before `end` left."""
        return self.sent[(end - 1) // self.count]


@dataclass
class Outcome:
    """What was measured; shares of the processor are of one core."""

    dropped: int = 0
    thinned: int = 0
    answered: int = 0
    cpu_share: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    latencies_s: list[float] = field(default_factory=list)
    followed: int = 0
    family_right: int = 0
    pace: float = 0.0
    highest_rate_hz: float = 0.0
    samples_per_cpu_s: float = 0.0


@dataclass(frozen=True)
class Reading:
    """The service's counters at one moment."""

    at: float
    cpu_s: float
    stream: dict[str, Any]

    @property
    def processed(self) -> int:
        """Samples so far."""
        return int(self.stream["samples"]["processed"])


class Load:
    """A running service, and the streams that are put into it one after the other."""

    def __init__(self, base: str, http: httpx.AsyncClient) -> None:
        self.base, self.http = base, http

    async def read(self, stream: str) -> Reading:
        """The counters now."""
        text = (await self.http.get("/metrics")).text
        cpu_s = float(text.split("\nprocess_cpu_seconds_total ")[1].split(maxsplit=1)[0])
        state = (await self.http.get(f"/v1/streams/{stream}")).json()
        return Reading(time.monotonic(), cpu_s, state)

    async def paced(self, band: Band, seconds: float, outcome: Outcome) -> None:
        """At a radio's pace, for so many seconds after it has settled."""
        sender = Sender(band)
        sender.start()
        stream = await self.open(sender.address)
        reading = asyncio.create_task(self.follow(stream, sender, outcome))
        await asyncio.sleep(SETTLE_S)
        outcome.latencies_s.clear()
        first = await self.read(stream)
        await asyncio.sleep(seconds)
        last = await self.read(stream)
        reading.cancel()
        sender.stopping.set()
        await asyncio.to_thread(sender.join)
        await self.judge(stream, band, outcome, sender.samples)
        outcome.pace = sender.pace
        passed, before = last.at - first.at, first.stream["attention"]["cpu_s"]
        outcome.cpu_share = (last.cpu_s - first.cpu_s) / passed
        for stage, cpu_s in last.stream["attention"]["cpu_s"].items():
            outcome.stages[stage] = (cpu_s - before.get(stage, 0.0)) / passed
        await self.http.delete(f"/v1/streams/{stream}")

    async def unpaced(self, file: Path, rate_hz: float, seconds: float, outcome: Outcome) -> None:
        """As fast as it goes: nothing is dropped or thinned, since a recording waits."""
        stream = await self.open(f"file:{file}?rate={rate_hz:.0f}&pace=fast&loop=1")
        await asyncio.sleep(SETTLE_S)
        first = await self.read(stream)
        await asyncio.sleep(seconds)
        last = await self.read(stream)
        samples = last.processed - first.processed
        outcome.highest_rate_hz = samples / (last.at - first.at)
        outcome.samples_per_cpu_s = samples / (last.cpu_s - first.cpu_s)
        await self.http.delete(f"/v1/streams/{stream}")

    async def open(self, source: str) -> str:
        """The stream of a source."""
        answer = await self.http.post("/v1/streams", json={"source": source})
        answer.raise_for_status()
        return str(answer.json()["id"])

    async def follow(self, stream: str, sender: Sender, outcome: Outcome) -> None:
        """Read every answer, and note how long after its last sample it came."""
        url = f"ws{self.base[4:]}/v1/streams/{stream}/live?hops=true"
        async with connect(url, max_size=None) as socket:
            async for text in socket:
                now, message = time.monotonic(), json.loads(text)
                hops = message["hops"] if message["type"] == "hops" else []
                outcome.latencies_s += [now - sender.left(hop["end"]) for hop in hops if hop["emission"]]

    async def judge(self, stream: str, band: Band, outcome: Outcome, sent: int) -> None:
        """What was found, and how many samples were lost: those too that are not there in time."""
        until = time.monotonic() + DRAIN_S
        while True:
            about = (await self.http.get(f"/v1/streams/{stream}")).json()
            samples = about["samples"]
            if samples["processed"] + sum(samples["dropped"].values()) >= sent or time.monotonic() > until:
                break
            await asyncio.sleep(0.1)
        outcome.dropped = sent - samples["processed"]
        outcome.thinned, outcome.answered = (about["attention"][name] for name in ("thinned", "answered"))
        page = (await self.http.get(f"/v1/streams/{stream}/emissions", params={"limit": 1000})).json()
        outcome.followed, outcome.family_right = band.judge(page["emissions"])
