"""Watch rules, and the alerts that they raised."""

from typing import Annotated, Self

from fastapi import APIRouter, Body, Query, Response, WebSocket
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, model_validator

from service.routes.common import From, Hz, TheStation, To, as_ns, the_station
from service.routes.history import Cursor, Limit, clean
from service.routes.live import serve
from service.schemas.fields import Real, Text, Whole
from service.schemas.watch import Alert, Alerts, Kind, WatchRule, WatchRules
from service.storage.alerts import AlertQuery, find_alert, find_alerts, remove_alert
from service.watch.rules import Rule

router = APIRouter(prefix="/v1", tags=["alerts"])
Name = Annotated[Text, Field(min_length=1, max_length=100)]
TimeOfDay = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
Words = Annotated[str, Query(max_length=100)]
EXAMPLE = {"kind": "new", "f_low": 433.05e6, "f_high": 434.79e6, "minutes": 1440}


class NewWatch(BaseModel):
    """What to watch for, where, and how often to tell."""

    model_config = ConfigDict(extra="forbid")

    kind: Kind
    name: Annotated[Text, Field(max_length=100)] = Field(
        "", description="made from the rule where it is empty"
    )
    stream: Name | None = Field(None, description="of this stream alone")
    label: Name | None = Field(None, description="a class or a family; `label` needs it, others may have it")
    f_low: Hz | None = None
    f_high: Hz | None = None
    minutes: Real = Field(
        15,
        gt=0,
        le=60 * 24 * 31,
        allow_inf_nan=False,
        description="`silent`: for so long; `new`: not in use for so long; `occupied`: taken over them",
    )
    percent: Real = Field(50, gt=0, lt=100, allow_inf_nan=False, description="of the time, for `occupied`")
    per_hour: Whole = Field(6, ge=1, le=3600, description="alerts at most; what is beyond is counted")
    collapse_s: Real = Field(
        60,
        ge=0,
        le=86_400,
        allow_inf_nan=False,
        description="what follows so soon is counted in the last one",
    )
    quiet_from: TimeOfDay | None = Field(None, description="HH:MM of the host's time zone")
    quiet_to: TimeOfDay | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if (self.f_low is None) != (self.f_high is None):
            raise ValueError("name both f_low and f_high")
        if self.f_low is not None and self.f_high is not None and self.f_low >= self.f_high:
            raise ValueError("f_low is not below f_high")
        if self.kind == "label" and self.label is None:
            raise ValueError("name the label to watch for")
        if self.kind == "unknown" and self.label is not None:
            raise ValueError("an unknown class has no label")
        if (self.quiet_from is None) != (self.quiet_to is None):
            raise ValueError("name both quiet_from and quiet_to")
        return self


@router.get("/watches")
async def watches(station: TheStation) -> WatchRules:
    """What is watched for."""
    return WatchRules(watches=await run_in_threadpool(station.watcher.describe))


@router.post("/watches", status_code=201)
async def watch(station: TheStation, new: Annotated[NewWatch, Body(examples=[EXAMPLE])]) -> WatchRule:
    """Raise an alert whenever this is found, from now on."""
    rule = await run_in_threadpool(station.watches.add, Rule(**new.model_dump()))
    return rule.describe()


@router.delete("/watches/{rule}", status_code=204)
async def unwatch(station: TheStation, rule: str) -> None:
    """Watch for it no more; the alerts stay."""
    await run_in_threadpool(station.watches.remove, rule)


@router.get("/alerts")
async def alerts(
    station: TheStation,
    *,
    rule: Words = "",
    stream: Words = "",
    from_: From = None,
    to: To = None,
    limit: Limit = 100,
    cursor: Cursor = "",
) -> Alerts:
    """Alerts, newest first."""
    query = AlertQuery(
        rule=clean(rule),
        stream=clean(stream),
        from_ns=None if from_ is None else as_ns(from_),
        to_ns=None if to is None else as_ns(to),
        limit=limit,
        cursor=cursor,
    )
    page = await run_in_threadpool(find_alerts, station.reading, query)
    described = [row.describe(station.clips.describe(row.id)) for row in page.rows]
    return Alerts(alerts=described, cursor=page.cursor)


@router.websocket("/alerts/live")
async def alerts_socket(socket: WebSocket) -> None:
    """Alerts as they are raised, and again when what they found was found again."""
    await socket.accept()
    with the_station(socket).hub.subscribe("alerts") as subscriber:
        await serve(socket, subscriber)


@router.get("/alerts/{alert}")
async def one(station: TheStation, alert: str) -> Alert:
    """One alert."""
    row = await run_in_threadpool(find_alert, station.reading, clean(alert))
    return row.describe(station.clips.describe(row.id))


@router.get(
    "/alerts/{alert}/picture", response_class=Response, responses={200: {"content": {"image/png": {}}}}
)
async def picture(station: TheStation, alert: str) -> Response:
    """The spectrogram of what was found, its emission outlined."""
    content = await run_in_threadpool(station.clips.picture, alert)
    return Response(content, media_type="image/png", headers={"Cache-Control": "private, max-age=86400"})


@router.get(
    "/alerts/{alert}/clip",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-tar": {}}}},
)
async def clip(station: TheStation, alert: str) -> StreamingResponse:
    """The I/Q of what was found, as a SigMF archive."""
    row = await run_in_threadpool(find_alert, station.reading, clean(alert))
    pieces = await run_in_threadpool(station.clips.archive, row)
    name = f'attachment; filename="{row.id}.sigmf"'
    return StreamingResponse(pieces, media_type="application/x-tar", headers={"Content-Disposition": name})


@router.delete("/alerts/{alert}", status_code=204)
async def remove(station: TheStation, alert: str) -> None:
    """Delete an alert with its clip; a recording that the clip is a part of stays."""
    row = await run_in_threadpool(find_alert, station.reading, clean(alert))
    await run_in_threadpool(remove_alert, station.reading, row.id)
    await run_in_threadpool(station.clips.remove, row.id)
