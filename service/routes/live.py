"""Answers as they come: over a WebSocket, or the same messages as server-sent events.

Messages are JSON objects with a `type`: `report` (the answer, on change and each `report_ms`; a new reader
gets the latest one at once), `event` (a change that lasted), `gap` (samples were lost), `hops` (every hop, if
asked for), `missed` (how many messages this reader was too slow for), `emission` (one that is new, changed or
ended, as `GET /v1/streams/{id}/emissions` describes it). They end when the stream is deleted.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, WebSocket
from fastapi.responses import StreamingResponse
from starlette.websockets import WebSocketDisconnect

from service.live.hub import Subscriber
from service.routes.common import TheStation, TheStream, the_station
from service.station import Station

router = APIRouter(prefix="/v1", tags=["live"])
BEAT_S = 15.0  # then a comment goes out to readers of server-sent events, so that a dead one is noticed

Hops = Annotated[bool, Query(description="every hop, too")]


def topics(stream_id: str, hops: bool) -> list[str]:
    """What a reader of a stream reads."""
    return [f"{stream_id}/reports", *([f"{stream_id}/hops"] if hops else [])]


@router.websocket("/streams/{stream_id}/live")
async def live_socket(socket: WebSocket, stream_id: str, hops: Hops = False) -> None:
    """Reports of one stream."""
    station = the_station(socket)
    station.stream(stream_id)
    await socket.accept()
    with station.hub.subscribe(*topics(stream_id, hops)) as subscriber:
        check_alive(station, stream_id, subscriber)
        await serve(socket, subscriber)


@router.websocket("/events/live")
async def events_socket(socket: WebSocket) -> None:
    """Events of all streams."""
    await socket.accept()
    with the_station(socket).hub.subscribe("events") as subscriber:
        await serve(socket, subscriber)


def check_alive(station: Station, stream_id: str, subscriber: Subscriber) -> None:
    """Let a new reader go if the stream was deleted just before."""
    if stream_id not in station.runtime.streams:
        subscriber.close()


async def serve(socket: WebSocket, subscriber: Subscriber) -> None:
    """Send until one side leaves."""
    leaving = asyncio.create_task(until_gone(socket, subscriber))
    try:
        async for message in messages(subscriber):
            if message:
                await socket.send_text(message)
        if not leaving.done():
            await socket.close(1001)
    except (WebSocketDisconnect, RuntimeError):  # it left while we were sending
        return
    finally:
        leaving.cancel()


async def until_gone(socket: WebSocket, subscriber: Subscriber) -> None:
    """Wait until the reader leaves; whatever it sends is ignored."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
    subscriber.close()


async def messages(subscriber: Subscriber) -> AsyncIterator[str]:
    """What waits for a reader, and how many messages it missed; an empty one after `BEAT_S` without any."""
    reported = 0
    while True:
        try:
            waiting = await asyncio.wait_for(subscriber.get(), BEAT_S)
        except TimeoutError:
            yield ""
            continue
        if not waiting:
            return
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
    return StreamingResponse(
        sse(station, stream.id, hops), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def sse(station: Station, stream_id: str, hops: bool) -> AsyncIterator[str]:
    """Messages in the form of server-sent events."""
    with station.hub.subscribe(*topics(stream_id, hops)) as subscriber:
        check_alive(station, stream_id, subscriber)
        yield ": wavetell\n\n"
        async for message in messages(subscriber):
            yield f"data: {message}\n\n" if message else ": still here\n\n"
