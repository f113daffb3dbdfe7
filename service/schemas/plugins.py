"""The plug-in API of IQEngine."""

from typing import Any

from service.schemas.schema import Schema


class Job(Schema):
    """A job of the plug-in."""

    job_id: str
    function_name: str
    file_name: str
    progress: int
    error: str | None = None


class JobResult(Schema):
    """What a job found."""

    job_status: Job
    annotations: list[dict[str, Any]]


class Parameter(Schema):
    """What the plug-in can be told."""

    title: str
    type: str
    default: str
    value: str
