"""Prediction jobs of the IQEngine plug-in API: I/Q in, annotations out, polled until they are done."""

import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from service.errors import Conflict
from service.schemas.fields import one_line
from service.schemas.iqengine import Job as JobStatus
from service.schemas.sigmf import Annotation
from service.station import Station
from service.storage.ids import new_id
from service.storage.sigmf import LABEL_LENGTH, edges
from streaming.block import Block
from streaming.errors import WavetellError
from streaming.prediction import Prediction

log = logging.getLogger(__name__)
KEPT = 50  # jobs whose result can still be fetched
RUNNING = 8  # jobs at once: each holds a body in memory


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
        self._running = threading.BoundedSemaphore(RUNNING)

    def start(self, block: Block, file_name: str, head: str) -> Job:
        """Start a job."""
        if not self._running.acquire(blocking=False):
            raise Conflict(f"{RUNNING} jobs are under way already; try again in a moment")
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
            bursts = self.station.model.predictor.bursts(block, head)
            job.annotations = annotations(bursts, len(block.samples))
        except WavetellError as error:
            job.error = one_line(str(error))
        except Exception:  # a bug: whoever polls must not wait indefinitely
            log.exception("job %s", job.id)
            job.error = "internal error"
        finally:
            job.progress = 100
            self._running.release()


def annotations(bursts: list[Prediction], samples: int) -> list[Annotation]:
    """A box per burst; one that is not measured fills the band."""
    notes = []
    for burst in bursts:
        middle = burst.offset_hz if burst.centre_hz is None else burst.centre_hz
        lower, upper = edges(burst.bandwidth_hz, middle)
        note = Annotation(
            sample_start=burst.start,
            sample_count=min(samples, burst.end) - burst.start,
            freq_lower_edge=lower,
            freq_upper_edge=upper,
            label=burst.label[:LABEL_LENGTH],
            description=f"{burst.probability:.0%}",
            emission=None if burst.emission is None else str(burst.emission),
            family=burst.family,
            snr_db=None if burst.snr_db is None else round(burst.snr_db, 1),
        )
        notes.append(note)
    return sorted(notes, key=lambda note: note.sample_start)
