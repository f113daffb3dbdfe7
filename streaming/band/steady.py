"""Steady emissions: what was there before the stream began stands out of the noise beside it."""

import numpy as np

from streaming.band.floor import Floor
from streaming.band.heard import Heard
from streaming.band.lobes import find_lobes, group
from streaming.band.looks import Spectrum
from streaming.band.regions import Mask, runs, widened
from streaming.band.roll import Find, Roll
from streaming.band.track import WATCH, Recent
from streaming.filters import moving_mean

STEADY = 2.0  # density over the noise
LEAST = 0.5  # of the quietest part's density: what a filter leaves at the band's ends is no floor to stand on


class Steady:
    """Opens and closes the steady tracks of a roll."""

    def __init__(self, roll: Roll, floor: Floor, recent: Recent) -> None:
        self.roll, self.floor, self.recent = roll, floor, recent

    def find(self, at: int, looks: int) -> None:
        """Emissions that were there all the time, for so many looks up to look `at`; others end."""
        level = np.asarray(moving_mean(self.floor.level, 3, "nearest"))
        bare = self.floor.noise
        least = LEAST * self.floor.quietest
        noise, below = np.maximum(bare, least), np.maximum(self.floor.below(bare), least)
        gone = [t for t in self.roll.open if t.steady and not (t.mask & (level > STEADY * below)).any()]
        for track in gone:
            self.roll.close(track)
        self._open(level > STEADY * noise, noise, at, looks)
        if (below < noise).any():
            self._open((level > STEADY * below) & (level <= STEADY * noise), below, at, looks)

    def _open(self, mask: Mask, floor: Spectrum, at: int, looks: int) -> None:
        """Tracks of what stands out of this floor where nothing is followed yet."""
        for track in self.roll.open:
            mask &= ~(widened(track.mask) | track.splatter)
        excess = np.where(mask, np.maximum(self.floor.level - floor, 0), 0.0)
        lobes = find_lobes(excess, runs(mask), fine=True)
        if not lobes:
            return
        heard = Heard(self.recent(max(0, at - 2 * WATCH), max(at, 2 * WATCH)), len(mask))
        for one in group(lobes, heard, steady=True):
            self.roll.add(Find(one, excess, floor, at, looks, steady=True), at)
