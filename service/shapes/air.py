"""What is on the air, now and in the history."""

from typing import Any, Literal

from pydantic import Field

from service.shapes.shape import Shape
from streaming.block import Clock
from streaming.prediction import Past


class Answer(Shape):
    """What a stretch [start, end) of samples was."""

    time: str | None = Field(None, description="of `start`, where the source tells")
    clock: Clock | None = Field(None, description="where `time` comes from")
    start: int
    end: int
    label: str = Field(description="a class of the head, `unknown` or `no signal`")
    probability: float = Field(ge=0, le=1, description="of the most likely class")
    probabilities: dict[str, float] = Field(description="calibrated, of each class")
    past: Past = Field(description="`warm`, or why the states began anew within the window")
    family: str | None = Field(None, description="of the label, where the model has families")
    snr_db: float | None = Field(None, description="where the spectrum shows one")
    bandwidth_hz: float | None = None
    offset_hz: float | None = Field(None, description="from the source's centre")


class Report(Answer):
    """A stream's newest answer: several hops that agree."""

    type: Literal["report"]
    stream: str
    hops: int
    freq_hz: float | None
    since: str = Field(description="when this label was first heard")
    held_s: float
    run: str = Field(description="the run in the history that it belongs to")
    head: str
    sha256: str = Field(description="of the model")
    lag_ms: float
    dropped: int


class Predicted(Shape):
    """What `/v1/predict` answers."""

    model: str
    sha256: str
    head: str
    whole: Answer
    windows: list[Answer]


class Samples(Shape):
    """What became of a stream's samples."""

    received: int
    processed: int
    skipped: int = Field(description="of those processed, too few before a gap or an end to be judged")
    dropped: dict[str, int] = Field(description="here, by reason")
    lost: dict[str, int] = Field(description="before they came here, by reason")
    lost_estimated: dict[str, int]
    gaps: int


class Kept(Shape):
    """Which samples are still kept."""

    start: int
    end: int


class StreamState(Shape):
    """A stream."""

    id: str
    name: str
    source: str
    state: Literal["running", "paused", "ended", "failed", "waiting"]
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


class PastRun(Shape):
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


class PastRuns(Shape):
    """A page of runs."""

    predictions: list[PastRun]
    cursor: str = Field(description="to the next page; empty at the end")


class PastEvent(Shape):
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


class PastEvents(Shape):
    """A page of events."""

    events: list[PastEvent]
    cursor: str = Field(description="to the next page; empty at the end")


class Metadata(Shape):
    """SigMF metadata."""

    global_: dict[str, Any] = Field(alias="global")
    captures: list[dict[str, Any]]
    annotations: list[dict[str, Any]]


class NewId(Shape):
    """What was made."""

    id: str


class Recording(Shape):
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
