"""The plug-in API of IQEngine, so that its users run wavetell on any recording they look at."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile

from service.errors import NotFound
from service.models.jobs import Job, Jobs
from service.routes.predict import read_raw
from service.schemas.fields import one_line
from service.schemas.iqengine import Job as JobStatus
from service.schemas.iqengine import JobResult, Parameter
from streaming.checked import check, parse_json, shown
from streaming.errors import InputError
from streaming.quantities import FREQ_HZ, RATE_HZ

router = APIRouter(prefix="/plugins", tags=["IQEngine"])
NAME = "wavetell"
BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["iq_file", "metadata_file"],
                "properties": {
                    "iq_file": {"type": "string", "format": "binary"},
                    "metadata_file": {"type": "string", "format": "binary"},
                    "custom_params": {"type": "string"},
                },
            }
        }
    },
}


def the_jobs(request: Request) -> Jobs:
    """The jobs of this application."""
    jobs: Jobs = request.app.state.jobs
    return jobs


@router.get("")
async def names() -> list[str]:
    """The plug-ins here."""
    return [NAME]


@router.get("/{function}")
async def parameters(function: str) -> dict[str, Parameter]:
    """The plug-in's parameters; without any, IQEngine would hide its button."""
    known(function)
    title = "Head of the model, empty for its first"
    return {"head": Parameter(title=title, type="string", default="", value="")}


@router.post("/{function}", openapi_extra={"requestBody": BODY}, response_model_exclude_none=True)
async def run(request: Request, function: str) -> JobStatus:
    """Start to name the modulation in what was sent."""
    known(function)
    async with request.form(max_files=3, max_fields=3) as form:
        samples, meta = form.get("iq_file"), await read_text(form.get("metadata_file"))
        if not isinstance(samples, UploadFile):
            raise InputError("iq_file is missing: the samples as cf32")
        about, custom = (
            parse(meta, "metadata_file"),
            parse(await read_text(form.get("custom_params")), "custom_params"),
        )
        datatype = str(about.get("data_type", "iq/cf32_le")).removeprefix("iq/")
        if datatype != "cf32_le":
            raise InputError(f"data_type is {shown(datatype)}; it must be iq/cf32_le")
        rate_hz: float = check(Annotated[float, RATE_HZ], about.get("sample_rate", 1.0), "sample_rate")
        freq_hz = check(Annotated[float, FREQ_HZ] | None, about.get("center_freq"), "center_freq")
        block = replace(read_raw(await samples.read(), datatype, rate_hz), freq_hz=freq_hz)
    name = one_line(str(about.get("file_name", ""))[:200])
    return the_jobs(request).start(block, name, head_of(custom)).status()


@router.get("/{job_id}/status", response_model_exclude_none=True)
async def progress(request: Request, job_id: str) -> JobStatus:
    """How far a job is."""
    return job_of(request, job_id).status()


@router.get("/{job_id}/result", response_model_exclude_none=True)
async def result(request: Request, job_id: str) -> JobResult:
    """The annotations; samples are counted from the first that was sent."""
    job = job_of(request, job_id)
    return JobResult(job_status=job.status(), annotations=job.annotations)


def known(function: str) -> None:
    """Refuse another plug-in's name."""
    if function != NAME:
        raise NotFound(f"there is no plug-in {function!r}; there is {NAME}")


def job_of(request: Request, job_id: str) -> Job:
    """The job that the path names."""
    job = the_jobs(request).find(job_id)
    if job is None:
        raise NotFound(f"there is no job {job_id}")
    return job


async def read_text(field: object) -> bytes:
    """A form field's content, however it was sent."""
    if isinstance(field, UploadFile):
        return await field.read()
    return str(field or "").encode()


def parse(text: bytes, what: str) -> dict[str, object]:
    """A JSON object; nothing means an empty one."""
    value = parse_json(text or b"{}", what)
    if not isinstance(value, dict):
        raise InputError(f"{what} is not a JSON object")
    return value


def head_of(custom: dict[str, object]) -> str:
    """The head that was asked for; IQEngine sends a parameter as its value or with all it knows of it."""
    head = custom.get("head", "")
    return str(head.get("value", "") if isinstance(head, dict) else head)
