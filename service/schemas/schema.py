"""The base of every answer of the REST interface."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from streaming.prediction import utc_text

Utc = Annotated[str, BeforeValidator(utc_text)]  # made from nanoseconds since 1970
Rounded = Annotated[float, AfterValidator(lambda value: round(value, 4))]


class Schema(BaseModel):
    """An object with these fields and no others, all of them present in every answer."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        from_attributes=True,
        json_schema_serialization_defaults_required=True,
    )


class Broken(Schema):
    """An entry of the data folder that cannot be read; it can be deleted."""

    id: str
    reason: str
