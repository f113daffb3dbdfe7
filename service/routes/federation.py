"""The federation as this machine knows it."""

from pathlib import Path

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool

from service.federation import folders
from service.routes.common import TheStation
from service.schemas.federation import Federation
from service.settings import listed

router = APIRouter(prefix="/v1/federation", tags=["federation"])


@router.get("")
async def state(station: TheStation) -> Federation:
    """Runs that are coordinated here, with stations, rounds, loss, accuracy; and this station's part."""
    watched = [Path(name).expanduser() for name in listed(station.values.federation)]
    return await run_in_threadpool(folders.describe, watched)
