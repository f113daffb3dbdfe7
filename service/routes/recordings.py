"""Recordings: keep a stretch of a stream, download it, play it again."""

from typing import Annotated, Literal

from fastapi import APIRouter, Body
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, StreamingResponse
from pydantic import Field

from service.routes.common import Span, TheStation, TheStream
from service.schemas.fields import Real, Text
from service.schemas.recordings import NewId, Recording
from streaming.errors import ConfigError

router = APIRouter(prefix="/v1", tags=["recordings"])


class NewRecording(Span):
    """What to record: a stretch that is still kept, or the next seconds.

    With `emission` that one alone, moved to zero and decimated; all that is kept of it where no stretch is
    named.
    """

    emission: Text | None = Field(None, max_length=100)

    next_seconds: Real | None = Field(None, gt=0, le=3600, allow_inf_nan=False)


@router.post("/streams/{stream_id}/recordings", status_code=201)
async def record(
    station: TheStation, stream: TheStream, new: Annotated[NewRecording, Body(examples=[{"seconds": 0.1}])]
) -> NewId:
    """Record a stretch that is still kept, or start to record what comes."""
    if new.emission is not None:
        if new.next_seconds is not None:
            raise ConfigError("an emission is recorded from what is kept; leave next_seconds out")
        span = new.samples(stream) if new.given else None
        recording = await run_in_threadpool(station.record_emission, stream, new.emission, span)
    elif new.next_seconds is not None:
        recording = await run_in_threadpool(station.record, stream, new.next_seconds)
    else:
        recording = await run_in_threadpool(station.recordings.save, stream, new.samples(stream))
    return NewId(id=recording)


@router.get("/recordings")
async def list_all(station: TheStation) -> list[Recording]:
    """Every recording."""
    return await run_in_threadpool(station.recordings.list)


@router.post("/recordings/{recording}/finish")
async def finish(station: TheStation, recording: str) -> Recording:
    """End a recording that is being made."""
    await run_in_threadpool(station.recordings.finish, recording)
    return await run_in_threadpool(station.recordings.describe, recording)


@router.get("/recordings/{recording}", response_class=StreamingResponse)
async def download(station: TheStation, recording: str) -> StreamingResponse:
    """The recording as a SigMF archive."""
    station.recordings.path(recording, "sigmf-meta")
    name = f'attachment; filename="{recording}.sigmf"'
    return StreamingResponse(
        station.recordings.archive(recording),
        media_type="application/x-tar",
        headers={"Content-Disposition": name},
    )


@router.get("/recordings/{recording}/{kind}", response_class=FileResponse)
async def download_file(
    station: TheStation, recording: str, kind: Literal["sigmf-meta", "sigmf-data"]
) -> FileResponse:
    """One file of the SigMF pair."""
    path = station.recordings.path(recording, kind)
    media = "application/json" if kind == "sigmf-meta" else "application/octet-stream"
    return FileResponse(path, media_type=media, filename=path.name)


@router.delete("/recordings/{recording}", status_code=204)
async def remove(station: TheStation, recording: str) -> None:
    """Delete a recording."""
    await run_in_threadpool(station.recordings.remove, recording)
