"""Labels that people give to stretches of a stream, and the heads that are fitted to them."""

from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Body, Path
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field

from service.routes.common import Span, TheStation
from service.schemas.fields import Text
from service.schemas.labels import Fitted, Label, Labels

router = APIRouter(prefix="/v1", tags=["teach"])


class NewLabel(Span):
    """A stretch of a stream and what it is; with `emission` that one alone, moved to zero and decimated."""

    stream: Text = Field(max_length=100)
    emission: Text | None = Field(None, max_length=100, description="where no stretch is named: all of it")
    label: str = Field(min_length=1, max_length=20, pattern=r"^[\w.+/-][\w .+/-]*$")


class WhatToFit(BaseModel):
    """Which streams get the new head; all if none are named."""

    model_config = ConfigDict(extra="forbid")

    streams: list[Annotated[Text, Field(max_length=100)]] | None = Field(None, max_length=1000)


@router.post("/labels", status_code=201)
async def add(
    station: TheStation,
    new: Annotated[NewLabel, Body(examples=[{"stream": "STREAM", "label": "OOK", "seconds": 0.2}])],
) -> Label:
    """Label a stretch: its I/Q is kept with its past, and is on disk once this answers."""
    stream = station.stream(new.stream)
    if new.emission is not None:
        span = new.samples(stream) if new.given else None
        return await run_in_threadpool(station.label_emission, stream, new.emission, span, new.label)
    return await run_in_threadpool(station.label, stream, new.samples(stream), new.label)


@router.get("/labels")
async def list_all(station: TheStation) -> Labels:
    """Every label, oldest first, and how many there are of each."""
    labels, broken = await run_in_threadpool(station.labels.read_all)
    return Labels(labels=labels, counts=Counter(label.label for label in labels), broken=broken)


@router.post("/heads/{name}/fit")
async def fit(
    station: TheStation,
    name: Annotated[str, Path(max_length=64)],
    wanted: Annotated[WhatToFit | None, Body(examples=[{}])] = None,
) -> Fitted:
    """Fit a head to all labels and answer with it, from one hop on; the model before can be rolled back to.

    `before` and `after` count windows by truth and answer, `after` on labels the head had not seen.
    """
    return await run_in_threadpool(station.owner.fit, name, wanted.streams if wanted else None)


@router.delete("/labels/{label_id}", status_code=204)
async def remove(station: TheStation, label_id: str) -> None:
    """Take a label back."""
    await run_in_threadpool(station.labels.remove, label_id)
