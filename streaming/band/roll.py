"""The roll of tracks: which are followed, and what became of them since it was last asked."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from streaming.band.box import measure
from streaming.band.emitters import Emitters
from streaming.band.lobes import Group, bins_of
from streaming.band.looks import FREEDOM, Spectrum
from streaming.band.regions import Mask, widened
from streaming.band.track import Track

SURE = 18.0  # standard deviations of noise below which nothing is reported
WIDE, ALMOST_ALL = 0.1, 0.4  # of the band: a rise of most of it is the receiver's gain
LEAST_DB, WIDE_DB, GAIN_DB = -6.0, 0.0, 3.0  # SNR below which a burst is none, by its width
# What is steady and weak is the floor itself, which is neither flat nor constant; or, where it is a line or
# lies around zero, the receiver's own clocks and flicker.
STEADY_DB, OWN_DB = 4.5, 6.0
LINE = 6  # bins
MOST_TRACKS = 256


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a track; `moved`: its band is another one now."""

    kind: Literal["opened", "moved", "closed"]
    track: Track


@dataclass(frozen=True, slots=True)
class Find:
    """Lobes of one emission above a floor, in the mean of so many looks, the first of which is `begin`."""

    lobes: Group
    excess: Spectrum
    floor: Spectrum
    begin: int
    looks: int
    steady: bool


class Roll:
    """`open` are the tracks that go on."""

    def __init__(self, bins: int, look_s: float, emitters: Emitters, begin_s: float) -> None:
        self.bins, self.look_s, self.emitters, self.begin_s = bins, look_s, emitters, begin_s
        self.open: list[Track] = []
        self.refused = 0  # tracks beyond the bound
        self._changes: list[Change] = []

    def take(self) -> list[Change]:
        """What changed since this was last called."""
        changes, self._changes = self._changes, []
        return changes

    def add(self, find: Find, at: int) -> Track | None:
        """A new track at look `at`, if it is surely more than noise."""
        mask = bins_of(find.lobes.members, self.bins)
        own = np.where(mask, find.excess, 0.0)
        box = measure(own, find.floor)
        if box is None or box.snr_db < (least_steady_db(mask) if find.steady else least_db(box.width)):
            return None
        width = max(1.0, box.width * self.bins)
        if 10 ** (box.snr_db / 10) * math.sqrt(FREEDOM * width * find.looks) < SURE:
            return None
        if len(self.open) >= MOST_TRACKS:
            self.refused += 1
            return None
        track = Track(
            number=next(self.emitters.tracks),
            emission=self.emitters.recognise(box, self._seconds(at)),
            begin=find.begin,
            mask=mask,
            floor=find.floor.copy(),
            steady=find.steady,
            box=box,
            total=np.zeros(self.bins),
            reached=np.zeros(self.bins, bool),
            splatter=widened(bins_of(find.lobes.products, self.bins)) & ~mask,
            last=find.begin,
        )
        track.level = track.peak = float(own.sum())
        self.open.append(track)
        self._changes.append(Change("opened", track))
        return track

    def move(self, track: Track) -> None:
        """Its band is another one now."""
        self._changes.append(Change("moved", track))

    def close(self, track: Track) -> None:
        """It has ended."""
        self.open.remove(track)
        self.emitters.remember(track.emission, track.box, self._seconds(track.last))
        self._changes.append(Change("closed", track))

    def _seconds(self, look: int) -> float:
        """When a look was, by the source's count."""
        return self.begin_s + look * self.look_s


def least_db(width: float) -> float:
    """The SNR that a burst has at least, by its share of the band."""
    return LEAST_DB if width <= WIDE else WIDE_DB if width <= ALMOST_ALL else GAIN_DB


def least_steady_db(mask: Mask) -> float:
    """The SNR that a steady emission with these bins has at least."""
    own = np.flatnonzero(mask)
    first, end = int(own[0]), int(own[-1]) + 1
    return OWN_DB if end - first <= LINE or first <= len(mask) // 2 < end else STEADY_DB
