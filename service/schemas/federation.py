"""The federation as this machine knows it."""

from typing import Literal

from pydantic import Field

from service.schemas.schema import Broken, Schema


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


class LastUpdate(Schema):
    """What became of a station's last update."""

    round: int
    state: str
    reason: str | None


class Joined(Schema):
    """This machine's part in a run, as `wavetell join` last heard of it."""

    name: str
    url: str
    run: str
    round: int
    state: str
    deadline: str
    quorum: int
    last: LastUpdate | None
    rolled_back: str = Field(default="", description="the round's model is an older one: which")
    seen: str
    waiting: bool = Field(default=False, description="an update is ready and not accepted yet")


class Federation(Schema):
    """The federation as this machine knows it."""

    runs: list[Coordinated]
    stations: list[Joined] = Field(description="this machine's own parts in runs")
    broken: list[Broken] = Field(description="folders that cannot be read")


class Receipt(Schema):
    """What became of an update, as the coordinator answers its station."""

    round: int
    station: str
    state: str
    reason: str | None
    sha256: str
    bytes: int
    examples: int


class CoordinatorHealth(Schema):
    """Where the coordinator is."""

    status: Literal["ok"]
    round: int
    state: str


class Audited(Schema):
    """An update that the coordinator took or refused."""

    id: int
    at: float
    station: str
    round: int
    status: int
    outcome: str
    reason: str | None
    bytes: int | None
    sha256: str | None
