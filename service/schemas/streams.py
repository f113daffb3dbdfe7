"""A stream and what became of its samples."""

from typing import Annotated

from pydantic import Field

from hardware.plan import DWELL_S, SETTLE_S
from service.live.streams import State
from service.schemas.answers import Report
from service.schemas.fields import FreqHz, Real, within
from service.schemas.schema import Schema
from streaming.quantities import BANDWIDTH_HZ


class Samples(Schema):
    """What became of a stream's samples."""

    received: int = 0
    processed: int = 0
    skipped: int = Field(
        default=0, description="of those processed, too few before a gap or an end to be judged"
    )
    dropped: dict[str, int] = Field(default_factory=dict, description="here, by reason")
    lost: dict[str, int] = Field(default_factory=dict, description="before they came here, by reason")
    lost_estimated: dict[str, int] = Field(default_factory=dict)
    gaps: int = 0


class Attention(Schema):
    """The emissions of a stream, and how many questions about them were answered."""

    followed: int = Field(description="emissions on the air now")
    heard: int = Field(description="emissions since the stream began")
    refused: int = Field(description="emissions that were not followed because there were too many")
    short: int = Field(description="emissions that were too short to be named")
    answered: int
    thinned: int = Field(description="answers left out by choice, because there was too much work")
    unjudged: int = Field(
        default=0,
        description="suspected changes of modulation not looked at, because there was too much work",
    )
    cpu_s: dict[str, float] = Field(description="seconds of the processor, by stage")


class Kept(Schema):
    """Which samples are still kept."""

    start: int = 0
    end: int = 0


class FrequencyPlan(Schema):
    """More spectrum than a radio sees at once, step by step, again and again."""

    start_hz: FreqHz
    stop_hz: FreqHz
    dwell_s: Annotated[Real, within(DWELL_S)] = Field(default=0.1, description="how long at each step")
    step_hz: Annotated[Real, within(BANDWIDTH_HZ)] | None = Field(
        default=None, description="between steps, at most; null is 0.6 of the rate"
    )
    settle_s: Annotated[Real, within(SETTLE_S)] = Field(
        default=0.05, description="that is discarded after a retune"
    )


class StreamState(Schema):
    """A stream."""

    id: str
    name: str
    source: str
    state: State
    error: str
    created: str
    # What follows is left as it is here where a stream cannot be described, and `error` says why.
    rate_hz: float = 0.0
    freq_hz: float | None = None
    plan: FrequencyPlan | None = Field(default=None, description="of a stream that is retuned step by step")
    inferred: str = Field(default="", description="what was guessed about the source, and from what")
    loss: str = Field(default="", description="how lost samples show in this source")
    samples: Samples = Samples()
    events: dict[str, int] = Field(default_factory=dict)
    lag_ms: float = 0.0
    queued: int = 0
    kept: Kept = Kept()
    head: str = ""
    classes: list[str] = Field(default_factory=list)
    families: dict[str, str] = Field(default_factory=dict, description="of the classes, where it has any")
    window: int = 0
    hop: int = 0
    hops: dict[str, int] = Field(default_factory=dict, description="by label")
    latest: Report | None = None
    attention: Attention | None = Field(default=None, description="null for a model without a front end")
    real_time_factor: float = 0.0
