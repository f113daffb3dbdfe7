"""The catalogue of a sweep: each emission once, however often and in however many steps it was seen.

Steps overlap. What lies beyond a step's usable band is left to its neighbour. Of what two steps saw, the
parts that both could see are compared; two boxes that are alike there are one emission. Its box is that of
the step in which it lies whole, or spans both where it is wider than what they share. Two of one visit are
two.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from streaming.band.box import Box
from streaming.band.emissions import Emission, alike
from streaming.band.looks import bins_for
from streaming.naming import Name

NARROWEST = 3  # bins: what is narrower is compared as if it were this wide


@dataclass(frozen=True, slots=True)
class Visit:
    """One stay at one step: what of the spectrum counts there, in hertz."""

    number: int
    sweep: int  # how often the plan was begun before
    lower_hz: float
    upper_hz: float

    def holds(self, box: Box) -> bool:
        """Whether a box belongs to this step."""
        return self.lower_hz <= box.centre <= self.upper_hz


@dataclass
class Entry:
    """An emission; frequencies are absolute, in hertz."""

    box: Box
    seen: tuple[float, float]  # the spectrum that its box was measured in
    first_ns: int
    last_ns: int
    lasted_ns: int = 0  # the stay that the box is of
    bursts: int = 0
    sweeps: set[int] = field(default_factory=set)
    visit: int = -1  # the newest
    emission: int = -1  # its number there
    votes: defaultdict[tuple[str, str | None], list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def whole(self) -> bool:
        """Whether the box lies within what was seen."""
        return self.seen[0] <= self.box.lower and self.box.upper <= self.seen[1]

    @property
    def name(self) -> Name:
        """The name with the largest sum of probabilities, and their mean."""
        (label, family), given = max(self.votes.items(), key=lambda vote: sum(vote[1]))
        return Name(label, family, sum(given) / len(given))

    def is_same(self, box: Box, visit: Visit, emission: int, narrowest_hz: float) -> bool:
        """Whether a box seen at a visit is this emission."""
        if self.visit == visit.number:
            return self.emission == emission
        lower, upper = max(self.seen[0], visit.lower_hz), min(self.seen[1], visit.upper_hz)
        parts = [cut(one, lower, upper) for one in (self.box, box)]
        return all(part.width > 0 for part in parts) and alike(*(widened(one, narrowest_hz) for one in parts))

    def see(self, box: Box, visit: Visit, emission: Emission) -> None:
        """It was seen once more."""
        first_ns, last_ns = times(emission)
        seen, whole = (
            (visit.lower_hz, visit.upper_hz),
            visit.lower_hz <= box.lower and box.upper <= visit.upper_hz,
        )
        if not self.whole and not whole:
            lower, upper = min(self.box.lower, box.lower), max(self.box.upper, box.upper)
            self.box = Box(
                lower, upper, max(self.box.snr_db, box.snr_db), max(self.box.level_db, box.level_db)
            )
            self.seen = min(self.seen[0], seen[0]), max(self.seen[1], seen[1])
        elif whole and (not self.whole or last_ns - first_ns > self.lasted_ns):
            self.box, self.seen, self.lasted_ns = box, seen, last_ns - first_ns
        self.first_ns, self.last_ns = min(self.first_ns, first_ns), max(self.last_ns, last_ns)
        self.bursts += emission.bursts
        self.sweeps.add(visit.sweep)
        self.visit, self.emission = visit.number, emission.number
        self.votes[emission.name.label, emission.name.family].append(emission.name.probability)


class Catalogue:
    """Emissions of visits in, entries out."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, emission: Emission, visit: Visit) -> None:
        """An emission that was heard at a visit; one beyond the usable band is left out."""
        at = emission.freq_hz or 0.0
        box = Box(
            at + emission.box.lower, at + emission.box.upper, emission.box.snr_db, emission.box.level_db
        )
        if not visit.holds(box):
            return
        narrowest_hz = NARROWEST * emission.rate_hz / bins_for(emission.rate_hz)
        known = [e for e in self.entries if e.is_same(box, visit, emission.number, narrowest_hz)]
        if known:
            entry = min(known, key=lambda e: abs(e.box.centre - box.centre))
        else:
            entry = Entry(box, (visit.lower_hz, visit.upper_hz), *times(emission))
            self.entries.append(entry)
        entry.see(box, visit, emission)

    def listed(self) -> list[Entry]:
        """The entries by frequency."""
        return sorted(self.entries, key=lambda entry: entry.box.centre)


def times(emission: Emission) -> tuple[int, int]:
    """When it was heard first and last."""
    first_ns = emission.utc_ns or 0
    return first_ns, first_ns + round((emission.end - emission.start) * 1e9 / emission.rate_hz)


def cut(box: Box, lower: float, upper: float) -> Box:
    """The part of a box within these frequencies; without width where there is none."""
    lower, upper = max(box.lower, lower), min(box.upper, upper)
    return Box(lower, max(lower, upper), box.snr_db, box.level_db)


def widened(box: Box, narrowest_hz: float) -> Box:
    """At least so wide, around its centre."""
    more = max(0.0, narrowest_hz - box.width) / 2
    return Box(box.lower - more, box.upper + more, box.snr_db, box.level_db)
