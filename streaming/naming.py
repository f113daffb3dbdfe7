"""What probabilities are called: the class where it is certain, else the family.

    the class    where its probability is at least `certain`
    the family   elsewhere, the one whose classes are the likeliest together

>>> names = Names(("QPSK", "8PSK", "16QAM"), ("PSK", "PSK", "QAM"), certain=0.6)
>>> names.of(np.array([0.5, 0.4, 0.1]))
Name(label='PSK', family='PSK', probability=0.9)
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Labelled(Protocol):
    """What has a label, and its family where there is one: a name or a prediction."""

    @property
    def label(self) -> str:
        """A class, a family, or that there is no signal or none that is known."""

    @property
    def family(self) -> str | None:
        """Of the label."""


class Name(NamedTuple):
    """A label, its family where there is one, and how probable it is."""

    label: str
    family: str | None
    probability: float


def agree(one: Labelled, other: Labelled) -> bool:
    """Whether both say the same, as far as the less certain one says it."""
    if one.label == other.label:
        return True
    vague = one.label == one.family or other.label == other.family
    return vague and one.family is not None and one.family == other.family


@dataclass(frozen=True)
class Names:
    """The classes of a head, k of them, their families where it has any, and when a class is certain."""

    classes: tuple[str, ...]
    families: tuple[str, ...] = ()  # of each class
    certain: float = 0.0

    def of(self, probabilities: Floats) -> Name:
        """The likeliest class, or the likeliest family where the class is not certain; (k,)."""
        best = int(probabilities.argmax())
        probability = float(probabilities[best])
        if not self.families:
            return Name(self.classes[best], None, probability)
        if probability >= self.certain:
            return Name(self.classes[best], self.families[best], probability)
        together = self.family_probabilities(probabilities)
        family = self.known_families[int(together.argmax())]
        return Name(family, family, float(together.max()))

    def confidence(self, probabilities: Floats) -> Floats:
        """(m, k) to (m,): of the likeliest family, or of the likeliest class where there are no families."""
        return np.asarray(
            (self.family_probabilities(probabilities) if self.families else probabilities).max(1)
        )

    @cached_property
    def family_of(self) -> dict[str, str]:
        """The family of each class, where there are families."""
        return dict(zip(self.classes, self.families, strict=False))

    @cached_property
    def known_families(self) -> tuple[str, ...]:
        """Each family once, in the order of the classes."""
        return tuple(dict.fromkeys(self.families))

    def family_probabilities(self, probabilities: Floats) -> Floats:
        """Probabilities of the classes (..., k) added up by family, (..., families)."""
        return np.asarray(probabilities @ self._members)

    @cached_property
    def _members(self) -> Floats:
        """1 where a class (k) is of a family, (k, families)."""
        return np.array([[of == family for family in self.known_families] for of in self.families], float)
