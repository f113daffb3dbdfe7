"""Review: what was on the air over hours and days, how busy each part of the spectrum was, what is kept."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool

from service.routes.common import From, Hz, TheStation, To, as_ns
from service.routes.history import clean
from service.schemas.review import Activity, Occupancy, OccupancyCell, Review, Storage
from service.storage.review import Times, find_activity, find_edges, find_occupancy
from streaming.errors import ConfigError

router = APIRouter(prefix="/v1", tags=["review"])
StepS = Annotated[float, Query(ge=1, le=31 * 86_400, allow_inf_nan=False, description="seconds of a step")]
MOST_STEPS = 2000
DAY_NS = 86_400 * 10**9


def times(from_: From, to: To, step_s: float) -> Times:
    """The steps that a request asks for: of the last day where it does not say."""
    to_ns = time.time_ns() if to is None else as_ns(to)
    from_ns = to_ns - DAY_NS if from_ is None else as_ns(from_)
    if from_ns >= to_ns:
        raise ConfigError("`from` is not before `to`")
    asked = Times(from_ns, to_ns, round(step_s * 1e9))
    if asked.steps > MOST_STEPS:
        raise ConfigError(f"these are {asked.steps} steps; ask for {MOST_STEPS} at most, or for longer ones")
    return asked


def described(asked: Times) -> dict[str, Any]:
    """Steps of time, as answers have them."""
    step_s = asked.step_ns / 1e9
    return {"from_ns": asked.from_ns, "to_ns": asked.to_ns, "step_s": step_s, "steps": asked.steps}


@router.get("/streams/{stream_id}/review")
async def review(
    station: TheStation, stream_id: str, from_: From = None, to: To = None, step_s: StepS = 600
) -> Review:
    """How many emissions of which family began in each step of time; by default of the last day."""
    asked = times(from_, to, step_s)
    found = await run_in_threadpool(find_activity, station.reading, clean(stream_id), asked)
    activity = [Activity(step=step, name=name, emissions=count) for step, name, count in found]
    return Review(**described(asked), activity=activity)


@router.get("/streams/{stream_id}/occupancy")
async def occupancy(
    station: TheStation,
    stream_id: str,
    *,
    from_: From = None,
    to: To = None,
    step_s: StepS = 3600,
    f_low: Annotated[Hz | None, Query(description="where nothing is said, all that was heard")] = None,
    f_high: Annotated[Hz | None, Query()] = None,
    cells: Annotated[int, Query(ge=1, le=512, description="of frequency")] = 128,
) -> Occupancy:
    """How long something was on the air, by frequency and hour; by default of the last day."""
    asked, stream = times(from_, to, step_s), clean(stream_id)
    heard = await run_in_threadpool(find_edges, station.reading, stream, asked) or (0.0, 1.0)
    low, high = heard[0] if f_low is None else f_low, heard[1] if f_high is None else f_high
    if low >= high:
        raise ConfigError("f_low is not below f_high")
    found = await run_in_threadpool(find_occupancy, station.reading, stream, asked, (low, high), cells)
    return Occupancy(
        **described(asked),
        f_low=low,
        f_high=high,
        cells=cells,
        occupancy=[
            OccupancyCell(step=step, cell=cell, share=share) for (step, cell), share in sorted(found.items())
        ],
    )


@router.get("/storage")
async def storage(station: TheStation) -> Storage:
    """What is kept, how much room is left, and what had to go."""
    return await run_in_threadpool(station.retention.describe)
