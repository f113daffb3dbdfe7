"""Named recipes: everything that decides what a pretraining run does, beside its data and its seed.

`paper` is FedSSL-AMC as published: triplet loss, max pooling, 15,000 steps of 50 per client and round.
`wavetell` is ours on the same encoder; docs/pretraining.md says what was tried and what helped.
`radio` is for realistic signals behind the front end; see docs/radio.md.

>>> RECIPES["paper"].rounds
10
"""

import math
from dataclasses import dataclass, field
from typing import Literal

from streaming.errors import ConfigError
from streaming.shape import CHEAP, EncoderShape
from training.datasets.augment import Augment, Level
from training.objectives.describe import DescribeSettings
from training.objectives.halves import HalvesSettings
from training.objectives.triplet import TripletSettings
from training.pretraining.initialisation import Initialisation

Schedule = Literal["constant", "cosine"]


@dataclass(frozen=True)
class Recipe:
    """How an encoder is pretrained."""

    objective: TripletSettings | HalvesSettings | DescribeSettings
    shape: EncoderShape = field(default_factory=EncoderShape)
    initialisation: Initialisation = field(default_factory=Initialisation)
    level: Level = "rms"  # "rms": each frame divided by its RMS, as heads in frame mode do
    rounds: int = 10
    steps: int = 15_000  # a client and round
    batch: int = 50
    rate: float = 1e-3  # Adam's
    schedule: Schedule = "constant"
    proximal: float = 0.0  # mu
    keep_moments: bool = False  # Adam's moments stay on the client from round to round
    replay: int = 0  # simulated frames that a station adds to those of its recordings
    canonical: float | None = None  # at the end, outputs along what halves agree on, to this power of it

    def __post_init__(self) -> None:
        least_of = {"rounds": 1, "steps": 1, "batch": 1, "rate": 0, "proximal": 0, "replay": 0}
        for name, least in least_of.items():
            if getattr(self, name) < least:
                raise ConfigError(f"recipe.{name} is {getattr(self, name)}; it must be at least {least}")

    def rate_at(self, share: float) -> float:
        """The learning rate after this share of the whole run."""
        if self.schedule == "constant":
            return self.rate
        return self.rate * (0.5 + 0.5 * math.cos(math.pi * min(share, 1.0)))


RECIPES = {
    "paper": Recipe(TripletSettings()),
    "wavetell": Recipe(
        HalvesSettings(),
        shape=EncoderShape(pooling="mean"),
        initialisation=Initialisation(past=0.1, first=3.0, bias=2.0, gain=1.7),
        steps=50,
        batch=128,
        schedule="cosine",
        keep_moments=True,
        canonical=1.5,
    ),
    "radio": Recipe(
        DescribeSettings(part=768, augment=Augment(rotation=math.pi, cfo=0.003)),
        shape=CHEAP,
        initialisation=Initialisation(past=0.5, first=1.0, bias=1.0, gain=1.7),
        steps=600,
        batch=8,  # four stations' small batches average to one of 32
        rate=2e-3,
        schedule="cosine",
        keep_moments=True,
        canonical=2.0,
    ),
}


def find_recipe(name: str) -> Recipe:
    """The recipe of this name."""
    if name not in RECIPES:
        raise ConfigError(f"there is no recipe {name!r}; expected {' or '.join(RECIPES)}")
    return RECIPES[name]
