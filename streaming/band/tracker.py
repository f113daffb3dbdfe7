"""The tracker: from looks at the band to tracks, each one emission in time and frequency.

Two things make a track. *Bursts* are bins that rise above what was always there; those that rise together are
watched for a few looks, then parted into emissions (`streaming.band.lobes`). *Steady* emissions were there
before the stream began: they stand out of the quietest part of the band. An emission that becomes far
stronger at once is another one. A track ends after `hang` looks of silence; who sends a new one is up to
`streaming.band.emitters`.
"""

import math

import numpy as np
from numpy.typing import NDArray

from streaming.band.births import Births
from streaming.band.emitters import Emitters
from streaming.band.floor import Floor
from streaming.band.follower import AGAIN, Decision, follow, settle
from streaming.band.follower import LOUDER as LOUDER_NOW
from streaming.band.looks import FREEDOM, Spectra, Spectrum
from streaming.band.regions import CLOSED, Mask, Run, Standout, as_mask, own_regions, runs, widened
from streaming.band.roll import Change, Roll
from streaming.band.steady import Steady
from streaming.band.track import FORGOTTEN, HEARD, MEMORY, WATCH, WITHIN, Birth, Recent, Track
from streaming.native_signals import FollowRules, signal_kernel

TOGETHER = 2  # looks between the beginnings of what rises together
LOUDER = 8.0  # times the level of a track: another emission at once
FAINTER = 0.01  # of the level of a track: a pause
PRESENT = 0.1  # of the level of a track: its bins are its own
SHADOW = 1e-3  # of the strongest level: too weak to be told from the receiver's own products
ON_TOP = 0.5  # of a rise that must come on top of what a steady emission has: otherwise it is its own
LOUD = 0.75  # quantile of a steady emission's first looks that is its peak
LOOK_AGAIN = 64  # looks between looks for steady emissions
LONGEST = 512  # looks of a pause: the front end has the samples of some more
# As the kernel takes them, where it follows tracks.
RULES = (
    *(LOUDER, FAINTER, PRESENT, SHADOW, ON_TOP, WITHIN, HEARD, FREEDOM, FORGOTTEN),
    *(TOGETHER, WATCH, MEMORY, CLOSED),
)


