"""Whether it works: health, readiness, metrics; and the login."""

from typing import Annotated

from fastapi import APIRouter, Body, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from hardware.devices import find_devices
from service.errors import Refused
from service.routes.common import TheStation
from service.schemas.system import DeviceAbout, Devices, Health, LoggedIn, Ready, Session
from service.web.metrics import render
from service.web.middleware import Rules, token_in
from service.web.security import COOKIE, Role
from streaming.errors import WavetellError

router = APIRouter(tags=["system"])
YEAR_S = 365 * 86_400


class Login(BaseModel):
    """A token that `wavetell token add` gave."""

    model_config = ConfigDict(extra="forbid")

    token: str = Field(max_length=200, pattern=r"^[A-Za-z0-9_-]+$")


@router.get("/v1/health")
async def health(station: TheStation) -> Health:
    """Whether the service is up, and what runs in it."""
    model, runtime = station.model, station.runtime
    return Health(
        status="ok",
        model=model.bundle.name,
        sha256=model.sha256,
        backend=model.engine.detail,
        streams=len(runtime.streams),
        real_time_factor=round(runtime.load.real_time_factor, 3),
    )


@router.get("/v1/ready", responses={503: {"model": Ready}})
async def ready(station: TheStation, response: Response) -> Ready:
    """Whether every stream and thread runs and history can be written; 503 where not, with what is wrong."""
    wrong = station.wrong
    response.status_code = 503 if wrong else 200
    return Ready(ready=not wrong, wrong=wrong)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(station: TheStation) -> Response:
    """Counters for Prometheus."""
    return Response(render(station), media_type="text/plain; version=0.0.4")


@router.get("/v1/devices")
async def devices() -> Devices:
    """The radios of this machine, and what each can do."""
    try:
        found = await run_in_threadpool(find_devices)
    except WavetellError as error:  # SoapySDR is not installed: there are none, and that is why
        return Devices(devices=[], problem=str(error))
    return Devices(devices=[DeviceAbout.model_validate(device) for device in found], problem="")


@router.get("/v1/login")
async def session(request: Request) -> Session:
    """Whether a token is needed here, and the role of the one that came with this request."""
    rules: Rules = request.app.state.rules
    role: Role | None = "admin" if rules.open else rules.tokens.role_of(token_in(request.headers))
    return Session(needed=not rules.open, role=role)


@router.post("/v1/login")
async def login(
    request: Request,
    response: Response,
    given: Annotated[Login, Body(examples=[{"token": "what-the-command-printed"}])],
) -> LoggedIn:
    """Exchange a token for a cookie, which WebSockets of a page carry, too."""
    rules: Rules = request.app.state.rules
    role: Role | None = "admin" if rules.open else rules.tokens.role_of(given.token)
    if role is None:
        raise Refused("this token is not valid")
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, given.token, max_age=YEAR_S, httponly=True, samesite="strict", secure=secure)
    return LoggedIn(role=role)
