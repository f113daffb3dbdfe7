"""A recording that somebody drops onto the page: its spectrogram and every emission, without a stream."""

import base64
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request

from hardware.file import FileSource
from hardware.recording import read_recording
from service.routes.common import TheStation
from service.schemas.fields import RateHz
from service.schemas.predicted import Analysed
from service.station import Station
from service.storage.work import work_folder
from service.watch.picture import spectrogram
from streaming.errors import InputError, WavetellError

router = APIRouter(prefix="/v1", tags=["predict"])
UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
PAIR = (".sigmf-meta", ".sigmf-data")
PICTURE = (640, 320)  # pixels
CHUNK = 1 << 20
BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {
                        "type": "array",
                        "items": {"type": "string", "format": "binary"},
                        "description": "a recording, its name as it was; both files of a SigMF pair",
                    }
                },
            }
        }
    },
}


@router.post("/analyse", openapi_extra={"requestBody": BODY})
async def analyse(
    request: Request,
    station: TheStation,
    rate_hz: Annotated[RateHz | None, Query(description="where the file does not say")] = None,
    datatype: Annotated[str | None, Query(max_length=20, description="where its name does not say")] = None,
) -> Analysed:
    """Find and name every emission of a recording: SigMF, WAV, or raw I/Q that says what it is."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise InputError("send the recording as multipart/form-data, in the field file")
    async with request.form(max_files=2, max_fields=0) as form:
        files = [each for each in form.getlist("file") if isinstance(each, UploadFile)]
        if not files:
            raise InputError("send the recording in the field file")
        with work_folder(station.data) as folder:
            for file in files:
                await save(file, folder)
            path = folder / safe_name(files[0].filename or "")
            try:
                return await run_in_threadpool(look, station, path, rate_hz, datatype)
            except WavetellError as error:  # where the data folder is, is nobody's business
                raise InputError(str(error).replace(f"{folder}/", "")) from None


def safe_name(name: str) -> str:
    """A name that is safe as a file's, and says what the given one said.

    >>> safe_name("../../etc/g001_433.92M_250k.cu8"), safe_name("my air.sigmf-meta")
    ('.._.._etc_g001_433.92M_250k.cu8', 'recording.sigmf-meta')
    """
    suffix = next((suffix for suffix in PAIR if name.lower().endswith(suffix)), "")
    safe = f"recording{suffix}" if suffix else UNSAFE.sub("_", name)[-100:]
    return safe if safe.strip(".") else "recording"


async def save(file: UploadFile, folder: Path) -> None:
    """Write one file of the request."""
    with (folder / safe_name(file.filename or "")).open("wb") as target:
        while piece := await file.read(CHUNK):
            target.write(piece)


def look(station: Station, path: Path, rate_hz: float | None, datatype: str | None) -> Analysed:
    """Everything that is found in a recording."""
    recording = read_recording(path, datatype)
    if rate_hz is not None:
        recording = replace(recording, rate_hz=rate_hz)
    with FileSource(recording, realtime=False, loop=False, start_s=0) as source:
        blocks = list(source.blocks())
    if not blocks:
        raise InputError("there are no samples in it")
    predicted = station.model.predictor.predict(blocks)
    half = source.rate_hz / 2
    return Analysed(
        source=recording.origin,
        rate_hz=source.rate_hz,
        freq_hz=source.freq_hz,
        seconds=(blocks[-1].end - blocks[0].index) / source.rate_hz,
        label=predicted.whole.label,
        emissions=predicted.emissions,
        picture=base64.b64encode(spectrogram(blocks, (-half, half), size=PICTURE)).decode(),
    )
