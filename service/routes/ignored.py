"""What to ignore: an emission, a label or a part of the spectrum, for a while or until it is taken back."""

from typing import Annotated, Self

from fastapi import APIRouter, Body
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field, model_validator

from service.routes.common import Hz, TheStation
from service.schemas.fields import Real, Text
from service.schemas.ignored import IgnoreRule, IgnoreRules

router = APIRouter(prefix="/v1/ignored", tags=["emissions"])
Name = Annotated[Text, Field(min_length=1, max_length=100)]
LONGEST_S = 10 * 366 * 86_400.0


class NewRule(BaseModel):
    """What to ignore: `emission`, `label`, or from `f_low` to `f_high`."""

    model_config = ConfigDict(extra="forbid")

    stream: Name | None = Field(None, description="of this stream alone")
    emission: Name | None = None
    label: Name | None = Field(None, description="a class or a family")
    f_low: Hz | None = None
    f_high: Hz | None = None
    seconds: Real | None = Field(
        None,
        gt=0,
        le=LONGEST_S,
        allow_inf_nan=False,
        description="for so long; until it is taken back where none are named",
    )

    @property
    def span_hz(self) -> tuple[float, float] | None:
        """The part of the spectrum."""
        return None if self.f_low is None or self.f_high is None else (self.f_low, self.f_high)

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.f_low is None) != (self.f_high is None):
            raise ValueError("name both f_low and f_high")
        if self.f_low is not None and self.f_high is not None and self.f_low > self.f_high:
            raise ValueError("f_low is above f_high")
        if sum(each is not None for each in (self.emission, self.label, self.span_hz)) != 1:
            raise ValueError("name one of emission, label, or f_low and f_high")
        return self


@router.get("")
async def list_all(station: TheStation) -> IgnoreRules:
    """What is ignored now."""
    return IgnoreRules(ignored=[rule.describe() for rule in station.ignored.list()])


@router.post("", status_code=201)
async def add(
    station: TheStation,
    new: Annotated[NewRule, Body(examples=[{"f_low": 433.9e6, "f_high": 433.94e6, "seconds": 3600}])],
) -> IgnoreRule:
    """Raise no event of it and tell no sink; history keeps it, and the screen shows it faintly."""
    rule = await run_in_threadpool(
        station.ignored.add,
        stream=new.stream,
        emission=new.emission,
        label=new.label,
        span_hz=new.span_hz,
        seconds=new.seconds,
    )
    return rule.describe()


@router.delete("/{rule_id}", status_code=204)
async def remove(station: TheStation, rule_id: str) -> None:
    """Tell of it again."""
    await run_in_threadpool(station.ignored.remove, rule_id)
