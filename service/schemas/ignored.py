"""What nobody wants to be told about."""

from pydantic import Field

from service.schemas.schema import Schema


class IgnoreRule(Schema):
    """One emission, one label or one part of the spectrum; exactly one of the three is named."""

    id: str
    stream: str | None = Field(description="null: of every stream")
    emission: str | None
    label: str | None = Field(description="a class or a family")
    f_low: float | None = Field(description="emissions whose centre lies between these, in hertz")
    f_high: float | None
    created: str
    until: str | None = Field(description="null: until it is taken back")


class IgnoreRules(Schema):
    """Every rule that holds, oldest first."""

    ignored: list[IgnoreRule]
