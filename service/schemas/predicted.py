"""What `/v1/predict` answers."""

from pydantic import Field

from service.schemas.answers import Answer
from service.schemas.emissions import EmissionState
from service.schemas.schema import Schema


class Predicted(Schema):
    """Everything that was found in some samples."""

    model: str
    sha256: str
    head: str
    whole: Answer = Field(description="of the emission with the most energy")
    emissions: list[EmissionState] = Field(description="all of them; empty for a model without a front end")
    windows: list[Answer]


class Analysed(Schema):
    """Everything that was found in a recording, and what it looks like."""

    source: str = Field(description="what the file is, and from what that is known")
    rate_hz: float
    freq_hz: float | None
    seconds: float
    label: str = Field(description="of the emission with the most energy")
    emissions: list[EmissionState]
    picture: str = Field(
        description="its spectrogram: a PNG file in base64, the whole band from left to right, time downwards"
    )