class Tracker:
    """Looks in; which tracks opened, and which closed, out. `open` are the tracks that go on."""

    def __init__(
        self,
        bins: int,
        look_s: float,
        hang_s: float,
        recent: Recent,
        emitters: Emitters,
        begin_s: float = 0.0,
    ) -> None:
        self.bins = bins
        self.hang = min(max(3, round(hang_s / look_s)), LONGEST)
        self.floor = Floor(bins)
        self.standout = Standout(bins)
        self.at = 0  # looks so far
        self.roll = Roll(bins, look_s, emitters, begin_s)
        self._rules = FollowRules(*RULES, self.hang)
        self._watched: list[Birth] = []
        self._births = Births(self.roll, self.floor, recent)
        self._steady = Steady(self.roll, self.floor, recent)

    @property
    def refused(self) -> int:
        """Tracks beyond the bound."""
        return self.roll.refused

    @property
    def busy(self) -> bool:
        """Whether anything is heard, or may be."""
        return bool(self.roll.open or self._watched)

    def start(self, looks: Spectra) -> list[Change]:
        """Learn the floor from the first looks, which are pushed afterwards."""
        spectra = looks.astype(np.float64)
        self.floor.start(spectra)
        self._steady.find(self.at, min(LOOK_AGAIN, len(spectra)))
        for track in self.roll.open:
            powers = (spectra - track.floor)[:, track.mask].sum(1)
            track.peak = float(np.quantile(powers, LOUD))
        return self.roll.take()

    def push(self, looks: Spectra) -> list[Change]:
        """Take in looks (n, bins); what changed."""
        spectra = looks.astype(np.float64)
        while len(spectra):
            count = self.floor.constant
            hot = self.standout.find(spectra[:count], self.floor.level)
            while len(hot):
                done = self._follow(spectra[: len(hot)], hot)
                spectra, hot = spectra[done:], hot[done:]
        return self.roll.take()

    def _follow(self, spectra: NDArray[np.float64], hot: NDArray[np.bool_]) -> int:
        """Take in looks (n, bins) up to the first in which there is something to decide: how many."""
        kernel = signal_kernel()
        if kernel is None:
            self._push_one(spectra[0], hot[0])
            return 1
        count = min(len(hot), LOOK_AGAIN - self.at % LOOK_AGAIN)
        looks, found = spectra[:count], hot[:count]
        done, decision = follow(kernel, self._rules, looks, found, self.at, self.floor, self._ones)
        self._advance(done)
        if decision is None:
            return done
        self._decide(looks[done], decision)
        settle(kernel, self._rules, looks[done], self.floor, self._ones)
        self._advance(1)
        return done + 1

    @property
    def _ones(self) -> list[Track | Birth]:
        return [*self.roll.open, *self._watched]

    def _decide(self, spectrum: Spectrum, decision: Decision) -> None:
        """What `_push_one` does in a look, where the kernel has followed all that goes on."""
        fresh = decision.fresh
        power = float(np.maximum(spectrum - self.floor.level, 0)[fresh].sum()) if fresh.any() else 0.0
        for one, verdict in decision.verdicts:
            if isinstance(one, Birth):
                if verdict == LOUDER_NOW:
                    self._resolve(one, ended=True)
            elif verdict == AGAIN:
                self._look_again(one)
            else:
                if one.steady:
                    self.floor.forget(one.mask, one.floor)
                self.roll.close(one)
        if power:
            self._give_birth(fresh, spectrum, power)
        self._resolve_watched()

    def _advance(self, looks: int) -> None:
        """So many looks were taken in."""
        self.floor.count(looks)
        self.at += looks
        if looks and self.at % LOOK_AGAIN == 0:
            self._steady.find(self.at, LOOK_AGAIN)

    def _push_one(self, spectrum: Spectrum, hot: Mask) -> None:
        if self.busy or hot.any():
            excess = np.maximum(spectrum - self.floor.level, 0)
            self._follow_tracks(spectrum, excess, hot)
            self._follow_births(spectrum, excess, hot)
            self._new_births(spectrum, excess, hot)
            self._resolve_watched()
        held = np.zeros(self.bins, bool)
        for mask in [b.mask for b in self._watched] + [t.mask for t in self.roll.open if not t.steady]:
            held |= mask
        for track in self.roll.open:
            if track.steady:
                track.remember(spectrum, held)
        self.floor.add(spectrum, held)
        self._advance(1)

    def flush(self) -> list[Change]:
        """End everything."""
        for birth in list(self._watched):
            self._resolve(birth)
        for track in list(self.roll.open):
            self.roll.close(track)
        return self.roll.take()

    def _follow_tracks(self, spectrum: Spectrum, excess: Spectrum, free: Mask) -> None:
        """Every open track takes its bins of this look out of `free`, the hot ones, but none of another's."""
        for track in self.roll.open:
            free &= ~track.splatter
        bursts = [track for track in self.roll.open if not track.steady]
        on = [one.mask for one in bursts if excess[free & one.mask].sum() > PRESENT * one.level]
        claims = np.sum(on, axis=0) if on else np.zeros(self.bins, int)  # how many have each bin
        for track in list(self.roll.open):
            if track.steady:
                self._follow_steady(track, spectrum)
                continue
            power = float(excess[free & track.mask].sum())
            if power > LOUDER * track.level and track.looks > TOGETHER:
                self.roll.close(track)
                continue
            others = claims > track.mask
            grown = own_regions(track.mask, excess, free & ~others)
            free &= ~(grown | widened(track.mask))
            if power > FAINTER * track.level:
                track.grow(grown)
                track.add(self.at, spectrum, power)
                self._look_again(track)
            elif self.at - track.last > self.hang:
                self.roll.close(track)

    def _follow_steady(self, track: Track, spectrum: Spectrum) -> None:
        """A steady track is heard where its bins are surely above the noise; or it ends, as a burst does."""
        below = track.floor[track.mask]
        power = float((spectrum[track.mask] - below).sum())
        sure = HEARD * float(below.sum()) / math.sqrt(FREEDOM * len(below))
        if power > sure:
            track.add(self.at, spectrum, power)
            self._look_again(track)
        elif self.at - track.last > self.hang:
            self.floor.forget(track.mask, track.floor)
            self.roll.close(track)

    def _look_again(self, track: Track) -> None:
        """After 16, 32, 64, ... looks: does its channel still fit?"""
        if track.looks < 2 * WATCH or track.looks & (track.looks - 1):
            return
        box = track.measure()
        if box and track.outgrew(box):
            track.box = box
            self.roll.move(track)

    def _follow_births(self, spectrum: Spectrum, excess: Spectrum, free: Mask) -> None:
        for birth in list(self._watched):
            power = float(excess[free & birth.mask].sum())
            if power > LOUDER * birth.level and birth.looks > TOGETHER:
                self._resolve(birth, ended=True)
                continue
            grown = own_regions(birth.mask, excess, free)
            free &= ~(grown | birth.mask)
            if power > FAINTER * birth.level:
                birth.mask |= grown
                birth.total += spectrum
                birth.looks += 1
                birth.last = self.at
                birth.level += (power - birth.level) / birth.looks

    def _new_births(self, spectrum: Spectrum, excess: Spectrum, free: Mask) -> None:
        """What is left of the hot bins begins here, or belongs to what has just begun."""
        levels = [track.level for track in self.roll.open] + [birth.level for birth in self._watched]
        loudest = max(levels, default=0.0)
        fresh = [run for run in runs(free) if self._rises(run, spectrum, excess, loudest)]
        if not fresh:
            return
        mask = as_mask(self.bins, fresh)
        self._give_birth(mask, spectrum, float(excess[mask].sum()))

    def _give_birth(self, mask: Mask, spectrum: Spectrum, power: float) -> None:
        """Watch these bins from here on."""
        for birth in self._watched:
            if self.at - birth.begin <= TOGETHER:
                birth.mask |= mask
                birth.level += power / birth.looks
                return
        self._watched.append(Birth(self.at, mask, spectrum.copy(), 1, self.at, power))

    def _rises(self, run: Run, spectrum: Spectrum, excess: Spectrum, loudest: float) -> bool:
        """Whether a region is not a product of something stronger, nor a steady emission's own.

        Frequency modulation brings all power into a few bins now and then; its sum does not rise.
        """
        inside = slice(*run)
        power = float(excess[inside].sum())
        if power <= SHADOW * loudest:
            return False
        return not any(
            track.explains(run, spectrum, ON_TOP * power) for track in self.roll.open if track.steady
        )

    def _resolve_watched(self) -> None:
        """Births that were watched for long enough, or are gone."""
        for birth in [b for b in self._watched if b.looks >= WATCH or self.at - b.last > self.hang]:
            self._resolve(birth)

    def _resolve(self, birth: Birth, ended: bool = False) -> None:
        """Part what was watched into emissions."""
        self._watched.remove(birth)
        for track in self._births.resolve(birth, self.at):
            if ended or self.at - birth.last > self.hang:
                self.roll.close(track)
