"""The models of a run: the global one, and one that follows it for each lower precision,

    Q_n = Q_(n-1) + q(M_n - Q_(n-1)),     Q_(-1) = 0

What rounding lost in one round is in the next difference, and a station that holds Q_(n-1) downloads only
q(.).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from training.federation.codec import Body, Floats, encode
from training.federation.coordinator.store import Store
from training.federation.errors import Problem
from training.federation.manifest import Manifest, Precision, Terms

Statement = tuple[str, Sequence[Any]]


class Models:
    """The models of every generation; generation 0 is what the run starts from."""

    def __init__(self, store: Store, manifest: Manifest) -> None:
        self.store, self.manifest = store, manifest

    def of(self, generation: int) -> dict[Precision, str]:
        """Precision -> the sha256 of that generation's model."""
        rows = self.store.query("SELECT precision, sha256 FROM models WHERE generation = ?", (generation,))
        return {row["precision"]: row["sha256"] for row in rows}

    def open(self, sha256: str) -> Body:
        """A whole model."""
        return Body.open(self.store.model(sha256), self.manifest, "float32")

    def find(self, sha256: str, precision: Precision, held: str) -> tuple[Path, Precision, str]:
        """The file to send, its precision and what it is to be added to: a step from `held`, or all of it."""
        if not self.store.model(sha256).exists():
            raise Problem(404, f"there is no model {sha256[:16]}")
        rows = self.store.query(
            "SELECT delta FROM models WHERE sha256 = ? AND precision = ? AND source = ? AND delta != ''",
            (sha256, precision, held),
        )
        for row in rows:
            return self.store.model(row["delta"]), precision, held
        return self.store.model(sha256), "float32", ""

    def add(self, generation: int, model: Floats, terms: Terms) -> list[Statement]:
        """Write the files of a new generation; the statements that enter them."""
        before = self.of(generation - 1)
        entries: list[tuple[str, str, str, str]] = []
        for precision in terms.precisions:
            if precision == "float32":
                entries.append((precision, self.store.add_model(encode(model, "float32", {})), "", ""))
                continue
            source = before.get(precision, "")
            held = self.open(source).arrays() if source else zeros(self.manifest)
            lost = {name: model[name] - held[name] for name in model}
            delta = self.store.add_model(encode(lost, precision, {}))
            step = Body.open(self.store.model(delta), self.manifest, precision).arrays()
            followed = self.store.add_model(encode(added(held, step), "float32", {}))
            entries.append((precision, followed, source, delta))
        sql = "INSERT INTO models (generation, precision, sha256, source, delta) VALUES (?, ?, ?, ?, ?)"
        return [(sql, (generation, *entry)) for entry in entries]


def added(model: Floats, step: Floats) -> Floats:
    """model + step, rounded once."""
    return {name: (model[name] + step[name]).astype(np.float32) for name in model}


def zeros(manifest: Manifest) -> Floats:
    """The model that a chain of differences starts from."""
    return {name: np.zeros(shape, np.float32) for name, shape in manifest.tensors.items()}
