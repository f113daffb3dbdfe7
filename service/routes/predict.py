"""One request, one answer: raw I/Q, a SigMF recording, or a few samples as JSON."""

from math import cos, pi, sin
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import UploadFile

from hardware.file import FileSource
from hardware.samples import sample_bytes, to_complex
from hardware.sigmf_file import read_sigmf
from service.routes.common import TheStation
from service.schemas.fields import RateHz
from service.schemas.predicted import Predicted
from service.storage.work import work_folder
from streaming.block import Block
from streaming.bundle import Bundle
from streaming.errors import InputError, WavetellError
from streaming.pipeline import choose_head

router = APIRouter(prefix="/v1", tags=["predict"])


class FewSamples(BaseModel):
    """Samples as [I, Q] pairs, for trying it out."""

    model_config = ConfigDict(extra="forbid")

    samples: list[tuple[float, float]] = Field(min_length=1, max_length=65_536)
    rate_hz: RateHz = 1.0


# One period of FM, wide enough that a front end gives the model half as many samples.
PERIOD = [[round(cos(8 * sin(pi * n / 32)), 2), round(sin(8 * sin(pi * n / 32)), 2)] for n in range(64)]
BODY = {
    "required": True,
    "content": {
        "application/octet-stream": {
            "schema": {"type": "string", "format": "binary"},
            "example": "I and Q interleaved, in the form that `datatype` says",
        },
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["meta", "data"],
                "properties": {
                    "meta": {"type": "string", "format": "binary", "description": "the .sigmf-meta file"},
                    "data": {"type": "string", "format": "binary", "description": "the .sigmf-data file"},
                },
            }
        },
        "application/json": {
            "schema": FewSamples.model_json_schema(),
            "example": {"samples": PERIOD * 64, "rate_hz": 48000},
        },
    },
}


@router.post("/predict", openapi_extra={"requestBody": BODY})
async def predict(
    request: Request,
    station: TheStation,
    *,
    datatype: Annotated[
        Literal["cf32_le", "ci16_le", "ci8", "cu8"], Query(description="of raw I/Q")
    ] = "cf32_le",
    rate_hz: Annotated[RateHz, Query(description="of raw I/Q; places windows in time")] = 1.0,
    head: Annotated[str, Query(max_length=100)] = "",
    frame: Annotated[
        int | None, Query(ge=1, le=65_536, description="each so many samples on their own")
    ] = None,
    step: Annotated[
        Literal["window", "hop"],
        Query(description="from one answer's window to the next's: side by side, or a hop"),
    ] = "window",
) -> Predicted:
    """Name the modulation: one answer per window, and one for the whole.

    Each has the label, calibrated probabilities, and an SNR estimate where the spectrum shows one.
    """
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind == "multipart/form-data":
        blocks = await read_multipart(request, station.data)
    elif kind == "application/json":
        blocks = [read_json(await request.body())]
    else:
        blocks = [read_raw(await request.body(), datatype, rate_hz)]
    return await run_in_threadpool(station.model.predictor.predict, blocks, head, frame, step)


def fit_example(document: dict[str, Any], bundle: Bundle) -> None:
    """Make the JSON example long enough for the model that runs."""
    window = choose_head(bundle, "", "live").window
    content = document["paths"]["/v1/predict"]["post"]["requestBody"]["content"]["application/json"]
    content["example"] = {"samples": PERIOD * -(-window // 32), "rate_hz": 48000}


def read_raw(body: bytes, datatype: str, rate_hz: float) -> Block:
    """The samples of a raw body."""
    each = sample_bytes(datatype)
    if not body or len(body) % each:
        raise InputError(
            f"the body has {len(body):,} bytes; it must be whole samples of {each} bytes ({datatype})"
        )
    return Block(to_complex(body, datatype), 0, rate_hz)


def read_json(body: bytes) -> Block:
    """The samples of a JSON body."""
    try:
        few = FewSamples.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{'.'.join(map(str, first['loc'])) or 'body'}: {first['msg']}") from None
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is refused as such
        samples = np.array(few.samples, np.float64).astype(np.float32).view(np.complex64)[:, 0]
    return Block(samples, 0, few.rate_hz)


async def read_multipart(request: Request, data: Path) -> list[Block]:
    """The blocks of a SigMF recording."""
    async with request.form(max_files=2, max_fields=0) as form:
        meta, samples = form.get("meta"), form.get("data")
        if not isinstance(meta, UploadFile) or not isinstance(samples, UploadFile):
            raise InputError("a recording needs two files, meta (.sigmf-meta) and data (.sigmf-data)")
        with work_folder(data) as folder:
            path = folder / "recording.sigmf-meta"
            path.write_bytes(await meta.read())
            path.with_suffix(".sigmf-data").write_bytes(await samples.read())
            try:
                return await run_in_threadpool(read_recording, path)
            except WavetellError as error:  # where the data folder is, is nobody's business
                raise InputError(str(error).replace(f"{folder}/", "")) from None


def read_recording(path: Path) -> list[Block]:
    """All blocks of a SigMF pair."""
    with FileSource(read_sigmf(path, None), realtime=False, loop=False, start_s=0) as source:
        return list(source.blocks())
