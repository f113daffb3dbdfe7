"""What a federation agrees on: its tensors, how stations train, and the terms of a round.

The manifest travels with every round, so that a station needs to know nothing but the coordinator's address,
and both sides know every size before the first byte of a body.
"""

import json
import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

from streaming.errors import ConfigError

Precision = Literal["float32", "float16", "int8"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
Method = Literal["mean", "clipped", "trimmed", "median"]
METHODS: tuple[Method, ...] = get_args(Method)
VALUE_BYTES: dict[Precision, int] = {"float32": 4, "float16": 2, "int8": 1}


@dataclass(frozen=True)
class Manifest:
    """The tensors of the federated model, and the recipe that every station trains by."""

    run: str
    tensors: dict[str, tuple[int, ...]]  # name -> shape
    recipe: dict[str, Any] = field(default_factory=dict)  # see training.federation.station.learner
    rounds: int = 10
    seed: int = 0

    def to_json(self) -> dict[str, Any]:
        """As a round's description carries it."""
        return asdict(self) | {"tensors": {name: list(shape) for name, shape in self.tensors.items()}}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Manifest":
        """The manifest that `to_json` described."""
        return cls(
            **content | {"tensors": {name: tuple(shape) for name, shape in content["tensors"].items()}}
        )

    def size(self, name: str) -> int:
        """Values of a tensor."""
        return math.prod(self.tensors[name])

    def tensor_bytes(self, precision: Precision) -> int:
        """Bytes of all tensors in a body, scales included."""
        scales = 4 * len(self.tensors) if precision == "int8" else 0
        return VALUE_BYTES[precision] * sum(map(self.size, self.tensors)) + scales

    @property
    def header_bound(self) -> int:
        """Bytes that a body's header may have."""
        return 1024 + sum(120 + len(name) + 12 * len(shape) for name, shape in self.tensors.items())

    def body_bound(self, precision: Precision) -> int:
        """Bytes that a body may have."""
        return 8 + self.header_bound + self.tensor_bytes(precision)


@dataclass(frozen=True)
class Terms:
    """When a round closes and what may count in it; the coordinator's own business."""

    quorum: int = 2  # updates without which a round is abandoned
    deadline_s: float = 600.0  # after which a round closes
    grace_s: float = 60.0  # from the quorum on, for those who are slower
    method: Method = "mean"
    trim: float = 0.25  # share that the trimmed mean leaves out at each end
    norm_factor: float = 5.0  # a norm beyond so many medians of the round's is refused
    max_examples: int = 1_000_000  # the most that one update may weigh
    precisions: tuple[Precision, ...] = PRECISIONS
    keep_rounds: int = 10  # whose files stay on the disk
    clip: float = 0.0  # norm of an update at most, with noise; see training.federation.privacy
    noise: float = 0.0  # its multiplier z; 0: no differential privacy
    delta: float = 1e-5

    def __post_init__(self) -> None:
        for name, least in (("quorum", 1), ("max_examples", 1), ("keep_rounds", 2), ("norm_factor", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        if self.deadline_s <= 0 or self.grace_s < 0 or not 0 <= self.trim < 0.5:
            raise ConfigError("deadline_s must be above 0, grace_s at least 0 and trim from 0 to below 0.5")
        if self.noise < 0 or (self.noise > 0) != (self.clip > 0) or not 0 < self.delta < 1:
            raise ConfigError("noise and clip must both be above 0, or both 0, and delta from 0 to 1")
        if self.noise and self.method != "mean":
            raise ConfigError(f"the method is {self.method}; with noise it must be mean")
        if self.method not in METHODS:
            raise ConfigError(f"the method is {self.method!r}; it must be {' or '.join(METHODS)}")
        wrong = [name for name in self.precisions if name not in PRECISIONS]
        if wrong or "float32" not in self.precisions:
            raise ConfigError(f"precisions may be {', '.join(PRECISIONS)}, and float32 must be among them")

    def to_json(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Terms":
        """The terms that were stored."""
        content = json.loads(text)
        known = {item.name for item in fields(cls)}
        values = {name: value for name, value in content.items() if name in known}
        return cls(**values | {"precisions": tuple(content["precisions"])})
