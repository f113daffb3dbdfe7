"""The plug-in API of IQEngine, so that its users run wavetell on any recording they look at."""

import json
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile

from service.errors import NotFound
from service.models.plugins import Jobs, status
from service.routes.common import TheStation
from service.routes.predict import LOWEST_HZ, read_raw
from service.schemas.plugins import Job, JobResult, Parameter
from service.schemas.schema import returns
from streaming.errors import InputError

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


@router.get("", **returns(list[str]))
async def names() -> list[str]:
    """The plug-ins here."""
    return [NAME]


@router.get("/{function}", **returns(dict[str, Parameter]))
async def parameters(function: str) -> dict[str, Any]:
    """What the plug-in can be told; without any, IQEngine would hide its button."""
    known(function)
    head = {"title": "Head of the model, empty for its first", "type": "string", "default": "", "value": ""}
    return {"head": head}


@router.post("/{function}", openapi_extra={"requestBody": BODY}, **returns(Job))
async def run(request: Request, station: TheStation, function: str) -> dict[str, Any]:
    """Begin to name the modulation in what was sent."""
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
            raise InputError(f"data_type is {datatype!r}; it must be iq/cf32_le")
        rate = about.get("sample_rate", 1.0)
        if not isinstance(rate, int | float) or not LOWEST_HZ <= rate <= 1e12:
            raise InputError(f"sample_rate is {rate!r}; it must be above {LOWEST_HZ}")
        block = read_raw(await samples.read(), datatype, float(rate))
    return the_jobs(request).start(block, str(about.get("file_name", ""))[:200], head_of(custom))


@router.get("/{job_id}/status", **returns(Job))
async def progress(request: Request, job_id: str) -> dict[str, Any]:
    """How far a job is."""
    return status(job_of(request, job_id))


@router.get("/{job_id}/result", **returns(JobResult))
async def result(request: Request, job_id: str) -> dict[str, Any]:
    """The annotations; samples are counted from the first that was sent."""
    job = job_of(request, job_id)
    return {"job_status": status(job), "annotations": job.get("annotations", [])}


def known(function: str) -> None:
    """Refuse another plug-in's name."""
    if function != NAME:
        raise NotFound(f"there is no plug-in {function!r}; there is {NAME}")


def job_of(request: Request, job_id: str) -> dict[str, Any]:
    """The job, or a clear no."""
    job = the_jobs(request).find(job_id)
    if job is None:
        raise NotFound(f"there is no job {job_id}")
    return job


async def read_text(field: Any) -> bytes:  # noqa: ANN401  (whatever the form held)
    """A form field's content, however it was sent."""
    if isinstance(field, UploadFile):
        return await field.read()
    return str(field or "").encode()


def parse(text: bytes, what: str) -> dict[str, Any]:
    """A JSON object; nothing means an empty one."""
    try:
        value = json.loads(text or b"{}")
    except ValueError:
        raise InputError(f"{what} is no JSON") from None
    if not isinstance(value, dict):
        raise InputError(f"{what} is no JSON object")
    return value


def head_of(custom: dict[str, Any]) -> str:
    """The head that was asked for; IQEngine sends a parameter as its value or with all it knows of it."""
    head = custom.get("head", "")
    return str(head.get("value", "") if isinstance(head, dict) else head)
