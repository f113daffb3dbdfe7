"""What a bundle says about itself: its front end, where it came from and how often it is right."""

from dataclasses import dataclass, field
from typing import Annotated

from streaming.band.frontend import BandSettings
from streaming.checked import Checked, Range
from streaming.level import LevelSettings

FrontEndConfig = LevelSettings | BandSettings  # `kind` tells them apart in a file
Share = Annotated[float, Range(0, 1)]
Count = Annotated[int, Range(0, 2**53)]
Decibels = Annotated[float, Range(-300, 300)]
Positive = Annotated[float, Range(0, 1e12)]


@dataclass(frozen=True)
class HeadSearch(Checked):
    """What the fit of a head tried."""

    kernel: str
    C: tuple[str, ...]  # as text, for one of the paper's is infinite
    gamma: tuple[Positive, ...]
    penalties: tuple[Positive, ...]
    folds: Count
    refuse: Share
    seed: Count


@dataclass(frozen=True)
class HeadFit(Checked):
    """How heads were fitted to a data set."""

    seed: Count
    search: HeadSearch
    labels: Count | None = None  # None: all there are


@dataclass(frozen=True)
class FederatedRun(Checked):
    """The federated run that made the encoder."""

    run: str
    rounds: Count
    seed: Count


@dataclass(frozen=True)
class Provenance(Checked):
    """Where a model came from."""

    command: str | None = None  # that pretrained the encoder
    federation: FederatedRun | None = None
    fits: dict[str, HeadFit] = field(default_factory=dict)  # by data set


@dataclass(frozen=True)
class FittedHead(Checked):
    """A head that a station fitted to its own labels."""

    base: str  # sha256 of the bundle whose encoder it has
    labels: dict[str, Count]  # of each class
    made: str  # UTC


@dataclass(frozen=True)
class SnrPoint(Checked):
    """Accuracy at one SNR."""

    snr_db: Decibels
    accuracy: Share
    interval: tuple[Share, Share] | None = None  # of 95 %
    frames: Count | None = None


@dataclass(frozen=True)
class ClientAccuracy(Checked):
    """Accuracy of one client's head."""

    accuracy: Share
    interval: tuple[Share, Share]
    frames: Count
    refused: Share


@dataclass(frozen=True)
class EvaluationRow(Checked):
    """One method's accuracy, as `wavetell evaluate` finds it."""

    by_snr: tuple[SnrPoint, ...]
    mean: Share | None = None
    mean_half_width: Share | None = None
    clients: dict[str, ClientAccuracy] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    confusion: tuple[tuple[Count, ...], ...] = ()


@dataclass(frozen=True)
class Meta(Checked):
    """Everything in a bundle that is neither a tensor nor describes one."""

    front_end: FrontEndConfig = field(default_factory=LevelSettings)
    provenance: Provenance = field(default_factory=Provenance)
    evaluation: dict[str, EvaluationRow] = field(default_factory=dict)  # by method
    fitted: dict[str, FittedHead] = field(default_factory=dict)  # by head
