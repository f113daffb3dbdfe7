"""Answers: what a stretch of samples is, and the messages that live readers get."""

from typing import Literal, Self

from pydantic import Field

from service.schemas.schema import Rounded, Schema
from streaming.block import Clock
from streaming.prediction import Past, Prediction, utc_text


class Emission(Schema):
    """An emission: what it is, which one it is, and where it lies in the spectrum."""

    label: str = Field(description="a class or a family of the head, `unknown` or `no signal`")
    probability: Rounded = Field(
        ge=0, le=1, description="of the label; of the likeliest class where it is `unknown`"
    )
    family: str | None = Field(description="of the label, where the model has families")
    emission: str | None = Field(description="its identity; null where there is no signal")
    snr_db: float | None = Field(description="where the spectrum shows one")
    bandwidth_hz: float | None = Field(description="occupied; null for a model without a front end")
    offset_hz: float | None = Field(description="of its centre from the source's")
    centre_hz: float | None = Field(description="its centre, where the source's frequency is known")


class Span(Schema):
    """Samples [start, end) of a source."""

    time: str | None = Field(description="of `start`, where the source gives times")
    clock: Clock | None = Field(description="where `time` comes from")
    start: int
    end: int


class Answer(Emission, Span):
    """What a stretch of samples was."""

    probabilities: dict[str, Rounded] = Field(description="calibrated, of each class")
    past: Past = Field(description="`warm`, or why the states were restarted within the window")

    @classmethod
    def of(
        cls, prediction: Prediction, classes: tuple[str, ...], snr_db: float | None, prefix: str = ""
    ) -> Self:
        """A prediction as people and programs read it; `prefix` makes its emission's number an identity."""
        p = prediction
        return cls(
            time=None if p.utc_ns is None else utc_text(p.utc_ns),
            clock=None if p.utc_ns is None else p.clock,
            start=p.start,
            end=p.end,
            label=p.label,
            probability=p.probability,
            family=p.family,
            emission=None if p.emission is None else f"{prefix}{p.emission}",
            snr_db=rounded(snr_db, 1),
            bandwidth_hz=rounded(p.bandwidth_hz, 0),
            offset_hz=rounded(p.offset_hz, 0),
            centre_hz=rounded(p.centre_hz, 0),
            probabilities=dict(zip(classes, p.probabilities.tolist(), strict=True)),
            past=p.past,
        )


def rounded(value: float | None, digits: int) -> float | None:
    """As many digits as mean something."""
    return None if value is None else round(value, digits)


class Report(Answer):
    """A stream's newest answer: several hops that agree."""

    type: Literal["report"] = "report"
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


class HopsMessage(Schema):
    """Every hop of one push, for readers that asked for hops."""

    type: Literal["hops"] = "hops"
    stream: str
    hops: list[Answer]


class GapMessage(Schema):
    """Samples of a stream were lost."""

    type: Literal["gap"] = "gap"
    stream: str
    end: int
    samples: int
    reason: str
    exact: bool
