"""Emitters: who sends. What begins where somebody was heard within a minute comes from the same emitter."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count

from streaming.band.box import Box

MEMORY_S = 60.0
WIDER, APART = 1.5, 0.3  # how much boxes of one emitter differ: times in width, widths in place
WITHIN, WITHIN_S = 0.7, 0.1  # of the narrower one's band that both have, so many seconds later: a part of it
MOST = 256  # that are remembered


@dataclass(frozen=True)
class Heard:
    """An emission that has ended."""

    emission: int
    box: Box
    end_s: float


class Emitters:
    """`remember` what ended, `recognise` what begins. Numbers are given once in the life of a stream."""

    def __init__(self) -> None:
        self.tracks = count(1)
        self.emissions = 0  # so far
        self._heard: list[Heard] = []

    def forget(self) -> None:
        """Nobody of those who were heard is heard here."""
        self._heard = []

    def renumber(self, numbers: Mapping[int, int]) -> None:
        """Those who were heard have these numbers instead."""
        self._heard = [replace(one, emission=numbers.get(one.emission, one.emission)) for one in self._heard]

    def remember(self, emission: int, box: Box, end_s: float) -> None:
        """It has ended."""
        self._heard = [*self._heard[1 - MOST :], Heard(emission, box, end_s)]

    def recognise(self, box: Box, now_s: float) -> int:
        """The number of who was heard here lately, or a new one."""
        for one in reversed(self._heard):
            ratio = one.box.width / box.width
            ago_s = now_s - one.end_s
            apart = abs(one.box.centre - box.centre) / min(one.box.width, box.width)
            same = 1 / WIDER < ratio < WIDER and apart < APART
            both = min(one.box.upper, box.upper) - max(one.box.lower, box.lower)
            within = both > WITHIN * min(one.box.width, box.width)
            if (ago_s <= MEMORY_S and same) or (ago_s <= WITHIN_S and within):
                self._heard.remove(one)
                return one.emission
        self.emissions += 1
        return self.emissions
