"""Watch rules and alerts."""

from typing import Literal

from pydantic import Field

from service.schemas.schema import Rounded, Schema, Utc

Kind = Literal["new", "label", "silent", "unknown", "occupied"]


class WatchRule(Schema):
    """What is watched for: emissions whose centre lies between `f_low` and `f_high`, or anywhere."""

    id: str
    name: str
    kind: Kind = Field(
        description="a new emitter, a label, silence, an unknown class, occupancy above a limit"
    )
    stream: str | None = Field(description="null: every stream")
    label: str | None = Field(description="a class or a family")
    f_low: float | None
    f_high: float | None
    minutes: float = Field(
        description="of silence; or that a place was not in use before; or that occupancy is taken over"
    )
    percent: float = Field(description="of the time; above, it is occupied")
    per_hour: int = Field(description="alerts at most")
    collapse_s: float = Field(description="what follows an alert within so many seconds is counted in it")
    quiet_from: str | None = Field(description="HH:MM; alerts are kept from then on, but nobody is told")
    quiet_to: str | None
    created: str
    last: str | None = Field(description="when it raised its last alert")
    raised: int = Field(description="alerts in the last hour")


class WatchRules(Schema):
    """Every rule, oldest first."""

    watches: list[WatchRule]


class AlertClip(Schema):
    """What was heard; addresses count from the service's own."""

    picture: str = Field(description="spectrogram, PNG")
    iq: str | None = Field(description="SigMF archive; null where its samples are not kept any more")
    recording: str | None = Field(description="that it is a part of; null where it has a file of its own")


class Alert(Schema):
    """A rule found what it watches for."""

    type: Literal["alert"] = "alert"
    id: str
    rule: str
    name: str = Field(description="of the rule")
    kind: Kind
    message: str
    stream: str | None
    at: Utc = Field(validation_alias="at_ns")
    to: Utc = Field(validation_alias="to_ns", description="when it was last found")
    count: int = Field(description="how often it was found: what follows soon is counted, not told")
    emission: str | None
    label: str | None
    family: str | None
    probability: Rounded | None
    snr_db: float | None
    lower_hz: float | None
    upper_hz: float | None
    occupancy: Rounded | None = Field(description="share of the time")
    start_sample: int | None
    end_sample: int | None
    quiet: bool = Field(description="raised in a quiet time: nobody was told")
    clip: AlertClip | None


class Alerts(Schema):
    """A page of alerts, newest first."""

    alerts: list[Alert]
    cursor: str = Field(description="to the next page; empty at the end")


class WatchState(Schema):
    """What a rule sees where it watches."""

    type: Literal["watch"] = "watch"
    rule: str
    name: str
    f_low: float | None
    f_high: float | None
    emissions: int = Field(description="on the air")
    occupancy: Rounded = Field(description="share of the time in which something was on the air")
    removed: bool = Field(description="the rule is no more")

    @property
    def id(self) -> str:
        """Of the rule."""
        return self.rule
