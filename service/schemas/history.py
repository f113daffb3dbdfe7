"""Runs and events in the history."""

from typing import Literal

from pydantic import Field

from service.schemas.answers import Emission
from service.schemas.schema import Rounded, Schema, Utc


class PastRun(Emission):
    """A run of one answer in the history; made from a `Run`."""

    id: str
    stream: str
    from_: Utc = Field(validation_alias="from_ns", serialization_alias="from")
    to: Utc = Field(validation_alias="to_ns")
    start: int = Field(validation_alias="start_sample")
    end: int = Field(validation_alias="end_sample")
    lowest: Rounded = Field(description="probability of its reports")
    probabilities: dict[str, Rounded]
    hops: int
    past: str
    rate_hz: float
    freq_hz: float | None
    sha256: str


class PastRuns(Schema):
    """A page of runs."""

    predictions: list[PastRun]
    cursor: str = Field(description="to the next page; empty at the end")


class PastEvent(Emission):
    """A change that lasted; made from an `Event`."""

    type: Literal["event"] = "event"
    id: str
    stream: str
    name: str
    since: Utc = Field(validation_alias="since_ns")
    previous: str
    freq_hz: float | None
    start: int = Field(validation_alias="start_sample")


class PastEvents(Schema):
    """A page of events."""

    events: list[PastEvent]
    cursor: str = Field(description="to the next page; empty at the end")
