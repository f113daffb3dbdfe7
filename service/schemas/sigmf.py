"""SigMF metadata, with the names of the specification where it is written; what is not known is left out."""

from pydantic import ConfigDict, Field

from service.schemas.schema import Schema


class SigMF(Schema):
    """A part of a SigMF metadata object."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)


class Extension(SigMF):
    """An extension whose names are used."""

    name: str
    version: str = "1.0.0"
    optional: bool = True


class Global(SigMF):
    """What holds for all samples."""

    datatype: str = Field(serialization_alias="core:datatype")
    sample_rate: float = Field(serialization_alias="core:sample_rate")
    recorder: str = Field(serialization_alias="core:recorder")
    extensions: list[Extension] = Field(serialization_alias="core:extensions")
    version: str = Field(serialization_alias="core:version")


class Capture(SigMF):
    """Contiguous samples."""

    sample_start: int = Field(default=0, serialization_alias="core:sample_start")
    global_index: int | None = Field(default=None, serialization_alias="core:global_index")
    frequency: float | None = Field(default=None, serialization_alias="core:frequency")
    datetime: str | None = Field(default=None, serialization_alias="core:datetime")


class Detail(SigMF):
    """Of the extension `signal`."""

    modulation: str


class Annotation(SigMF):
    """What a part of the samples is."""

    sample_start: int = Field(serialization_alias="core:sample_start")
    sample_count: int = Field(serialization_alias="core:sample_count")
    freq_lower_edge: float | None = Field(default=None, serialization_alias="core:freq_lower_edge")
    freq_upper_edge: float | None = Field(default=None, serialization_alias="core:freq_upper_edge")
    label: str = Field(serialization_alias="core:label")
    generator: str = Field(default="wavetell", serialization_alias="core:generator")
    description: str | None = Field(default=None, serialization_alias="core:description")
    uuid: str | None = Field(default=None, serialization_alias="core:uuid")
    detail: Detail | None = Field(default=None, serialization_alias="signal:detail")
    probability: float | None = Field(default=None, serialization_alias="wavetell:probability")
    probabilities: dict[str, float] | None = Field(default=None, serialization_alias="wavetell:probabilities")
    model_sha256: str | None = Field(default=None, serialization_alias="wavetell:model_sha256")
    family: str | None = Field(default=None, serialization_alias="wavetell:family")
    emission: str | None = Field(default=None, serialization_alias="wavetell:emission")
    snr_db: float | None = Field(default=None, serialization_alias="wavetell:snr_db")


class Metadata(SigMF):
    """A metadata object."""

    global_: Global = Field(serialization_alias="global")
    captures: list[Capture]
    annotations: list[Annotation]
