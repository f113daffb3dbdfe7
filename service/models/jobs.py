"""Prediction jobs of the IQEngine plug-in API: I/Q in, annotations out, polled until they are done."""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from service.schemas.answers import Answer
from service.schemas.iqengine import Job as JobStatus
from service.schemas.sigmf import Annotation
from service.station import Station
from service.storage.ids import new_id
from service.storage.sigmf import LABEL_LENGTH, edges
from streaming.block import Block
from streaming.errors import WavetellError

KEPT = 50  # jobs whose result can still be fetched


@dataclass
class Job:
    """One job and what it has found so far."""

    file_name: str
    id: str = field(default_factory=new_id)
    progress: int = 0
    error: str | None = None
    annotations: list[Annotation] = field(default_factory=list)

    def status(self) -> JobStatus:
        """The part that IQEngine polls."""
        return JobStatus(
            job_id=self.id,
            function_name="wavetell",
            file_name=self.file_name,
            progress=self.progress,
            error=self.error,
        )


class Jobs:
    """The newest jobs; each runs in a thread of its own and is computed by the station's predictor."""

    def __init__(self, station: Station) -> None:
        self.station = station
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, block: Block, file_name: str, head: str) -> Job:
        """Start a job."""
        job = Job(file_name)
        with self._lock:
            self._jobs[job.id] = job
            while len(self._jobs) > KEPT:
                self._jobs.popitem(last=False)
        threading.Thread(target=self._run, args=(job, block, head), daemon=True).start()
        return job

    def find(self, job_id: str) -> Job | None:
        """A job, with its annotations once it is done."""
        return self._jobs.get(job_id)

    def _run(self, job: Job, block: Block, head: str) -> None:
        try:
            answer = self.station.model.predictor.predict([block], head)
            job.annotations = annotations(answer.windows, len(block.samples))
        except WavetellError as error:
            job.error = str(error)
        job.progress = 100


def annotations(windows: list[Answer], samples: int) -> list[Annotation]:
    """Windows side by side with the same label, of the same emission, as one annotation each."""
    notes: list[Annotation] = []
    for window in windows:
        label, end = window.label[:LABEL_LENGTH], min(samples, window.end)
        lower, upper = edges(
            window.bandwidth_hz, window.offset_hz if window.centre_hz is None else window.centre_hz
        )
        note = Annotation(
            sample_start=window.start,
            sample_count=end - window.start,
            freq_lower_edge=lower,
            freq_upper_edge=upper,
            label=label,
            description=f"{window.probability:.0%}",
            emission=window.emission,
        )
        if notes and (notes[-1].label, notes[-1].emission) == (label, window.emission):
            start = notes.pop().sample_start
            note = note.model_copy(update={"sample_start": start, "sample_count": end - start})
        notes.append(note)
    return notes
