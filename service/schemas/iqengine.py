"""The plug-in API of IQEngine, in its own names; what is not known is left out."""

from service.schemas.sigmf import Annotation, SigMF


class Job(SigMF):
    """A job of the plug-in."""

    job_id: str
    function_name: str
    file_name: str
    progress: int
    error: str | None = None


class JobResult(SigMF):
    """What a job found."""

    job_status: Job
    annotations: list[Annotation]


class Parameter(SigMF):
    """A parameter of the plug-in."""

    title: str
    type: str
    default: str
    value: str
