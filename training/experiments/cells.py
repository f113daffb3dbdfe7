"""One cell of a table: one method on the clients of one case, with one seed, run once and kept as JSON.

A cell's file is named by the hash of everything that decides its result, so that a killed run goes on where
it was, tables share their cells, and a changed setting is a new cell. Pretraining, which sees no label, is
kept under a hash of its own and serves every number of labels.
"""

import hashlib
import json
import os
import platform
import subprocess
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from streaming.checked import as_json
from streaming.files import write_whole
from training.datasets.augment import Level
from training.datasets.synthetic import paper_clients
from training.evaluation.evaluate import Answers, Row
from training.evaluation.limit import LimitRow, limit_row
from training.evaluation.report import as_evaluation
from training.experiments.cases import FILES, Case, open_case
from training.experiments.scale import Scale
from training.methods import METHODS
from training.methods.base import Budget
from training.methods.track import Track
from training.pretraining.recipes import RECIPES

# Methods that share their pretraining.
FAMILY = {"cssl-tuned": "cssl", "cssl-frozen": "cssl", "wavetell-level": "wavetell"}
RECIPE = {"fedssl-amc": "paper"} | dict.fromkeys(("wavetell", "wavetell-level", "zero-steps"), "wavetell")
PRETRAINING = (
    *("pretrain_rounds", "pretrain_steps", "pretrain_batch", "rate", "level", "recipe_share"),
    *("cssl_stages", "proximal", "activation"),
)
LABELS_DO = ("labels",)  # what of a case its pretraining does not see
LIMITS: dict[str, Level] = {"limit": "raw", "limit-level-free": "rms"}
DRAWN = ("heterogeneity", "unit_power")  # what of a case a limit depends on


@dataclass(frozen=True)
class Cell:
    """What is run."""

    method: str
    case: Case
    seed: int
    scale: Scale
    data: Path = Path("data")
    changes: tuple[tuple[str, Any], ...] = ()  # to the scale's budget
    trial: bool = False  # judged by validation frames

    @property
    def budget(self) -> Budget:
        """How long."""
        budget = self.scale.budget_for(self.method, self.case.measured)
        return replace(budget, **dict(self.changes))

    def identity(self) -> dict[str, Any]:
        """Everything that decides the result; of a limit neither labels nor budget nor seed do."""
        scale = self.scale
        if self.method in LIMITS:
            case = {name: value for name, value in asdict(self.case).items() if name in DRAWN}
            return {"method": self.method, "case": case, "frames": self.budget.limit_frames}
        known: dict[str, Any] = {
            "method": self.method,
            "case": asdict(self.case),
            "seed": self.seed,
            "budget": asdict(self.budget),
            "frames": [scale.labels, scale.unlabelled, scale.test, scale.validation, scale.look],
            "trial": self.trial,
        }
        if self.method in RECIPE:
            known["recipe"] = asdict(RECIPES[RECIPE[self.method]])
        if self.case.measured:
            file = self.data / FILES[self.case.set]
            known["file"] = [file.name, file.stat().st_size]
        return known

    def pretraining(self) -> dict[str, Any]:
        """Everything that decides its pretraining."""
        known = self.identity()
        if self.method in LIMITS:
            return known
        case = {name: value for name, value in known["case"].items() if name not in LABELS_DO}
        budget = {name: known["budget"][name] for name in PRETRAINING}
        family = FAMILY.get(self.method, self.method)
        return known | {"method": family, "case": case, "budget": budget, "trial": None}

    @property
    def key(self) -> str:
        """Its name in the cache."""
        return f"{self.method}-{digest(self.identity())}"


def digest(known: dict[str, Any]) -> str:
    """A short hash of settings."""
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:20]


def cached(cell: Cell, cache: Path) -> dict[str, Any] | None:
    """The cell's result, if it was run."""
    path = cache / f"{cell.key}.json"
    return dict(json.loads(path.read_text())) if path.exists() else None


def run_cell(cell: Cell, cache: Path) -> dict[str, Any]:
    """The cell's result, run now if it has not been."""
    found = cached(cell, cache)
    if found is not None:
        return found
    started, cpu = time.monotonic(), time.process_time()
    training = cache / f"{cell.key}.safetensors"
    track = Track(training, cache / f"pretraining-{digest(cell.pretraining())}.safetensors", cell.scale.look)
    row = limit(cell) if cell.method in LIMITS else answers(cell, track)
    result = {
        "cell": cell.identity(),
        "result": as_json(as_evaluation([row])[row.name]),
        "curve": track.curve,
        "seconds": round(time.monotonic() - started, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "commit": commit(),
        "machine": machine(),
        "utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    write_whole(cache / f"{cell.key}.json", json.dumps(result, default=as_number).encode())
    training.unlink(missing_ok=True)
    return dict(json.loads(json.dumps(result, default=as_number)))


def answers(cell: Cell, track: Track) -> Row:
    """What the method says after its training."""
    opened = open_case(cell.case, cell.scale, cell.seed, cell.data)
    method = METHODS[cell.method]()
    method.fit(opened.clients, cell.budget, cell.seed, track)
    tests = [client.validation for client in opened.clients] if cell.trial else opened.tests
    said = {
        client.name: Answers(method.predict(i, test.iq), test.label, test.snr_db)
        for i, (client, test) in enumerate(zip(opened.clients, tests, strict=True))
    }
    return Row(method.title, opened.clients[0].classes, said)


def limit(cell: Cell) -> LimitRow:
    """The limit of the case's clients."""
    case = cell.case
    clients = paper_clients(heterogeneity=case.heterogeneity, unit_power=case.unit_power)
    return limit_row(clients, LIMITS[cell.method], cell.budget.limit_frames)


def as_number(value: object) -> float:
    """numpy's numbers, for JSON."""
    if isinstance(value, np.generic):
        return float(value)
    raise TypeError(f"{type(value).__name__} is not a number")


def commit() -> str:
    """The commit that runs, with a + where files were changed; empty outside a repository."""
    here = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=10"],
            cwd=here,
            check=False,
            capture_output=True,
            text=True,
        )
    except OSError:
        return ""
    return found.stdout.strip()


def machine() -> str:
    """What the numbers' times belong to."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), name)
    return f"{model}, {os.cpu_count()} cores"
