"""Births: what began together was watched for some looks, and is parted into emissions here."""

from functools import cached_property

import numpy as np

from streaming.band.floor import Floor
from streaming.band.heard import Heard, Lobe
from streaming.band.lobes import (
    WEAK,
    are_tones,
    bins_of,
    find_lobes,
    group,
    rise_together,
    within_reach,
)
from streaming.band.looks import Spectrum
from streaming.band.regions import Mask, runs, widened
from streaming.band.roll import Find, Roll
from streaming.band.track import WATCH, Birth, Recent, Track
from streaming.filters import moving_mean

JOINED_DB = 10.0  # SNR from which on a track may get a second tone
GOING_ON = 4.0  # ratio of a new tone and what is left of the first: of what hopped, only noise may be left
EVERYWHERE = 0.75  # of the band that rises with the receiver's gain, or a click: not by an emission alone
HIGHEST = 2.0  # times the floor, that such a rise may be: an emission as wide as the band is stronger
SMOOTHED = 9  # bins


class Onset:
    """A birth that is resolved: what is heard of it, and the strongest lobes of tracks, computed once."""

    def __init__(self, birth: Birth, recent: Recent) -> None:
        self.birth, self.recent = birth, recent
        self._strongest: dict[int, Lobe | None] = {}

    @cached_property
    def heard(self) -> Heard:
        """Since it began."""
        return Heard(self.recent(self.birth.begin, self.birth.last + 1), len(self.birth.mask))

    @cached_property
    def earlier(self) -> Heard:
        """From some looks before on."""
        begin = max(0, self.birth.begin - WATCH)
        return Heard(self.recent(begin, self.birth.last + 1), len(self.birth.mask))

    def strongest(self, track: Track) -> Lobe | None:
        """The strongest lobe of a track, if it has one."""
        if track.number not in self._strongest:
            lobes = find_lobes(np.where(track.mask, track.excess, 0.0), runs(track.mask))
            self._strongest[track.number] = lobes[0] if lobes else None
        return self._strongest[track.number]

    def changed(self, track: Track) -> None:
        """A track has other bins now."""
        self._strongest.pop(track.number, None)


class Births:
    """Opens the tracks of what was watched."""

    def __init__(self, roll: Roll, floor: Floor, recent: Recent) -> None:
        self.roll, self.floor, self.recent = roll, floor, recent

    def resolve(self, birth: Birth, at: int) -> list[Track]:
        """The new tracks; what is another tone, or a product, of one that is followed becomes none."""
        mean, onset = birth.total / birth.looks, Onset(birth, self.recent)
        floor = lifted(self.floor.level, mean)
        excess = np.where(birth.mask, np.maximum(mean - floor, 0), 0.0)
        lobes = find_lobes(excess, runs(birth.mask))
        before = [track for track in self.roll.open if not track.steady and track.last >= birth.begin]
        opened = list[Track]()
        for one in group(lobes, onset.heard, steady=False, began=birth.begin > 0):
            if any(self._joins(track, one.members, onset) for track in before):
                continue
            if any(self._follows(track, one.members, onset) for track in before):
                continue
            track = self.roll.add(Find(one, excess, floor, birth.begin, birth.looks, steady=False), at)
            if track is not None:
                track.total[:], track.looks, track.last = birth.total, birth.looks, birth.last
                opened.append(track)
        return opened

    def _joins(self, track: Track, members: list[Lobe], onset: Onset) -> bool:
        """Whether these lobes are another tone of a track that began with one; it has both from here on."""
        own = onset.strongest(track) if track.box.snr_db >= JOINED_DB else None
        if own is None:
            return False
        birth, tone = onset.birth, members[0]
        if not are_tones(tone.power, track.level, onset.heard.compare(tone, own)):
            return False
        left = float((birth.total / birth.looks - track.floor)[track.mask].sum())
        if left * GOING_ON < tone.power and not touches(track.mask, tone):
            return False
        track.mask |= bins_of(members, len(track.mask))
        track.total[:], track.looks = birth.total, birth.looks
        track.box = track.measure() or track.box
        self.roll.move(track)
        onset.changed(track)
        return True

    def _follows(self, track: Track, members: list[Lobe], onset: Onset) -> bool:
        """Whether these much weaker lobes began as a track went on after a pause: they are its products."""
        if sum(lobe.power for lobe in members) > WEAK * track.level or not within_reach(track.mask, members):
            return False
        own = onset.strongest(track)
        if own is None or not rise_together(own, members[0], onset.earlier):
            return False
        track.splatter |= widened(bins_of(members, len(track.mask))) & ~track.mask
        return True


def lifted(floor: Spectrum, mean: Spectrum) -> Spectrum:
    """The floor as it is where the whole band has risen a little: its parts are no emissions."""
    ratio = moving_mean(mean / floor, SMOOTHED, "nearest")
    return np.asarray(floor * np.clip(np.quantile(ratio, 1 - EVERYWHERE), 1.0, HIGHEST))


def touches(mask: Mask, lobe: Lobe) -> bool:
    """Whether a lobe begins where these bins end: what sweeps goes on there."""
    return bool(mask[max(0, lobe.first - 1) : lobe.end + 1].any())
