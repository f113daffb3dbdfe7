"""Emissions of a stream: what is on the air now, and what was."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from service.routes.common import From, TheStation, To, as_ns
from service.routes.history import Cursor, Limit, clean
from service.schemas.emissions import StreamEmissions
from service.storage.queries import EmissionQuery, find_emissions
from streaming.quantities import FREQ_HZ, OFFSET_HZ

router = APIRouter(prefix="/v1", tags=["emissions"])
Name = Annotated[str, Query(max_length=100)]
# From a source's centre where its frequency is not known, and then it may be negative.
Hz = Annotated[float, Field(ge=OFFSET_HZ.least, le=FREQ_HZ.most, allow_inf_nan=False)]


@router.get("/streams/{stream_id}/emissions")
async def emissions(
    station: TheStation,
    stream_id: str,
    *,
    from_: From = None,
    to: To = None,
    f_low: Annotated[Hz | None, Query(description="some of it lies above")] = None,
    f_high: Annotated[Hz | None, Query(description="some of it lies below")] = None,
    label: Name = "",
    family: Name = "",
    state: Annotated[Literal["", "now", "past"], Query(description="on the air, or not any more")] = "",
    limit: Limit = 100,
    cursor: Cursor = "",
) -> StreamEmissions:
    """Emissions, those that began last first; also of streams that have been deleted."""
    query = EmissionQuery(
        stream=clean(stream_id),
        from_ns=None if from_ is None else as_ns(from_),
        to_ns=None if to is None else as_ns(to),
        f_low=f_low,
        f_high=f_high,
        label=clean(label),
        family=clean(family),
        state=state,
        limit=limit,
        cursor=cursor,
    )
    page = await run_in_threadpool(find_emissions, station.reading, query)
    return StreamEmissions(emissions=[row.describe() for row in page.rows], cursor=page.cursor)
