"""The HTTP application."""

from typing import Annotated, Any, Literal

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from hardware.samples import to_complex
from service.predictor import Predictor
from streaming.errors import WavetellError

MAX_BODY = 64 * 2**20


def create_app(predictor: Predictor) -> FastAPI:
    """The application that answers with one model."""
    app = FastAPI(title="wavetell", description="Names the modulation of live radio signals.")

    @app.exception_handler(WavetellError)
    async def user_error(_: Request, error: WavetellError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 422)

    @app.get("/v1/health")
    async def health() -> dict[str, Any]:
        """Whether the service is up, and what runs in it."""
        return {
            "status": "ok",
            "model": predictor.bundle.name,
            "sha256": predictor.sha256,
            "backend": predictor.engine.detail,
        }

    @app.post("/v1/predict")
    async def predict(
        request: Request,
        datatype: Literal["cf32_le", "ci16_le", "ci8", "cu8"] = "cf32_le",
        head: str = "",
        frame: Annotated[int | None, Query(ge=1)] = None,
    ) -> dict[str, Any]:
        """Name the modulation in raw I/Q: one answer a window, and one for the whole."""
        samples = to_complex(await read_body(request), datatype)
        return await run_in_threadpool(predictor.predict, samples, head, frame)

    return app


async def read_body(request: Request) -> bytes:
    """The body, refused as soon as it is known to be too large."""
    if int(request.headers.get("content-length", "0")) > MAX_BODY:
        raise HTTPException(413, f"the body may have at most {MAX_BODY:,} bytes")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise HTTPException(413, f"the body may have at most {MAX_BODY:,} bytes")
    return bytes(body)
