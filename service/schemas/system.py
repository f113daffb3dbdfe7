"""The service itself: health, radios, login."""

from typing import Literal

from pydantic import Field

from service.schemas.schema import Schema
from service.web.security import Role

Span = list[float]


class Health(Schema):
    """What runs."""

    status: Literal["ok"]
    model: str
    sha256: str
    backend: str
    streams: int
    real_time_factor: float


class Ready(Schema):
    """Whether all is well."""

    ready: bool
    wrong: list[str]


class AbilitiesAbout(Schema):
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


class DeviceAbout(Schema):
    """A radio of this machine."""

    address: str
    label: str
    arguments: dict[str, str]
    abilities: AbilitiesAbout | None
    error: str | None


class Devices(Schema):
    """The radios of this machine."""

    devices: list[DeviceAbout]
    problem: str = Field(description="why there can be none")


class Session(Schema):
    """Whether a token is needed, and what the given one allows."""

    needed: bool
    role: Role | None


class LoggedIn(Schema):
    """What the token allows."""

    role: Role
