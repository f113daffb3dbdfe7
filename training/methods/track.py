"""What a fit leaves behind: its learning curve, and checkpoints from which a killed one goes on.

Pretraining does not depend on labels: its checkpoint has a place of its own, where the next fit with the same
frames and another number of labels finds it finished.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from training.pretraining.checkpoint import Arrays, load_checkpoint, save_checkpoint

SAVE_EVERY_S = 30.0


@dataclass
class Track:
    """The curve of one fit; with paths, its checkpoints."""

    training: Path | None = None  # checkpoint of what depends on labels
    pretraining: Path | None = None  # checkpoint of what does not
    every: int = 1  # rounds between two looks at the validation frames
    curve: list[dict[str, Any]] = field(default_factory=list)
    saved: float = field(default_factory=time.monotonic)

    def note(self, stage: str, round_number: int, loss: float, judge: Callable[[], float] | None) -> None:
        """Add a point; `judge` gives the accuracy on validation frames and is asked now and then."""
        point: dict[str, Any] = {"stage": stage, "round": round_number, "loss": loss}
        if judge is not None and round_number % self.every == 0:
            point["accuracy"] = judge()
        self.curve.append(point)

    def save(self, stage: str, arrays: Arrays, round_number: int, finished: bool) -> None:
        """Write the checkpoint, if it is time to; the end of a pretraining is always kept."""
        path = self.path(stage)
        due = time.monotonic() - self.saved > SAVE_EVERY_S
        if path is None or not (due or (finished and stage == "pretraining")):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        mine = [point for point in self.curve if point["stage"] == stage]
        save_checkpoint(path, arrays, {"round": round_number, "curve": mine})
        self.saved = time.monotonic()

    def load(self, stage: str) -> tuple[Arrays, int] | None:
        """Arrays and round of the checkpoint; its curve becomes this one's."""
        path = self.path(stage)
        found = None if path is None else load_checkpoint(path)
        if found is None:
            return None
        arrays, state = found
        self.curve += state["curve"]
        return arrays, int(state["round"])

    def path(self, stage: str) -> Path | None:
        """Where the checkpoint of a stage is."""
        return self.pretraining if stage == "pretraining" else self.training
