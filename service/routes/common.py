"""What routes share: the station, error bodies, times."""

from datetime import datetime
from typing import Annotated, Any, cast

from fastapi import Depends, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from starlette.requests import HTTPConnection

from service.live.streams import Stream
from service.schemas.fields import Index, Real
from service.station import Station
from streaming.errors import ConfigError
from streaming.quantities import FREQ_HZ, OFFSET_HZ, UTC_NS


class Problem(BaseModel):
    """Why a request was refused, in one line."""

    detail: str


PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "Not understood"},
    401: {"model": Problem, "description": "A token is needed"},
    403: {"model": Problem, "description": "Not allowed"},
    404: {"model": Problem, "description": "Not found"},
    409: {"model": Problem, "description": "Not now"},
    413: {"model": Problem, "description": "Too large"},
    422: {"model": Problem, "description": "Cannot be used"},
    429: {"model": Problem, "description": "Too many requests"},
    503: {"model": Problem, "description": "Not ready"},
}


def the_station(connection: HTTPConnection) -> Station:
    """The station behind this application."""
    return cast(Station, connection.app.state.station)


TheStation = Annotated[Station, Depends(the_station)]


def the_stream(station: TheStation, stream_id: str) -> Stream:
    """The stream that the path names."""
    return station.stream(stream_id)


TheStream = Annotated[Stream, Depends(the_stream)]
From = Annotated[AwareDatetime | None, Query(alias="from", description="RFC 3339; when it was heard")]
To = Annotated[AwareDatetime | None, Query(description="RFC 3339; when it was heard")]


# From a source's centre where its frequency is not known, and then it may be negative.
Hz = Annotated[Real, Field(ge=OFFSET_HZ.least, le=FREQ_HZ.most, allow_inf_nan=False)]


def as_ns(moment: datetime) -> int:
    """Nanoseconds since 1970, as far as the history goes."""
    return max(int(UTC_NS.least), min(int(UTC_NS.most), round(moment.timestamp() * 1e6) * 1000))


class Span(BaseModel):
    """A stretch of a stream: from sample `start` to `end`, from the time `from` to `to`, or its last
    `seconds`.
    """

    model_config = ConfigDict(extra="forbid")

    start: Index | None = None
    end: Index | None = None
    from_: AwareDatetime | None = Field(None, alias="from")
    to: AwareDatetime | None = None
    seconds: Real | None = Field(None, gt=0, le=3600, allow_inf_nan=False)

    @property
    def given(self) -> bool:
        """Whether a stretch is named."""
        return any(value is not None for value in (self.start, self.end, self.from_, self.to, self.seconds))

    def samples(self, stream: Stream) -> tuple[int, int]:
        """First sample and the one after the last."""
        if self.start is not None and self.end is not None:
            span = self.start, self.end
        elif self.from_ is not None and self.to is not None:
            span = stream.index_at(as_ns(self.from_)), stream.index_at(as_ns(self.to))
        elif self.seconds is not None:
            last = stream.ring.span[1]
            span = last - round(self.seconds * stream.rate_hz), last
        else:
            raise ConfigError("say which stretch: start and end, from and to, or seconds")
        if span[1] <= span[0]:
            raise ConfigError(f"the stretch ends at sample {span[1]}, before it begins at {span[0]}")
        return span
