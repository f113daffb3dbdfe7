"""The HTTP application: every route, and one line for every error."""

from asyncio import get_running_loop
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp

from service.errors import Conflict, NotFound, Refused
from service.models.jobs import Jobs
from service.routes import (
    analyse,
    audio,
    dashboard,
    emissions,
    federation,
    history,
    ignored,
    iqengine,
    labels,
    live,
    models,
    predict,
    recordings,
    review,
    spectrum,
    streams,
    system,
    watch,
)
from service.routes.common import PROBLEMS
from service.schemas.fields import one_line
from service.station import Station
from service.storage.database import OUTAGE
from service.web.middleware import Guard, Rules
from streaming.errors import WavetellError

STATUS: dict[type[WavetellError], int] = {NotFound: 404, Conflict: 409, Refused: 403}
ROUTERS = (
    dashboard,
    predict,
    analyse,
    streams,
    live,
    spectrum,
    emissions,
    audio,
    ignored,
    watch,
    history,
    review,
    recordings,
    labels,
    models,
    federation,
    iqengine,
    system,
)


def create_app(station: Station, rules: Rules) -> ASGIApp:
    """The application of one station."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        station.hub.loop = get_running_loop()
        yield
        await run_in_threadpool(station.close)

    app = FastAPI(
        title="wavetell",
        description="Names the modulation of live radio signals.",
        lifespan=lifespan,
        responses=PROBLEMS,
        openapi_url=None,  # ours is below; FastAPI's own pages come from a CDN
    )
    app.state.station, app.state.rules, app.state.jobs = station, rules, Jobs(station)
    for module in ROUTERS:
        app.include_router(module.router)

    @app.get("/openapi.json", include_in_schema=False)
    async def document() -> dict[str, Any]:
        made = app.openapi()
        predict.fit_example(made, station.model.bundle)
        return made

    @app.exception_handler(WavetellError)
    async def user_error(_: Request, error: WavetellError) -> JSONResponse:
        return JSONResponse({"detail": one_line(str(error))}, STATUS.get(type(error), 422))

    @app.exception_handler(RequestValidationError)
    async def not_valid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
        return JSONResponse({"detail": one_line(f"{where}: {first['msg']}")}, 422)

    for outage in OUTAGE:

        @app.exception_handler(outage)
        async def database_away(_: Request, error: Exception) -> JSONResponse:
            return JSONResponse({"detail": "the history cannot be reached"}, 503)

    @app.exception_handler(OSError)
    async def disk_away(_: Request, error: OSError) -> JSONResponse:
        return JSONResponse({"detail": f"the data folder cannot be used: {error.strerror}"}, 503)

    return Guard(app, rules)
