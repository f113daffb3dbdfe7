"""Answers as they come: over a WebSocket, or as server-sent events.

Messages are JSON objects with a `type`: `report` (the answer, on change and each `report_ms`), `event` (a
change that lasted), `gap` (samples were lost), `hops` (every hop, if asked for), `missed` (this reader was
too slow for so many).
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, WebSocket
from fastapi.responses import StreamingResponse
from starlette.websockets import WebSocketDisconnect

from service.live.hub import Hub, Subscriber
from service.routes.common import TheStation, TheStream, the_station

router = APIRouter(prefix="/v1", tags=["live"])
BEAT_S = 15.0  # a comment goes out, so that a dead reader is noticed

Hops = Annotated[bool, Query(description="every hop, too")]


def topics(stream_id: str, hops: bool) -> list[str]:
    """What a reader of a stream reads."""
    return [f"{stream_id}/reports", *([f"{stream_id}/hops"] if hops else [])]


@router.websocket("/streams/{stream_id}/live")
async def live_socket(socket: WebSocket, stream_id: str, hops: Hops = False) -> None:
    """Reports of one stream."""
    station = the_station(socket)
    latest = station.runtime.answers[station.stream(stream_id).id].latest
    await serve(socket, station.hub, topics(stream_id, hops), latest)


@router.websocket("/events/live")
async def events_socket(socket: WebSocket) -> None:
    """Events of all streams."""
    await serve(socket, the_station(socket).hub, ["events"], None)


async def serve(socket: WebSocket, hub: Hub, topics: list[str], first: dict[str, Any] | None) -> None:
    """Send until one side leaves."""
    await socket.accept()
    subscriber = hub.subscribe(*topics)
    if first:
        subscriber.put(json.dumps(first))
    leaving = asyncio.create_task(until_gone(socket, subscriber))
    try:
        async for message in messages(subscriber):
            await socket.send_text(message)
        if not leaving.done():
            await socket.close(1001)
    except (WebSocketDisconnect, RuntimeError):  # it left while we were sending
        return
    finally:
        hub.leave(subscriber)
        leaving.cancel()


async def until_gone(socket: WebSocket, subscriber: Subscriber) -> None:
    """Wait until the reader leaves; whatever it says is ignored."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
    subscriber.close()


async def messages(subscriber: Subscriber) -> AsyncIterator[str]:
    """What waits for a reader, and what it was too slow for."""
    reported = 0
    while waiting := await subscriber.get():
        if subscriber.missed > reported:
            yield json.dumps({"type": "missed", "messages": subscriber.missed - reported})
            reported = subscriber.missed
        for message in waiting:
            yield message


@router.get(
    "/streams/{stream_id}/live",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def live_events(station: TheStation, stream: TheStream, hops: Hops = False) -> StreamingResponse:
    """Reports of one stream as server-sent events; a WebSocket on the same path gives the same messages."""
    subscriber = station.hub.subscribe(*topics(stream.id, hops))
    return StreamingResponse(
        sse(station.hub, subscriber), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def sse(hub: Hub, subscriber: Subscriber) -> AsyncIterator[str]:
    """Messages in the form of server-sent events."""
    try:
        yield ": wavetell\n\n"
        while not subscriber.closed:
            try:
                waiting = await asyncio.wait_for(subscriber.get(), BEAT_S)
            except TimeoutError:
                yield ": still here\n\n"
                continue
            for message in waiting:
                yield f"data: {message}\n\n"
    finally:
        hub.leave(subscriber)
