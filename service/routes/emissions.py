"""Emissions of a stream: what is on the air now, and what was; each in its own channel, and all as files."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from service.live.emissions import EmissionRow
from service.live.spectrum import frame
from service.routes.common import From, Hz, TheStation, TheStream, To, as_ns
from service.routes.history import Cursor, Limit, clean
from service.schemas.emissions import (
    AlikeEmission,
    AlikeEmissions,
    StreamEmission,
    StreamEmissions,
    UncertainEmissions,
)
from service.storage import exports
from service.storage.queries import EmissionQuery, Sort, every_emission, find_emission, find_emissions
from streaming.quantities import SNR_DB

router = APIRouter(prefix="/v1/streams/{stream_id}/emissions", tags=["emissions"])
Name = Annotated[str, Query(max_length=100)]
MOST = 200_000  # emissions in one file
PAGE = 1000  # of them that are read at a time


def asked(
    stream_id: str,
    *,
    from_: From = None,
    to: To = None,
    f_low: Annotated[Hz | None, Query(description="some of it lies above")] = None,
    f_high: Annotated[Hz | None, Query(description="some of it lies below")] = None,
    label: Name = "",
    family: Name = "",
    state: Annotated[Literal["", "now", "past"], Query(description="on the air, or not any more")] = "",
    min_snr_db: Annotated[float | None, Query(ge=SNR_DB.least, le=SNR_DB.most, allow_inf_nan=False)] = None,
    min_duty: Annotated[float | None, Query(ge=0, le=1, allow_inf_nan=False)] = None,
    min_bursts: Annotated[int | None, Query(ge=0, le=10**9)] = None,
    sort: Annotated[
        Sort, Query(description="by when it was first or last heard, or by what it is")
    ] = "first",
    descending: bool = True,
) -> EmissionQuery:
    """What a request asks for."""
    return EmissionQuery(
        stream=clean(stream_id),
        from_ns=None if from_ is None else as_ns(from_),
        to_ns=None if to is None else as_ns(to),
        f_low=f_low,
        f_high=f_high,
        label=clean(label),
        family=clean(family),
        state=state,
        min_snr_db=min_snr_db,
        min_duty=min_duty,
        min_bursts=min_bursts,
        sort=sort,
        descending=descending,
        limit=PAGE,
    )


Asked = Annotated[EmissionQuery, Depends(asked)]


@router.get("")
async def emissions(
    station: TheStation, query: Asked, limit: Limit = 100, cursor: Cursor = ""
) -> StreamEmissions:
    """Emissions, those that began last first unless `sort` says otherwise; also of deleted streams."""
    wanted = replace(query, limit=limit, cursor=cursor)
    page = await run_in_threadpool(find_emissions, station.reading, wanted)
    return StreamEmissions(emissions=[row.describe() for row in page.rows], cursor=page.cursor)


@router.get(
    "/download",
    response_class=StreamingResponse,
    responses={200: {"content": {media: {} for media, _ in exports.FORMATS.values()}}},
)
async def download(
    station: TheStation, query: Asked, format_: Annotated[exports.Format, Query(alias="format")] = "csv"
) -> StreamingResponse:
    """The same emissions as a file: CSV, JSON lines, or SigMF annotations of the stream's newest run."""
    media, suffix = exports.FORMATS[format_]
    rows = every_emission(station.reading, query, MOST)
    first = await run_in_threadpool(next, rows, None)  # a database that is away is an error, not half a file
    found: Iterator[EmissionRow] = chain([first] if first else [], rows)
    return StreamingResponse(
        exports.write(format_, found),
        media_type=media,
        headers={"Content-Disposition": f'attachment; filename="emissions.{suffix}"'},
    )


@router.get("/uncertain")
async def uncertain(
    station: TheStation, stream: TheStream, limit: Annotated[int, Query(ge=1, le=100)] = 10
) -> UncertainEmissions:
    """What to name next: emissions whose samples are kept and that have no label, the least certain first.

    They are grouped by likeness, so that one name may label a group.
    """

    def find() -> list[list[EmissionRow]]:
        labelled = {label.emission for label in station.labels.list() if label.emission}
        since_ns = stream.heard_ns(stream.ring.span[0])
        return station.likeness().find_uncertain(stream.id, since_ns, labelled, limit)

    groups = await run_in_threadpool(find)
    return UncertainEmissions(groups=[[row.describe() for row in group] for group in groups])


@router.get("/{emission}")
async def one(station: TheStation, stream_id: str, emission: str) -> StreamEmission:
    """One emission; also of a stream that has been deleted."""
    row = await run_in_threadpool(find_emission, station.reading, clean(stream_id), clean(emission))
    return row.describe()


@router.get("/{emission}/alike")
async def alike(
    station: TheStation,
    stream_id: str,
    emission: str,
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> AlikeEmissions:
    """Emissions of the stream's history that look like this one to the encoder, the most alike first."""
    find = station.likeness().find_alike
    found = await run_in_threadpool(find, clean(stream_id), clean(emission), limit)
    return AlikeEmissions(
        alike=[AlikeEmission(emission=row.describe(), likeness=value) for row, value in found]
    )


@router.get(
    "/{emission}/spectrum",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
async def spectrum(
    station: TheStation,
    stream: TheStream,
    emission: str,
    *,
    seconds: Annotated[float, Query(gt=0, le=2, allow_inf_nan=False, description="its newest")] = 0.25,
    bins: Annotated[int, Query(ge=16, le=4096)] = 256,
    points: Annotated[int, Query(ge=0, le=4096)] = 1024,
) -> Response:
    """Spectrum and samples of one emission in its own channel, as one frame of the spectrum has them."""
    block = await run_in_threadpool(station.clip_emission, stream, clean(emission), seconds)
    return Response(frame([block], bins, points), media_type="application/octet-stream")
