"""Streams: create one from a source's address, look at it, retune, pause and delete it."""

import logging
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Body
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field

from hardware.plan import Plan
from service.demo import BAND
from service.live.streams import Stream
from service.routes.common import TheStation, TheStream
from service.schemas.fields import FreqHz, GainDb, Text, one_line
from service.schemas.streams import Attention, FrequencyPlan, Kept, Samples, StreamState
from service.station import Station
from service.web.allowed_sources import check_source
from streaming.band.pipeline import BandPipeline
from streaming.pipeline import LivePipeline
from streaming.prediction import utc_text

log = logging.getLogger(__name__)
router = APIRouter(prefix="/v1/streams", tags=["streams"])
DEMO = f"file:{BAND}?pace=realtime&loop=1"


class NewStream(BaseModel):
    """A source to listen to."""

    model_config = ConfigDict(extra="forbid")

    source: Text = Field(max_length=500, description="a source address; `demo`: the shipped band")
    name: Text = Field("", max_length=100, description="what people call it")
    head: Text = Field("", max_length=100, description="empty means the model's first that fits")
    plan: FrequencyPlan | None = Field(None, description="the radio is retuned step by step")


class Change(BaseModel):
    """What to change; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    state: Literal["running", "paused"] | None = None
    freq_hz: FreqHz | None = None
    gain: GainDb | Literal["auto"] | None = None
    head: Text | None = Field(None, max_length=100)


def describe(station: Station, stream: Stream) -> StreamState:
    """The stream; one that cannot be described says why, and the others are listed and it can be deleted."""
    try:
        return state_of(station, stream)
    except Exception as error:
        log.exception("stream %s", stream.id)
        return StreamState(
            id=stream.id,
            name=one_line(stream.name),
            source=one_line(stream.address),
            state="failed",
            error=one_line(f"it cannot be described: {error!r}"),
            created=utc_text(stream.created_ns),
        )


def state_of(station: Station, stream: Stream) -> StreamState:
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
        plan=FrequencyPlan(**asdict(stream.plan)) if stream.plan else None,
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
        families=head.names.family_of if head else {},
        window=head.window if head else 0,
        hop=head.hop if head else 0,
        hops=dict(counts.labels),
        latest=answers.latest if answers else None,
        attention=attention(station.runtime.pipelines.get(stream.id)),
        real_time_factor=round(station.runtime.load.real_time_factor, 3),
    )


def attention(pipeline: LivePipeline | None) -> Attention | None:
    """What a band's pipeline follows and answers."""
    if not isinstance(pipeline, BandPipeline):
        return None
    given, book = pipeline.attention, pipeline.book
    return Attention(
        followed=book.followed,
        heard=pipeline.emission,
        refused=pipeline.band.refused,
        short=book.short,
        answered=given.answered,
        thinned=given.thinned,
        unjudged=given.unjudged,
        cpu_s={stage: round(seconds, 3) for stage, seconds in pipeline.stages.copy().items()},
    )


@router.post("", status_code=201)
async def create(
    station: TheStation,
    new: Annotated[NewStream, Body(examples=[{"source": "tone:?rate=48k", "name": "a tone"}])],
) -> StreamState:
    """Open a source and listen to it."""
    source = DEMO if new.source == "demo" else new.source
    if source is not DEMO:
        check_source(source, station.values, station.data)
    plan = Plan(**new.plan.model_dump()) if new.plan else None
    stream = await run_in_threadpool(
        station.create, source, new.name or new.source, new.head, lasting=True, plan=plan
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
