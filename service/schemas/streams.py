"""A stream and what became of its samples."""

from pydantic import Field

from service.live.streams import State
from service.schemas.answers import Report
from service.schemas.schema import Schema


class Samples(Schema):
    """What became of a stream's samples."""

    received: int
    processed: int
    skipped: int = Field(description="of those processed, too few before a gap or an end to be judged")
    dropped: dict[str, int] = Field(description="here, by reason")
    lost: dict[str, int] = Field(description="before they came here, by reason")
    lost_estimated: dict[str, int]
    gaps: int


class Kept(Schema):
    """Which samples are still kept."""

    start: int
    end: int


class StreamState(Schema):
    """A stream."""

    id: str
    name: str
    source: str
    state: State
    error: str
    created: str
    rate_hz: float
    freq_hz: float | None
    inferred: str = Field(description="what was guessed about the source, and from what")
    loss: str = Field(description="how lost samples show in this source")
    samples: Samples
    events: dict[str, int]
    lag_ms: float
    queued: int
    kept: Kept
    head: str
    classes: list[str]
    window: int
    hop: int
    hops: dict[str, int] = Field(description="by label")
    latest: Report | None
    real_time_factor: float
