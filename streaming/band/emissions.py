"""Emissions: what is known of each transmitter that is followed, and when that is told.

    new      it was named alike `HITS` times and lasted `LASTING_S`; or its burst ended; or it goes on unclear
    update   its name or its box is another one; or an interval passed in which it was answered, or a second
    end      it has been silent for a second, or the stream ended or was retuned

An emission that comes back within a minute is the same one: it is `new` again, and its bursts add up.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from streaming.band.box import Box
from streaming.band.emitters import MEMORY_S
from streaming.band.frontend import Piece
from streaming.block import Block, Clock
from streaming.naming import Name, Names, agree
from streaming.prediction import NOISE, UNKNOWN, Prediction

State = Literal["new", "update", "end"]
MOST = 1024  # that are followed or remembered
HITS, LASTING_S = 3, 0.2  # answers in a row that agree, and how long it must last, to be told
PATIENCE_S = 2.0  # it is told after this long, however unclear
HOLD = 2  # answers in a row that make it another name
SILENT_S = 1.0  # that end it
BEAT_S = 1.0  # between updates of what goes on
WIDER, MOVED = 1.25, 0.25  # ratio of bandwidths, and shift in bandwidths, of a box that is told anew
NEAREST = 3  # names that are told of what is refused


@dataclass(frozen=True, slots=True)
class Emission:
    """An emission as it is at one moment; times are samples of the source, [start, end)."""

    number: int
    state: State
    start: int
    end: int
    box: Box  # in hertz from the source's centre
    name: Name
    nearest: tuple[
        tuple[str, float], ...
    ]  # families, or classes, and their probabilities where it is refused
    bursts: int
    duty: float  # share of the time since it was first heard in which it was on
    rate_hz: float
    freq_hz: float | None  # the source's centre
    utc_ns: int | None  # of `start`
    clock: Clock
    embedding: NDArray[np.float32] | None = field(default=None, compare=False)  # of what named it


@dataclass
class Followed:
    """What is known of one emission."""

    number: int
    first: float
    utc_ns: int | None
    box: Box
    last: float = 0.0
    on: float = 0.0  # samples
    bursts: int = 0
    name: Name | None = None
    nearest: tuple[tuple[str, float], ...] = ()
    embedding: NDArray[np.float32] | None = None  # of the newest answer that agrees with the name
    agreed: int = 0  # answers in a row
    other: int = 0  # answers in a row that disagree with the name
    told: Box | None = None  # the box that readers know; None where it is not announced
    told_at: float = -1.0  # when it was last heard, as readers know it
    fresh: bool = False  # answered since it was told
    renamed: bool = False  # since it was told
    paused: bool = False  # its burst has ended

    def hear(self, piece: Piece) -> None:
        """It was heard in this piece."""
        end = piece.start + len(piece.samples) * piece.step
        self.bursts += piece.begins not in (None, "change") or not self.bursts
        self.on += max(0.0, end - max(self.last, piece.start))
        self.last = max(self.last, end)
        self.box, self.paused = piece.box, piece.ends

    def answer(self, prediction: Prediction, names: Names) -> None:
        """It was named; one answer that disagrees is not yet another name once it is known."""
        same = self.name is not None and agree(self.name, prediction)
        self.fresh, self.other = True, 0 if same else self.other + 1
        if not same and self.told is not None and self.other < HOLD:
            return
        self.renamed |= self.told is not None and not same
        self.agreed = self.agreed + 1 if same else max(1, self.other * (self.told is not None))
        self.name = Name(prediction.label, prediction.family, prediction.probability)
        self.nearest = nearest(prediction, names) if prediction.label == UNKNOWN else ()
        self.embedding = prediction.embedding
        self.other = 0

    def due(self, now: float, rate_hz: float, interval_s: float) -> State | None:
        """What is to be told at sample `now`."""
        if self.name is None:
            return None
        if now - self.last > SILENT_S * rate_hz:
            return "end" if self.told is not None else None
        lasted_s = (self.last - self.first) / rate_hz
        if self.told is None:
            if self.name.label == NOISE:  # the receiver's own: it stood out of the floor, and is no emission
                return None
            sure = self.agreed >= HITS and lasted_s >= LASTING_S
            return "new" if sure or self.paused or lasted_s >= PATIENCE_S else None
        ratio = self.box.width / self.told.width
        moved = abs(self.box.centre - self.told.centre) > MOVED * self.told.width
        passed_s = (self.last - self.told_at) / rate_hz
        another = self.renamed or moved or not 1 / WIDER < ratio < WIDER
        waited = passed_s >= BEAT_S or (self.fresh and passed_s >= interval_s)
        return "update" if another or waited else None


@dataclass
class Book:
    """The emissions of one stream: pieces and answers in, what is to be told out."""

    names: Names
    short: int = 0  # emissions that were too short to be named
    _of: dict[int, Followed] = field(default_factory=dict)
    _ended: list[Emission] = field(default_factory=list)  # not told yet

    @property
    def followed(self) -> int:
        """Emissions that are on the air."""
        return sum(one.told is not None for one in self._of.values())

    def match(self, other: "Book") -> dict[int, int]:
        """The numbers of these emissions in another book of the stream; what is not there is left out."""
        numbers: dict[int, int] = {}
        for one in reversed(self._of.values()):
            for there in reversed(other._of.values()):
                if there.number not in numbers.values() and alike(one.box, there.box):
                    numbers[one.number] = there.number
                    break
        return numbers

    def hear(self, piece: Piece, block: Block) -> None:
        """An emission was heard; where there are too many, the one heard longest ago makes room."""
        one = self._of.pop(piece.emission, None)
        if one is None:
            utc_ns = block.utc_at(round(piece.start))
            one = Followed(piece.emission, piece.start, utc_ns, piece.box, last=piece.start)
        self._of[piece.emission] = one
        one.hear(piece)
        if len(self._of) > MOST:
            self._forget(next(iter(self._of)), block)

    def answer(self, prediction: Prediction) -> None:
        """An emission was named."""
        one = self._of.get(prediction.emission or 0)
        if one is not None:
            one.answer(prediction, self.names)

    def take(self, block: Block, now: int, interval_s: float) -> list[Emission]:
        """What is to be told, now that the stream is at sample `now`."""
        told, self._ended = self._ended, []
        for number, one in list(self._of.items()):
            state = one.due(now, block.rate_hz, interval_s)
            if state:
                told.append(self._tell(one, state, block))
            elif now - one.last > MEMORY_S * block.rate_hz:
                self._forget(number, block)
        return told

    def end_all(self, block: Block) -> None:
        """The stream ends, or goes on elsewhere: nobody is heard any more."""
        for one in self._of.values():
            one.paused = True
            if one.told_at < one.last and one.due(one.last, block.rate_hz, 0.0) == "new":
                self._ended.append(self._tell(one, "new", block))
        for number in list(self._of):
            self._forget(number, block)

    def _forget(self, number: int, block: Block) -> None:
        one = self._of.pop(number)
        self.short += one.name is None
        if one.told is not None:
            self._ended.append(self._tell(one, "end", block))

    def _tell(self, one: Followed, state: State, block: Block) -> Emission:
        """The emission as it is now."""
        assert one.name is not None
        one.told, one.told_at = None if state == "end" else one.box, one.last
        one.fresh = one.renamed = False
        return Emission(
            number=one.number,
            state=state,
            start=round(one.first),
            end=round(one.last),
            box=one.box,
            name=one.name,
            nearest=one.nearest,
            bursts=one.bursts,
            duty=min(1.0, one.on / max(1.0, one.last - one.first)),
            rate_hz=block.rate_hz,
            freq_hz=block.freq_hz,
            utc_ns=one.utc_ns,
            clock=block.clock,
            embedding=one.embedding,
        )


def alike(one: Box, other: Box) -> bool:
    """Whether two boxes may be of one emission."""
    return 0.5 < one.width / other.width < 2 and abs(one.centre - other.centre) < 0.5 * one.width


def nearest(prediction: Prediction, names: Names) -> tuple[tuple[str, float], ...]:
    """The likeliest families, or classes of a head without families."""
    values, known = prediction.probabilities, names.classes
    if names.families:
        values, known = names.family_probabilities(values), names.known_families
    best = sorted(zip(known, values.tolist(), strict=True), key=lambda pair: -pair[1])
    return tuple(best[:NEAREST])
