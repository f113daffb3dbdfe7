"""What a station has to learn in a round, and from what; it travels to the child process."""

from dataclasses import dataclass
from pathlib import Path

from training.federation.manifest import Manifest

ENDINGS = (".sigmf-meta", ".cu8", ".cs8", ".cs16", ".cf32", ".fc32", ".cfile", ".wav")


@dataclass(frozen=True)
class Synthetic:
    """The unlabelled frames of one of the paper's clients, made here; further clients repeat the four."""

    number: int  # from 0
    frames: int = 140_000


@dataclass(frozen=True)
class Recordings:
    """Frames cut out of every recording in a folder, none of them across a gap."""

    folder: Path
    frame: int = 100  # samples
    newest: int = 0  # changes when there is something new in the folder
    most: int = 140_000


Data = Synthetic | Recordings


@dataclass(frozen=True)
class Lesson:
    """One round of one station, and where its state is kept."""

    folder: Path
    manifest: Manifest
    data: Data
    station: str
    generation: int
    probe: bool = False  # measure the accuracy of the model the round starts from; synthetic data only


@dataclass(frozen=True)
class Learnt:
    """What came of it, beside the tensors in `folder`."""

    examples: int
    loss: float
    accuracy: float | None

    def measured(self) -> dict[str, float]:
        """What the update says of the training."""
        measured = {"loss": self.loss}
        return measured if self.accuracy is None else measured | {"accuracy": self.accuracy}


@dataclass(frozen=True)
class Wanted:
    """The bundle that a station makes of the last model, and the labels its own head is fitted to."""

    out: Path
    head: str
    data: Data
    labelled: str = ""  # a data set
    labels: int = 0  # of the synthetic client's own; without either there is no head
    window: int = 100  # samples an answer covers
    past: int = 400  # samples before them
