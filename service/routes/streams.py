"""Streams: create one from a source's address, look at it, retune, pause and delete it."""

from typing import Annotated, Literal

from fastapi import APIRouter, Body
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field

from service.live.streams import Stream
from service.routes.common import TheStation, TheStream
from service.schemas.streams import Kept, Samples, StreamState
from service.station import Station
from service.web.allowed_sources import check_source
from streaming.prediction import utc_text

router = APIRouter(prefix="/v1/streams", tags=["streams"])


class NewStream(BaseModel):
    """A source to listen to."""

    model_config = ConfigDict(extra="forbid")

    source: str = Field(max_length=500, description="a source address")
    name: str = Field("", max_length=100, description="what people call it")
    head: str = Field("", max_length=100, description="empty means the model's first that fits")


class Change(BaseModel):
    """What to change; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    state: Literal["running", "paused"] | None = None
    freq_hz: float | None = Field(None, gt=0, le=1e12)
    gain: float | Literal["auto"] | None = None
    head: str | None = Field(None, max_length=100)


def describe(station: Station, stream: Stream) -> StreamState:
    """The stream, its head and its newest answer."""
    source, received, counts = stream.source, stream.received, stream.counts
    first, last = stream.ring.span
    answers = station.runtime.answers.get(stream.id)
    head = answers.head if answers else None
    return StreamState(
        id=stream.id,
        name=stream.name,
        source=stream.address,
        state=stream.state,
        error=stream.error,
        created=utc_text(stream.created_ns),
        rate_hz=stream.rate_hz,
        freq_hz=source.freq_hz if source else None,
        inferred=source.inferred if source else "",
        loss=source.loss if source else "",
        samples=Samples(
            received=received.samples,
            processed=counts.processed,
            skipped=counts.skipped,
            dropped=dict(counts.dropped),
            lost=dict(received.lost),
            lost_estimated=dict(received.lost_estimated),
            gaps=counts.gaps,
        ),
        events=dict(received.events),
        lag_ms=round(1000 * (stream.lag_s + received.lag_s), 3),
        queued=stream.queued,
        kept=Kept(start=first, end=last),
        head=head.name if head else "",
        classes=list(head.classes) if head else [],
        window=head.window if head else 0,
        hop=head.hop if head else 0,
        hops=dict(counts.labels),
        latest=answers.latest if answers else None,
        real_time_factor=round(station.runtime.real_time_factor, 3),
    )


@router.post("", status_code=201)
async def create(
    station: TheStation,
    new: Annotated[NewStream, Body(examples=[{"source": "tone:?rate=48k", "name": "a tone"}])],
) -> StreamState:
    """Open a source and listen to it."""
    check_source(new.source, station.values, station.data)
    stream = await run_in_threadpool(
        station.create, new.source, new.name or new.source, new.head, lasting=True
    )
    return describe(station, stream)


@router.get("")
async def list_all(station: TheStation) -> list[StreamState]:
    """Every stream."""
    return [describe(station, stream) for stream in list(station.runtime.streams.values())]


@router.get("/{stream_id}")
async def inspect(station: TheStation, stream: TheStream) -> StreamState:
    """One stream, with its newest answer."""
    return describe(station, stream)


@router.patch("/{stream_id}")
async def change(
    station: TheStation, stream: TheStream, change: Annotated[Change, Body(examples=[{"state": "paused"}])]
) -> StreamState:
    """Retune, pause, go on, or answer with another head."""
    await run_in_threadpool(apply, station, stream, change)
    return describe(station, stream)


def apply(station: Station, stream: Stream, change: Change) -> None:
    """Make the changes, in the order in which they make sense."""
    if change.state == "paused" and stream.state == "running":
        stream.pause()
    if change.state == "running" and stream.state != "running":
        stream.start()
    if change.freq_hz is not None or change.gain is not None:
        stream.retune(change.freq_hz, change.gain)
    if change.head is not None:
        station.use_head(stream, change.head)


@router.delete("/{stream_id}", status_code=204)
async def delete(station: TheStation, stream: TheStream) -> None:
    """Close and remove a stream; its history stays."""
    await run_in_threadpool(station.remove, stream)
