"""What was on the air over hours and days."""

from pydantic import Field

from service.schemas.schema import Rounded, Schema, Utc


class Activity(Schema):
    """Emissions of one family that began in one step of time."""

    step: int = Field(description="counted from 0")
    name: str = Field(description="the family; the label where there is none")
    emissions: int


class Review(Schema):
    """How many emissions began when."""

    from_: Utc = Field(validation_alias="from_ns", serialization_alias="from")
    to: Utc = Field(validation_alias="to_ns")
    step_s: float
    steps: int
    activity: list[Activity]


class OccupancyCell(Schema):
    """A cell of frequency and time in which something was on the air."""

    step: int = Field(description="of time, counted from 0")
    cell: int = Field(description="of frequency, counted from 0")
    share: Rounded = Field(description="of the time, from 0 to 1")


class Occupancy(Schema):
    """Share of the time in which something was on the air, by frequency and time; without empty cells."""

    from_: Utc = Field(validation_alias="from_ns", serialization_alias="from")
    to: Utc = Field(validation_alias="to_ns")
    step_s: float
    steps: int
    f_low: float
    f_high: float
    cells: int
    occupancy: list[OccupancyCell]


class Storage(Schema):
    """What is kept, in bytes, and what had to go."""

    history: int
    alerts: int = Field(description="how many are kept")
    clips: int
    recordings: int
    labels: int
    free: int = Field(description="on the disk")
    least_free: int = Field(description="below, the oldest I/Q is deleted (setting min_free_mb)")
    removed: dict[str, int] = Field(description="what was deleted since the service began, by what and why")
    problem: str = Field(description="what is wrong with the disk; empty where nothing is")
