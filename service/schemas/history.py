"""Runs and events in the history, and SigMF metadata made of them."""

from typing import Any, Literal

from pydantic import Field

from service.schemas.schema import Schema


class PastRun(Schema):
    """A run of one answer in the history."""

    id: str
    stream: str
    from_: str = Field(alias="from")
    to: str
    start: int
    end: int
    label: str
    probability: float
    lowest: float
    probabilities: dict[str, float]
    hops: int
    past: str
    family: str | None = None
    snr_db: float | None
    bandwidth_hz: float | None = None
    offset_hz: float | None = None
    rate_hz: float
    freq_hz: float | None
    sha256: str


class PastRuns(Schema):
    """A page of runs."""

    predictions: list[PastRun]
    cursor: str = Field(description="to the next page; empty at the end")


class PastEvent(Schema):
    """A change that lasted."""

    type: Literal["event"]
    id: str
    stream: str
    name: str
    since: str
    label: str
    previous: str
    probability: float
    family: str | None = None
    snr_db: float | None
    bandwidth_hz: float | None = None
    offset_hz: float | None = None
    freq_hz: float | None
    start: int


class PastEvents(Schema):
    """A page of events."""

    events: list[PastEvent]
    cursor: str = Field(description="to the next page; empty at the end")


class Metadata(Schema):
    """SigMF metadata."""

    global_: dict[str, Any] = Field(alias="global")
    captures: list[dict[str, Any]]
    annotations: list[dict[str, Any]]
