"""Models: list, upload, put to use, roll back."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.concurrency import run_in_threadpool

from service.models.store import describe
from service.routes.common import TheStation
from service.schemas.models import Active, ModelAbout, Models

router = APIRouter(prefix="/v1/models", tags=["models"])
Name = Annotated[str, Path(max_length=64)]


@router.get("")
async def list_all(station: TheStation) -> Models:
    """Every model, and the order in which they were put to use."""
    return await run_in_threadpool(station.models.list)


@router.put(
    "/{name}",
    status_code=201,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload(request: Request, station: TheStation, name: Name) -> ModelAbout:
    """Keep a bundle under a new name; it is checked, and tried in a process of its own."""
    return describe(await run_in_threadpool(station.models.add, name, await request.body()))


@router.post("/rollback")
async def roll_back(station: TheStation) -> Active:
    """Put the model before this one to use again."""
    return Active(active=await run_in_threadpool(station.owner.roll_back))


@router.post("/{name}/activate")
async def activate(station: TheStation, name: Name) -> Active:
    """Put a model to use: it is warmed from what is kept, and every stream switches at one hop."""
    return Active(active=await run_in_threadpool(station.owner.activate, name))


@router.delete("/{name}", status_code=204)
async def remove(station: TheStation, name: Name) -> None:
    """Delete a model that was uploaded or fitted here and is not in use."""
    await run_in_threadpool(station.models.remove, name)
