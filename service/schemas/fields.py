"""Fields of requests: numbers within the ranges of radio, and texts that can be stored and shown."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic.fields import FieldInfo

from streaming.checked import Range
from streaming.quantities import FREQ_HZ, GAIN_DB, INDEX, RATE_HZ

LONGEST_LINE = 1000  # characters of a message


def within(limits: Range) -> FieldInfo:
    """A number within its range, which the OpenAPI document states."""
    field: FieldInfo = Field(ge=limits.least, le=limits.most, allow_inf_nan=False)
    return field


def number(value: object) -> object:
    """Refuse true and false, which Python takes for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("it must be a number, not true or false")
    return value


def printable(text: str) -> str:
    """Refuse characters that no database, terminal or page shows."""
    if not text.isprintable():
        raise ValueError("it must be printable characters")
    return text


def one_line(text: str) -> str:
    """A message that may repeat what was sent: one line of characters that can be sent back."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:LONGEST_LINE])


Text = Annotated[str, AfterValidator(printable)]
Real = Annotated[float, BeforeValidator(number)]
Whole = Annotated[int, BeforeValidator(number)]
FreqHz = Annotated[Real, within(FREQ_HZ)]
RateHz = Annotated[Real, within(RATE_HZ)]
GainDb = Annotated[Real, within(GAIN_DB)]
Index = Annotated[Whole, Field(ge=INDEX.least, le=INDEX.most)]
