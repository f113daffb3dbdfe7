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
    description: str = ""
    time: str | None = None
    freq_hz: float | None = None
    rate_hz: float = 0.0
    samples: int = 0
    gaps: int = 0
    labels: list[str] = Field(default_factory=list)
    source: str = Field(description="plays it again")
    broken: str = Field(default="", description="why it cannot be read; it can be deleted")
