"""Spectra and raw points of a stream, as binary frames (`service.spectrum` says what is in one)."""

import asyncio
import time
from contextlib import suppress
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Response, WebSocket
from fastapi.concurrency import run_in_threadpool
from starlette.websockets import WebSocketDisconnect

from service.routes.common import TheStream, the_station
from service.spectrum import frame, rows
from service.streams import Stream
from streaming.errors import ConfigError

router = APIRouter(prefix="/v1/streams/{stream_id}/spectrum", tags=["spectrum"])
FASTEST = 60.0  # frames a second

Bins = Annotated[int, Query(ge=16, le=4096)]
Points = Annotated[int, Query(ge=0, le=4096)]


class Pace:
    """Frames a second, as the reader last said."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.changed = asyncio.Event()
        self.gone = False

    async def listen(self, socket: WebSocket) -> None:
        """Follow what the reader says: a number is a new rate, 0 pauses."""
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                self.gone = True
                self.changed.set()
                return
            try:
                self.rate = min(FASTEST, max(0.0, float(message.get("text") or "nan")))
            except ValueError:
                await socket.close(1003, "say frames a second as a number")
                return
            self.changed.set()

    async def wait(self, since: float) -> None:
        """Wait until the next frame is due, or something changes."""
        self.changed.clear()
        due = None if self.rate <= 0 else max(0.0, since + 1 / self.rate - time.monotonic())
        with suppress(TimeoutError):
            await asyncio.wait_for(self.changed.wait(), due)


@router.websocket("")
async def spectrum_socket(
    socket: WebSocket,
    stream_id: str,
    rate: Annotated[float, Query(ge=0, le=FASTEST)] = 20.0,
    bins: Bins = 1024,
    points: Points = 512,
) -> None:
    """Frames at the reader's pace: `rate` a second, and whatever number it sends later is the new rate."""
    station = the_station(socket)
    stream = station.stream(stream_id)
    await socket.accept()
    pace = Pace(rate)
    listening = asyncio.create_task(pace.listen(socket))
    seen = stream.ring.span[1]
    try:
        while not pace.gone and stream.id in station.runtime.streams and not station.hub.closing:
            began = time.monotonic()
            if pace.rate > 0:
                made, seen = await run_in_threadpool(next_frame, stream, seen, bins, points)
                if made:
                    await socket.send_bytes(made)
            await pace.wait(began)
        if not pace.gone:
            await socket.close(1001)
    except (WebSocketDisconnect, RuntimeError):  # it left while we were sending
        return
    finally:
        listening.cancel()


def next_frame(stream: Stream, seen: int, bins: int, points: int) -> tuple[bytes | None, int]:
    """The frame of what came since sample `seen`, at most a second of it, and the sample to go on from."""
    end = stream.ring.span[1]
    blocks = stream.ring.blocks(max(seen, end - round(stream.rate_hz)), end)
    if not blocks:
        return None, seen
    got = sum(len(block.samples) for block in blocks)
    return frame(blocks, bins, points, lost=max(0, end - seen - got)), end


@router.get("", response_class=Response, responses={200: {"content": {"application/octet-stream": {}}}})
async def spectrum_rows(
    stream: TheStream,
    *,
    start: Annotated[int, Query(ge=0, le=2**62)],
    end: Annotated[int, Query(ge=0, le=2**62)],
    count: Annotated[int, Query(ge=1, le=2000, description="frames over the stretch")] = 100,
    bins: Bins = 1024,
    points: Points = 0,
) -> Response:
    """A stretch of what is kept as frames one after the other, for scrolling back."""
    if end <= start:
        raise ConfigError(f"the stretch ends at sample {end}, before it begins at {start}")
    first, last = stream.ring.span
    make = partial(
        rows, stream.ring, max(start, first), min(end, last), count=count, bins=bins, points=points
    )
    frames = await run_in_threadpool(make)
    return Response(b"".join(frames), media_type="application/octet-stream")
