"""Spectra and raw points of a stream, as binary frames (`service.live.spectrum` says what is in one)."""

import asyncio
import time
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Query, Response, WebSocket
from fastapi.concurrency import run_in_threadpool
from starlette.websockets import WebSocketDisconnect

from service.live.emissions import EmissionRow
from service.live.spectrum import frame, rows
from service.live.streams import Stream
from service.routes.common import TheStation, TheStream, the_station
from service.schemas.fields import Index
from service.station import Station
from service.storage.queries import EmissionQuery, find_emissions
from streaming.errors import ConfigError

router = APIRouter(prefix="/v1/streams/{stream_id}/spectrum", tags=["spectrum"])
FASTEST = 60.0  # frames per second
MORE = 1.1  # a frame covers somewhat more than its time, so that what waits becomes less
BURST_S = 0.6  # that may wait: many radios hand over their samples in bursts
SEEN = "seen"
MOST_BOXES = 1000  # emissions of a stretch

Bins = Annotated[int, Query(ge=16, le=4096)]
Points = Annotated[int, Query(ge=0, le=4096)]
Ahead = Annotated[
    int | None,
    Query(ge=1, le=10_000, description="frames that may be on their way; the reader says `seen` to each"),
]


Boxes = Annotated[bool, Query(description="the emissions in each frame, too")]


class Pace:
    """Frames per second that the reader last asked for, and how many it has not acknowledged."""

    def __init__(self, rate: float, ahead: int | None) -> None:
        self.rate, self.ahead = rate, ahead
        self.unseen = 0
        self.changed = asyncio.Event()
        self.gone = False

    async def listen(self, socket: WebSocket) -> None:
        """Follow what the reader says: `seen` for each frame, or a number, the new rate; 0 pauses."""
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                self.gone = True
                self.changed.set()
                return
            said = message.get("text")
            try:
                if said == SEEN:
                    self.unseen = max(0, self.unseen - 1)
                else:
                    self.rate = min(FASTEST, max(0.0, float(said or "nan")))
            except ValueError:
                await socket.close(1003, f"send {SEEN}, or frames per second as a number")
                return
            self.changed.set()

    async def wait(self, since: float) -> None:
        """Wait until the next frame is due and wanted."""
        while not self.gone:
            held = self.rate <= 0 or (self.ahead is not None and self.unseen >= self.ahead)
            due = None if held else since + 1 / self.rate - time.monotonic()
            if due is not None and due <= 0:
                return
            self.changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), due)


@router.websocket("")
async def spectrum_socket(
    socket: WebSocket,
    stream_id: str,
    rate: Annotated[float, Query(ge=0, le=FASTEST)] = 20.0,
    bins: Bins = 1024,
    points: Points = 512,
    ahead: Ahead = None,
    boxes: Boxes = False,
) -> None:
    """Frames at the reader's pace: `rate` per second, and any number that it sends later is the new rate.

    One that may fall behind sets `ahead`. Otherwise megabytes of old frames wait for it in the connection,
    and its answers to pings behind them, until it seems to be gone.
    """
    station = the_station(socket)
    stream = station.stream(stream_id)
    await socket.accept()
    pace = Pace(rate, ahead)
    listening = asyncio.create_task(pace.listen(socket))
    seen = stream.ring.span[1]
    began = time.monotonic()
    try:
        while True:
            await pace.wait(began)
            if pace.gone or stream.id not in station.runtime.streams or station.hub.closing:
                break
            began = time.monotonic()
            answers = station.runtime.answers.get(stream.id)
            on_air = list(answers.on_air.values()) if boxes and answers else [] if boxes else None
            made, seen = await run_in_threadpool(next_frame, stream, seen, pace.rate, bins, points, on_air)
            if made:
                pace.unseen += 1
                await socket.send_bytes(made)
        if not pace.gone:
            await socket.close(1001)
    except (WebSocketDisconnect, RuntimeError):  # it left while we were sending
        return
    finally:
        listening.cancel()


def next_frame(
    stream: Stream, seen: int, rate: float, bins: int, points: int, emissions: list[EmissionRow] | None
) -> tuple[bytes | None, int]:
    """The frame after sample `seen`, and the sample to go on from; none before there is enough for one.

    However the samples come, frames go on evenly. One that comes late covers all that waited, as the spectrum
    of its last second.
    """
    newest, second = stream.ring.span[1], stream.rate_hz
    wanted = min(second, MORE * second / rate)
    if newest - seen < wanted:
        return None, seen
    end = round(max(seen + wanted, newest - BURST_S * second))
    covered = stream.ring.blocks(seen, end)
    shown = stream.ring.blocks(max(seen, round(end - second)), end)
    if not shown:
        return None, seen
    lost = end - seen - sum(len(block.samples) for block in covered)
    return frame(shown, bins, points, lost, covered[0], emissions), end


@router.get("", response_class=Response, responses={200: {"content": {"application/octet-stream": {}}}})
async def spectrum_rows(
    station: TheStation,
    stream: TheStream,
    *,
    start: Index,
    end: Index,
    count: Annotated[int, Query(ge=1, le=2000, description="frames over the stretch")] = 100,
    bins: Bins = 1024,
    points: Points = 0,
    boxes: Boxes = False,
) -> Response:
    """A stretch of what is kept as frames one after the other, for scrolling back."""
    if end <= start:
        raise ConfigError(f"the stretch ends at sample {end}, before it begins at {start}")
    frames = await run_in_threadpool(
        make_rows, station, stream, (start, end), count=count, bins=bins, points=points, boxes=boxes
    )
    return Response(b"".join(frames), media_type="application/octet-stream")


def make_rows(
    station: Station,
    stream: Stream,
    span: tuple[int, int],
    *,
    count: int,
    bins: int,
    points: int,
    boxes: bool,
) -> list[bytes]:
    """The frames of what is kept of a stretch, with the emissions of that time if they are wanted."""
    first, last = stream.ring.span
    start, end = max(span[0], first), min(span[1], last)
    emissions = None
    if boxes:
        query = EmissionQuery(stream.id, stream.heard_ns(start), stream.heard_ns(end), limit=MOST_BOXES)
        emissions = find_emissions(station.reading, query).rows
    return rows(stream.ring, start, end, count=count, bins=bins, points=points, emissions=emissions)
