"""The federation as this machine knows it."""

from typing import Any

from pydantic import Field

from service.schemas.schema import Schema


class Member(Schema):
    """A station of a run that is coordinated here."""

    name: str
    revoked: bool
    seen: str | None
    up: int
    down: int


class Round(Schema):
    """A round of a run that is coordinated here."""

    number: int
    generation: int
    state: str
    opened: str | None
    closed: str | None
    note: str | None
    updates: int
    bytes: int
    loss: float | None
    accuracy: float | None


class Coordinated(Schema):
    """A run that is coordinated here."""

    name: str
    wanted: int
    method: str
    quorum: int
    stations: list[Member]
    rounds: list[Round]


class Federation(Schema):
    """The federation as this machine knows it."""

    runs: list[Coordinated]
    stations: list[dict[str, Any]] = Field(description="this machine's own parts in runs")
