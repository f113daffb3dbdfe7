"""Labels, heads, models."""

from typing import Any, Literal

from pydantic import Field

from service.shapes.shape import Shape

Confusion = dict[str, dict[str, int]]


class GivenLabel(Shape):
    """A labelled stretch."""

    id: str
    stream: str
    label: str
    start: int
    end: int
    past: int = Field(description="samples that are kept before `start`")
    created: str
    rate_hz: float
    freq_hz: float | None
    encoder_sha256: str
    window: int
    hop: int


class GivenLabels(Shape):
    """Every label."""

    labels: list[GivenLabel]
    counts: dict[str, int]


class Fitted(Shape):
    """A head that was fitted to the labels."""

    head: str
    model: str = Field(description="the new model, which has the head")
    classes: list[str]
    labels: dict[str, int]
    windows: int
    before: Confusion = Field(description="truth, answer, windows")
    after: Confusion | None = Field(
        description="on labels the head had not seen; null where there are too few"
    )
    seconds: float


class HeadAbout(Shape):
    """A head of a model."""

    name: str
    classes: list[str]
    mode: Literal["live", "frame"]
    window: int
    hop: int


class EncoderAbout(Shape):
    """The encoder of a model."""

    receptive_field: int
    outputs: int


class ModelAbout(Shape):
    """A model."""

    name: str
    sha256: str
    active: bool
    heads: list[HeadAbout]
    encoder: EncoderAbout
    provenance: dict[str, Any]
    evaluation: dict[str, Any]
    fitted: dict[str, Any]


class Models(Shape):
    """Every model."""

    models: list[ModelAbout]
    activations: list[str] = Field(description="names in the order in which they were put to use")


class Active(Shape):
    """The model that runs now."""

    active: str
