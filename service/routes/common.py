"""What routes share: the station, error bodies, times."""

from datetime import datetime
from typing import Annotated, Any, cast

from fastapi import Depends, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from starlette.requests import HTTPConnection

from service.live.streams import Stream
from service.station import Station
from streaming.errors import ConfigError


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


MAX_SAMPLE = 2**62  # a sample's index must fit into the history's 64 bits


def as_ns(moment: datetime) -> int:
    """Nanoseconds since 1970, as far as the history's 64 bits go."""
    return max(-MAX_SAMPLE, min(MAX_SAMPLE, round(moment.timestamp() * 1e6) * 1000))


class Span(BaseModel):
    """A stretch of a stream: from sample `start` to `end`, from the time `from` to `to`, or its last
    `seconds`.
    """

    model_config = ConfigDict(extra="forbid")

    start: int | None = Field(None, ge=0, le=MAX_SAMPLE)
    end: int | None = Field(None, ge=0, le=MAX_SAMPLE)
    from_: AwareDatetime | None = Field(None, alias="from")
    to: AwareDatetime | None = None
    seconds: float | None = Field(None, gt=0, le=3600)

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
