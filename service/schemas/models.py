"""Models: encoder, heads, and where they come from."""

from typing import Literal

from pydantic import Field, JsonValue

from service.schemas.schema import Broken, Schema

Json = dict[str, JsonValue]  # as the bundle holds it


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
    provenance: Json
    evaluation: Json = Field(description="as `wavetell evaluate --json` has its rows")
    fitted: Json


class Models(Schema):
    """Every model."""

    models: list[ModelAbout]
    activations: list[str] = Field(description="names in the order in which they were put to use")
    broken: list[Broken] = Field(description="files that are no models")


class Active(Schema):
    """The model that runs now."""

    active: str
