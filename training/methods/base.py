"""What every method is: fitted over clients, then asked about one client's frames."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from streaming.block import Samples
from streaming.encoder import iq
from streaming.errors import ConfigError
from streaming.shape import Activation
from training.datasets.augment import Level, at_level
from training.datasets.frames import Frames
from training.datasets.synthetic import Signal
from training.heads.search import Search
from training.methods.precision import Precision
from training.methods.track import Track

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class ClientFrames:
    """What one client holds. Nobody but the one who scores a method sees its test frames."""

    name: str
    unlabelled: Frames  # every label is -1
    labelled: Frames
    validation: Frames  # for curves and learning rates, never for a result
    precision: Precision = "float32"  # of the weights while it trains
    signal: Signal | None = None  # what the frames were drawn from, for the likelihood limit alone
    priors: tuple[int, ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the labels."""
        return self.labelled.classes


@dataclass(frozen=True)
class Budget:
    """How long a method may train; the defaults are the paper's."""

    rounds: int = 1_000  # of supervised methods
    epochs: int = 1  # a round
    batches: int | None = None  # at which an epoch is cut
    batch: int = 64
    pretrain_rounds: int = 10
    pretrain_steps: int = 15_000  # a client and round
    pretrain_batch: int = 50
    rate: float = 1e-3
    optimiser: Literal["adam", "sgd"] = "adam"  # of supervised methods; no source names it
    tune_epochs: int = 100  # of classifiers behind a pretrained encoder
    search: Search = field(default_factory=Search)
    search_labels: int | None = None  # choose C and gamma on so many labels; None: on all
    level: Level = "rms"  # of the frames
    proximal: float = 0.0  # mu of the pretraining of the causal encoder; 0: plain averaging
    activation: Activation | None = None  # of the causal encoder; None: the recipe's
    federated: bool = False  # such classifiers are averaged too
    cssl_stages: int = 4  # of CSSL-AMC's ResNet: 4 as ResNet-18 has, 2 as the public code
    recipe_share: float = 1.0  # of the steps of wavetell's recipe
    limit_frames: int | None = None  # per client for the likelihood limit; None: for 0.4 points

    def __post_init__(self) -> None:
        whole = ("rounds", "epochs", "batch", "pretrain_rounds", "pretrain_steps", "pretrain_batch")
        if self.proximal < 0:
            raise ConfigError(f"budget.proximal is {self.proximal}; it must be at least 0")
        if self.cssl_stages not in (2, 3, 4):
            raise ConfigError(f"budget.cssl_stages is {self.cssl_stages}; it must be 2, 3 or 4")
        for name in (*whole, "tune_epochs"):
            if getattr(self, name) < 1:
                raise ConfigError(f"budget.{name} is {getattr(self, name)}; it must be at least 1")
        if not self.rate > 0 or not 0 < self.recipe_share <= 1:
            raise ConfigError("budget.rate must be above 0 and budget.recipe_share above 0, at most 1")


class Method(Protocol):
    """A way to name modulations, learnt over several clients."""

    title: ClassVar[str]  # as the paper's tables name it

    def fit(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> None:
        """Learn; the same seed gives the same answers."""

    def predict(self, client: int, frames: Samples) -> Labels:
        """Class indices (n,) of frames (n, N) that this client heard."""


def tensor(frames: Samples, level: Level) -> Tensor:
    """Frames (n, N) as networks take them, (n, N, 2)."""
    return iq(at_level(frames, level))


def generator(*words: int) -> np.random.Generator:
    """Randomness of one purpose; torch's own (dropout, first weights) is set along with it."""
    seeds = np.random.SeedSequence(words)
    torch.manual_seed(int(seeds.generate_state(1, np.uint64)[0] >> 1))
    return np.random.default_rng(seeds)
