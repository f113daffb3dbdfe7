"""Jobs of the IQEngine plug-in API: I/Q in, annotations out, asked for until they are done."""

import threading
from collections import OrderedDict
from typing import Any

from service.station import Station
from service.storage.ids import new_id
from service.storage.sigmf import LABEL_LENGTH
from streaming.block import Block
from streaming.errors import WavetellError

KEPT = 50  # jobs whose result can still be fetched


class Jobs:
    """The newest jobs; each runs in a thread of its own and is computed by the station's predictor."""

    def __init__(self, station: Station) -> None:
        self.station = station
        self._jobs: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, block: Block, file_name: str, head: str) -> dict[str, Any]:
        """Begin a job; what IQEngine wants to know of it."""
        job = {"job_id": new_id(), "function_name": "wavetell", "file_name": file_name, "progress": 0}
        with self._lock:
            self._jobs[str(job["job_id"])] = job
            while len(self._jobs) > KEPT:
                self._jobs.popitem(last=False)
        threading.Thread(target=self._run, args=(job, block, head), daemon=True).start()
        return status(job)

    def find(self, job_id: str) -> dict[str, Any] | None:
        """A job, with its annotations once it is done."""
        return self._jobs.get(job_id)

    def _run(self, job: dict[str, Any], block: Block, head: str) -> None:
        try:
            answer = self.station.model.predictor.predict([block], head)
            job["annotations"] = annotations(answer["windows"], len(block.samples))
        except WavetellError as error:
            job["error"] = str(error)
        job["progress"] = 100


def status(job: dict[str, Any]) -> dict[str, Any]:
    """The part of a job that IQEngine polls."""
    known = {key: job[key] for key in ("job_id", "function_name", "file_name", "progress")}
    return known | {"error": job["error"]} if "error" in job else known


def annotations(windows: list[dict[str, Any]], samples: int) -> list[dict[str, Any]]:
    """Windows with the same answer, side by side, as one annotation each."""
    notes: list[dict[str, Any]] = []
    for window in windows:
        label = window["label"][:LABEL_LENGTH]
        end = min(samples, window["end"])
        if notes and notes[-1]["core:label"] == label:
            notes[-1]["core:sample_count"] = end - notes[-1]["core:sample_start"]
            continue
        notes.append(
            {
                "core:sample_start": window["start"],
                "core:sample_count": end - window["start"],
                "core:label": label,
                "core:description": f"{window['probability']:.0%}",
                "core:generator": "wavetell",
            }
        )
    return notes
