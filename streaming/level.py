"""The front end of a model that takes the source's samples as they are: a causal AGC alone."""

from dataclasses import dataclass
from typing import Annotated, Literal

from streaming.checked import Checked, Range


@dataclass(frozen=True)
class LevelSettings(Checked):
    """Of a model that takes the source's samples as they are."""

    section = "frontend"
    kind: Literal["level"] = "level"
    agc_samples: Annotated[float, Range(1, 1e9)] = 4096.0  # time constant of the level
