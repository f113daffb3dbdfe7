"""Labels, and the heads that are fitted to them."""

from pydantic import Field

from service.schemas.schema import Broken, Schema

Confusion = dict[str, dict[str, int]]


class Label(Schema):
    """One labelled stretch [start, end) of a stream."""

    id: str
    stream: str
    label: str
    start: int
    end: int
    past: int = Field(description="samples that are kept before `start`")
    created: str
    rate_hz: float
    freq_hz: float | None = None
    emission: str | None = Field(default=None, description="the one that fills most of the stretch")
    bandwidth_hz: float | None = Field(default=None, description="of the emission, where it was measured")
    centre_hz: float | None = Field(default=None, description="of the emission, where it is known")
    lower_hz: float | None = Field(default=None, description="of the emission, from the kept samples' centre")
    upper_hz: float | None = Field(default=None, description="of the emission, from the kept samples' centre")
    encoder_sha256: str = Field(description="of the embeddings that are kept with it")
    window: int
    hop: int


class Labels(Schema):
    """Every label."""

    labels: list[Label]
    counts: dict[str, int]
    broken: list[Broken] = Field(description="files that are no labels")


class Fitted(Schema):
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
