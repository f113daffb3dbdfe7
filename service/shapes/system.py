"""The machine: health, radios, login, federation, and the plug-in."""

from typing import Any, Literal

from pydantic import Field

from service.shapes.shape import Shape
from service.web.security import Role

Span = list[float]


class Health(Shape):
    """What runs."""

    status: Literal["ok"]
    model: str
    sha256: str
    backend: str
    streams: int
    real_time_factor: float


class Ready(Shape):
    """Whether all is well."""

    ready: bool
    wrong: list[str]


class AbilitiesAbout(Shape):
    """What one channel of a radio can do; a range is [low, high]."""

    channels: int
    formats: list[str]
    antennas: list[str]
    rates_hz: list[Span]
    freqs_hz: list[Span]
    bandwidths_hz: list[Span]
    gain_db: Span
    gain_elements_db: dict[str, Span]
    auto_gain: bool
    ppm: bool
    hardware_time: bool
    settings: list[str]
    channel_settings: list[str]


class DeviceAbout(Shape):
    """A radio of this machine."""

    address: str
    label: str
    arguments: dict[str, str]
    abilities: AbilitiesAbout | None
    error: str | None


class Devices(Shape):
    """The radios of this machine."""

    devices: list[DeviceAbout]
    problem: str = Field(description="why there can be none")


class Session(Shape):
    """Whether a token is needed, and what the given one allows."""

    needed: bool
    role: Role | None


class LoggedIn(Shape):
    """What the token allows."""

    role: Role


class Member(Shape):
    """A station of a run that is coordinated here."""

    name: str
    revoked: bool
    seen: str | None
    up: int
    down: int


class Round(Shape):
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


class Coordinated(Shape):
    """A run that is coordinated here."""

    name: str
    wanted: int
    method: str
    quorum: int
    stations: list[Member]
    rounds: list[Round]


class Federation(Shape):
    """The federation as this machine knows it."""

    runs: list[Coordinated]
    stations: list[dict[str, Any]] = Field(description="this machine's own parts in runs")


class Job(Shape):
    """A job of the plug-in."""

    job_id: str
    function_name: str
    file_name: str
    progress: int
    error: str | None = None


class JobResult(Shape):
    """What a job found."""

    job_status: Job
    annotations: list[dict[str, Any]]


class Parameter(Shape):
    """What the plug-in can be told."""

    title: str
    type: str
    default: str
    value: str
