"""A track: one emission from when it is found until it has been silent for a while; births may become one."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from streaming.band.box import Box, measure
from streaming.band.looks import FREEDOM, Spectrum
from streaming.band.regions import Mask, Run
from streaming.block import Samples
from streaming.native_signals import Followed

WATCH = 8  # looks that new bins are watched for before they become tracks
MEMORY = 16  # looks of the running level
WITHIN = 0.5  # of the power of a rise that lies in a track's bins if it is the track's own
HEARD = 3.5  # standard deviations of noise that a steady emission must be above it in a look
FORGOTTEN = 0.998  # per look, of the peak
WIDER, MOVED = 1.7, 0.3  # ratio of bandwidths, and shift of the centre in bandwidths, of another channel

Recent = Callable[[int, int], Samples]  # the samples of looks [first, end)


@dataclass
class Birth:
    """Bins that rose together and are watched."""

    begin: int
    mask: Mask
    total: Spectrum
    looks: int
    last: int
    level: float
    followed: Followed | None = None  # the same for the kernel


@dataclass
class Track:
    """Times are looks, [begin, last]; `floor` is the noise below it."""

    number: int
    emission: int  # who sends: goes on after a pause
    begin: int
    mask: Mask  # its bins
    floor: Spectrum
    steady: bool  # it was there before the stream began
    box: Box
    total: Spectrum  # of the looks it was heard in
    reached: Mask  # in the last look, if `reaches`
    splatter: Mask  # bins of its products, which are no emissions while it is followed
    looks: int = 0
    last: int = 0
    level: float = 0.0  # excess power per look, lately
    peak: float = 0.0  # the most that a steady one had, forgotten slowly
    reaches: bool = False
    followed: Followed | None = None  # the same for the kernel, with the addresses of its arrays

    def grow(self, grown: Mask) -> None:
        """It reaches these bins, too, if it did so in the look before: the splatter of an onset does not."""
        if self.reaches:
            self.mask |= grown & self.reached
        self.reached[:], self.reaches = grown, True

    def add(self, at: int, look: Spectrum, power: float) -> None:
        """It was heard in this look, this much above the floor."""
        if not self.looks:
            self.total[:] = 0.0
        self.total += look
        self.looks += 1
        self.last = at
        self.level += (power - self.level) / min(self.looks, MEMORY)

    @property
    def excess(self) -> Spectrum:
        """The density above the floor, in the mean of its looks."""
        return np.asarray(np.maximum(self.total / self.looks - self.floor, 0.0))

    def explains(self, run: Run, look: Spectrum, power: float) -> bool:
        """Whether a rise of this power is its own: it has not more than it had, or lost as much beside it."""
        own = np.flatnonzero(self.mask)
        first, end = int(own[0]), int(own[-1]) + 1
        if run[0] >= 2 * end - first or run[1] <= 2 * first - end:  # farther away than it is wide
            return False
        now, region = self.power_in(look, self.mask), np.zeros(len(look), bool)
        region[slice(*run)] = True
        if self.power_in(look, self.mask & region) > WITHIN * self.power_in(look, region):
            return now - self.peak <= power
        return self.level - now > power + HEARD * self.level / math.sqrt(FREEDOM * len(own))

    def power_in(self, look: Spectrum, bins: Mask) -> float:
        """The power above its floor in some bins of a look."""
        return float((look - self.floor)[bins].sum())

    def remember(self, look: Spectrum, held: Mask) -> None:
        """How strong it has been, where nothing else is on top of it."""
        self.peak = max(FORGOTTEN * self.peak, self.power_in(look, self.mask & ~held))

    def measure(self) -> Box | None:
        """Its box over all looks so far."""
        return measure(np.where(self.mask, self.total / self.looks - self.floor, 0.0), self.floor)

    def outgrew(self, box: Box) -> bool:
        """Whether its channel does not fit this box."""
        ratio = box.width / self.box.width
        return max(ratio, 1 / ratio) > WIDER or abs(box.centre - self.box.centre) > MOVED * self.box.width
