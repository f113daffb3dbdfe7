"""Whether it works: health, readiness, metrics; and the login."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from hardware.devices import find_devices
from service.errors import Refused
from service.routes.common import TheStation
from service.schemas.schema import returns
from service.schemas.system import Devices, Health, LoggedIn, Ready, Session
from service.web.metrics import render
from service.web.middleware import token_in
from service.web.security import COOKIE
from streaming.errors import WavetellError

router = APIRouter(tags=["system"])
YEAR_S = 365 * 86_400


class Login(BaseModel):
    """A token that `wavetell token add` gave."""

    model_config = ConfigDict(extra="forbid")

    token: str = Field(max_length=200, pattern=r"^[A-Za-z0-9_-]+$")


@router.get("/v1/health", **returns(Health))
async def health(station: TheStation) -> dict[str, Any]:
    """Whether the service is up, and what runs in it."""
    model, runtime = station.model, station.runtime
    return {
        "status": "ok",
        "model": model.bundle.name,
        "sha256": model.sha256,
        "backend": model.engine.detail,
        "streams": len(runtime.streams),
        "real_time_factor": round(runtime.real_time_factor, 3),
    }


@router.get("/v1/ready", response_model=Ready, responses={503: {"model": Ready}})
async def ready(station: TheStation) -> JSONResponse:
    """Whether every stream runs and history can be written; 503 where not, with what is wrong."""
    wrong = [
        f"stream {s.id}: {s.error}" for s in list(station.runtime.streams.values()) if s.state == "failed"
    ]
    if station.history.away:
        wrong.append("history cannot be written")
    return JSONResponse({"ready": not wrong, "wrong": wrong}, 503 if wrong else 200)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(station: TheStation) -> Response:
    """Counters for Prometheus."""
    return Response(render(station), media_type="text/plain; version=0.0.4")


@router.get("/v1/devices", **returns(Devices))
async def devices() -> dict[str, Any]:
    """The radios of this machine, and what each can do."""
    try:
        found = await run_in_threadpool(find_devices)
    except WavetellError as error:  # SoapySDR is not installed: there are none, and that is why
        return {"devices": [], "problem": str(error)}
    return {"devices": [device.to_json() for device in found], "problem": ""}


@router.get("/v1/login", **returns(Session))
async def session(request: Request) -> dict[str, Any]:
    """Whether a token is needed here, and the role of the one that came with this request."""
    rules = request.app.state.rules
    role = "admin" if rules.open else rules.tokens.role_of(token_in(request.headers))
    return {"needed": not rules.open, "role": role}


@router.post("/v1/login", **returns(LoggedIn))
async def login(
    request: Request,
    station: TheStation,
    given: Annotated[Login, Body(examples=[{"token": "what-the-command-printed"}])],
) -> JSONResponse:
    """Exchange a token for a cookie, which WebSockets of a page carry, too."""
    tokens = request.app.state.rules.tokens
    role = "admin" if request.app.state.rules.open else tokens.role_of(given.token)
    if role is None:
        raise Refused("this token is not valid")
    answer = JSONResponse({"role": role})
    secure = request.url.scheme == "https"
    answer.set_cookie(COOKIE, given.token, max_age=YEAR_S, httponly=True, samesite="strict", secure=secure)
    return answer
