"""Answers: what a stretch of samples is."""

from typing import Literal

from pydantic import Field

from service.schemas.schema import Schema
from streaming.block import Clock
from streaming.prediction import Past


class Answer(Schema):
    """What a stretch [start, end) of samples was."""

    time: str | None = Field(None, description="of `start`, where the source tells")
    clock: Clock | None = Field(None, description="where `time` comes from")
    start: int
    end: int
    label: str = Field(description="a class of the head, `unknown` or `no signal`")
    probability: float = Field(ge=0, le=1, description="of the most likely class")
    probabilities: dict[str, float] = Field(description="calibrated, of each class")
    past: Past = Field(description="`warm`, or why the states were restarted within the window")
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


class Predicted(Schema):
    """What `/v1/predict` answers."""

    model: str
    sha256: str
    head: str
    whole: Answer
    windows: list[Answer]
