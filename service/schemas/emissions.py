"""Emissions of a stream: what each transmitter is, where it lies and when it is heard."""

from typing import Any, Literal, Self

from pydantic import Field

from service.schemas.schema import Rounded, Schema, Utc
from streaming.band.emissions import Emission as HeardEmission
from streaming.band.emissions import State
from streaming.prediction import utc_text


class EmissionState(Schema):
    """An emission as it is at one moment; frequencies count from the source's where that is not known."""

    type: Literal["emission"] = "emission"
    emission: str = Field(description="its identity, also after a pause of up to a minute")
    state: State
    label: str = Field(description="a class or a family of the head, or `unknown`")
    family: str | None = Field(description="of the label, where the model has families")
    probability: Rounded = Field(
        ge=0, le=1, description="of the label; of the likeliest class where it is `unknown`"
    )
    nearest: dict[str, Rounded] = Field(description="the likeliest families where it is `unknown`")
    centre_hz: float
    bandwidth_hz: float
    lower_hz: float
    upper_hz: float
    freq_hz: float | None = Field(description="the source's centre, where it is known")
    snr_db: float
    begin: float = Field(description="when it was first heard, in seconds of the source")
    end: float = Field(description="when it was last heard, in seconds of the source")
    start_sample: int
    end_sample: int
    time: str | None = Field(description="of `begin`, where the source gives times")
    bursts: int
    duty: Rounded = Field(ge=0, le=1, description="share of the time since `begin` in which it was on")

    @classmethod
    def of(cls, emission: HeardEmission, identity: str, **more: Any) -> Self:  # noqa: ANN401
        """An emission as people and programs read it."""
        e, at = emission, emission.freq_hz or 0.0
        return cls(
            emission=identity,
            state=e.state,
            label=e.name.label,
            family=e.name.family,
            probability=e.name.probability,
            nearest=dict(e.nearest),
            centre_hz=round(at + e.box.centre, 1),
            bandwidth_hz=round(e.box.width, 1),
            lower_hz=round(at + e.box.lower, 1),
            upper_hz=round(at + e.box.upper, 1),
            freq_hz=e.freq_hz,
            snr_db=round(e.box.snr_db, 1),
            begin=round(e.start / e.rate_hz, 6),
            end=round(e.end / e.rate_hz, 6),
            start_sample=e.start,
            end_sample=e.end,
            time=None if e.utc_ns is None else utc_text(e.utc_ns),
            bursts=e.bursts,
            duty=e.duty,
            **more,
        )


class StreamEmission(EmissionState):
    """An emission of a stream; times are when the host heard it."""

    stream: str
    from_: Utc = Field(validation_alias="from_ns", serialization_alias="from")
    to: Utc = Field(validation_alias="to_ns")
    rate_hz: float
    sha256: str = Field(description="of the model that named it")

    @property
    def id(self) -> str:
        """Of this state of it."""
        return f"{self.emission}-{self.state}-{self.end_sample}"


class AlikeEmission(Schema):
    """An emission that is like another."""

    emission: StreamEmission
    likeness: Rounded = Field(ge=0, le=1, description="1 where both look the same to the encoder")


class AlikeEmissions(Schema):
    """Emissions that are like one, the most alike first."""

    alike: list[AlikeEmission]


class UncertainEmissions(Schema):
    """Emissions that were named with little certainty or not at all."""

    groups: list[list[StreamEmission]] = Field(description="alike; that of the least certain first")


class StreamEmissions(Schema):
    """A page of emissions."""

    emissions: list[StreamEmission]
    cursor: str = Field(description="to the next page; empty at the end")
