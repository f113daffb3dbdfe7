"""Listen to one emission: sound over a WebSocket.

The first message is JSON: `rate_hz` and `mode`. Then come binary ones: 16-bit samples, little-endian.
"""

import asyncio
import json
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query, WebSocket
from fastapi.concurrency import run_in_threadpool
from starlette.websockets import WebSocketDisconnect

from service.errors import NotFound
from service.live.audio import Demodulator, Mode
from service.live.streams import Stream
from service.routes.common import the_station
from service.routes.history import clean

router = APIRouter(prefix="/v1/streams/{stream_id}/emissions", tags=["emissions"])
BEGIN_S = 0.3  # of what is kept, so that the sound starts at once
EVERY_S = 0.1
LATE_S = 2.0  # a reader that is behind by more goes on with the newest


@router.websocket("/{emission}/audio")
async def listen(
    socket: WebSocket,
    stream_id: str,
    emission: str,
    mode: Annotated[Mode, Query(description="how it is demodulated")] = "fm",
) -> None:
    """The sound of an emission's channel, from now on."""
    station = the_station(socket)
    stream = station.stream(stream_id)
    row = await run_in_threadpool(station.emission, stream, clean(emission))
    await socket.accept()
    sound = Demodulator(row.rate_hz, (row.box.lower, row.box.upper), mode)
    leaving = asyncio.create_task(until_gone(socket))
    try:
        await socket.send_text(json.dumps({"rate_hz": sound.rate_hz, "mode": mode}))
        at = stream.ring.span[1] - round(BEGIN_S * row.rate_hz)
        while not leaving.done() and not station.hub.closing and alive(station.runtime.streams, stream):
            at, piece = await run_in_threadpool(more, stream, sound, at, row.rate_hz)
            if piece:
                await socket.send_bytes(piece)
            await asyncio.wait([leaving], timeout=EVERY_S)
        if not leaving.done():
            await socket.close(1001)
    except (WebSocketDisconnect, RuntimeError, NotFound):  # it left while we were sending
        return
    finally:
        leaving.cancel()


def alive(streams: dict[str, Stream], stream: Stream) -> bool:
    """Whether more may come of a stream."""
    return stream.id in streams and stream.state == "running"


async def until_gone(socket: WebSocket) -> None:
    """Wait until the reader leaves; whatever it sends is ignored."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


def more(stream: Stream, sound: Demodulator, at: int, rate_hz: float) -> tuple[int, bytes]:
    """What came since sample `at`, as sound, and up to where."""
    end = stream.ring.span[1]
    at = max(at, end - round(LATE_S * rate_hz))
    pieces = [sound.push(block.samples) for block in stream.ring.blocks(at, end) if block.rate_hz == rate_hz]
    heard = np.concatenate(pieces) if pieces else np.empty(0, np.float32)
    return end, (heard * 32_767).astype("<i2").tobytes()
