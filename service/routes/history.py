"""What was on the air: runs and events, page by page, and as SigMF annotations."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool

from service.routes.common import From, TheStation, TheStream, To, as_ns
from service.schemas.history import PastEvents, PastRuns
from service.schemas.sigmf import Metadata
from service.storage import sigmf
from service.storage.queries import Order, RunQuery, find_events, find_runs
from streaming.errors import ConfigError

router = APIRouter(prefix="/v1", tags=["history"])

Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str, Query(max_length=200, description="from the page before")]
Probability = Annotated[float, Query(ge=0, le=1)]
MOST = 10_000  # annotations in one answer


@router.get("/streams/{stream_id}/predictions")
async def predictions(
    station: TheStation,
    stream_id: str,
    *,
    from_: From = None,
    to: To = None,
    label: Annotated[str, Query(max_length=100)] = "",
    emission: Annotated[str, Query(max_length=100)] = "",
    min_probability: Probability = 0.0,
    max_probability: Probability = 1.0,
    order: Order = "newest",
    limit: Limit = 100,
    cursor: Cursor = "",
) -> PastRuns:
    """Runs of one answer, with when they were heard; also of streams that have been deleted."""
    query = RunQuery(
        stream=clean(stream_id),
        from_ns=None if from_ is None else as_ns(from_),
        to_ns=None if to is None else as_ns(to),
        label=clean(label),
        emission=clean(emission),
        min_probability=min_probability,
        max_probability=max_probability,
        order=order,
        limit=limit,
        cursor=cursor,
    )
    page = await run_in_threadpool(find_runs, station.reading, query)
    return PastRuns(predictions=[run.describe() for run in page.rows], cursor=page.cursor)


@router.get("/events")
async def events(
    station: TheStation,
    stream: Annotated[str, Query(max_length=100)] = "",
    limit: Limit = 100,
    cursor: Cursor = "",
) -> PastEvents:
    """Changes that lasted, newest first."""
    page = await run_in_threadpool(find_events, station.reading, clean(stream), limit, cursor)
    return PastEvents(events=[event.describe() for event in page.rows], cursor=page.cursor)


@router.get("/streams/{stream_id}/annotations", response_model_exclude_none=True)
async def annotations(station: TheStation, stream: TheStream, from_: From = None, to: To = None) -> Metadata:
    """SigMF metadata of a time range; samples are counted from the first annotation's."""
    query = RunQuery(
        stream.id,
        None if from_ is None else as_ns(from_),
        None if to is None else as_ns(to),
        order="oldest",
        limit=MOST,
    )
    runs = (await run_in_threadpool(find_runs, station.reading, query)).rows
    first = runs[0].start_sample if runs else 0
    notes = [sigmf.annotation(run, first) for run in runs]
    return sigmf.metadata(stream.rate_hz or 1.0, sigmf.captures(runs), notes)


def clean(text: str) -> str:
    """A text that a database can search for."""
    if not text.isprintable():
        raise ConfigError("the history holds no text with characters that are not printable")
    return text
