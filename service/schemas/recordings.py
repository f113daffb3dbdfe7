"""Recordings in the data folder."""

from pydantic import Field

from service.schemas.schema import Schema


class NewId(Schema):
    """What was made."""

    id: str


class Recording(Schema):
    """A recording."""

    id: str
    running: bool
    description: str
    time: str | None
    freq_hz: float | None
    rate_hz: float
    samples: int
    gaps: int
    labels: list[str]
    source: str = Field(description="plays it again")
