"""Models: encoder, heads, and where they come from."""

from typing import Any, Literal

from pydantic import Field

from service.schemas.schema import Schema


class HeadAbout(Schema):
    """A head of a model."""

    name: str
    classes: list[str]
    mode: Literal["live", "frame"]
    window: int
    hop: int


class EncoderAbout(Schema):
    """The encoder of a model."""

    receptive_field: int
    outputs: int


class ModelAbout(Schema):
    """A model."""

    name: str
    sha256: str
    active: bool
    heads: list[HeadAbout]
    encoder: EncoderAbout
    provenance: dict[str, Any]
    evaluation: dict[str, Any]
    fitted: dict[str, Any]


class Models(Schema):
    """Every model."""

    models: list[ModelAbout]
    activations: list[str] = Field(description="names in the order in which they were put to use")


class Active(Schema):
    """The model that runs now."""

    active: str
