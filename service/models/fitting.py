"""The process that fits heads to labels (`service.models.taught`), seen from the service.

It is started with the first label, so that its imports are done before anybody waits for a fit.
"""

import json
import os
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from service.errors import Conflict
from service.schemas.labels import Fitted
from streaming.errors import InputError


@dataclass(frozen=True)
class Job:
    """A head to fit."""

    base: str  # the model's file, or a shipped model's name
    labels: str  # folder
    like: str  # head of the base whose window and hop the new head has
    head: str  # name of the new head
    model: str  # name of the new model
    result: str  # file of the new model


class Fitter:
    """Does one job after the other."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def warm(self) -> None:
        """Start the process if it does not run."""
        with self._lock:
            self._running()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "service.models.taught"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=Path(__file__).parents[2],
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
        return self._process

    def fit(self, job: Job) -> Fitted:
        """Fit a head; the new model is in the job's result file when this returns."""
        with self._lock:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(json.dumps(asdict(job)) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except (OSError, ValueError):  # it was ended, or its pipes are closed: the service stops
                line = ""
        if not line:
            raise Conflict("the process that fits heads has ended; try again")
        answer = json.loads(line)
        if "error" in answer:
            raise InputError(answer["error"])
        return Fitted.model_validate(answer)

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe:
                    pipe.close()
