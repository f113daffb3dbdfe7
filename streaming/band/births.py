"""Births: what began together was watched for some looks, and is parted into emissions here."""

import numpy as np

from streaming.band.floor import Floor
from streaming.band.lobes import (
    WEAK,
    Lobe,
    are_tones,
    bins_of,
    comparisons,
    find_lobes,
    group,
    rise_together,
    within_reach,
)
from streaming.band.regions import runs, widened
from streaming.band.roll import Find, Roll
from streaming.band.track import WATCH, Birth, Recent, Track
from streaming.block import Samples

JOINED_DB = 10.0  # SNR from which on a track may get a second tone


class Births:
    """Opens the tracks of what was watched."""

    def __init__(self, roll: Roll, floor: Floor, recent: Recent) -> None:
        self.roll, self.floor, self.recent = roll, floor, recent

    def resolve(self, birth: Birth, at: int) -> list[Track]:
        """The new tracks; what is another tone, or a product, of one that is followed becomes none."""
        floor, bins = self.floor.level, len(birth.mask)
        excess = np.where(birth.mask, np.maximum(birth.total / birth.looks - floor, 0), 0.0)
        lobes = find_lobes(excess, runs(birth.mask))
        samples = self.recent(birth.begin, birth.last + 1)
        before = [track for track in self.roll.open if not track.steady and track.last >= birth.begin]
        opened = list[Track]()
        for one in group(lobes, bins, samples, steady=False, began=birth.begin > 0):
            if any(self._joins(track, one.members, birth, samples) for track in before):
                continue
            if any(self._follows(track, one.members, birth) for track in before):
                continue
            track = self.roll.add(Find(one, excess, floor, birth.begin, birth.looks, steady=False), at)
            if track is not None:
                track.total[:], track.looks, track.last = birth.total, birth.looks, birth.last
                opened.append(track)
        return opened

    def _joins(self, track: Track, members: list[Lobe], birth: Birth, samples: Samples) -> bool:
        """Whether these lobes are another tone of a track that began with one; it has both from here on."""
        if track.box.snr_db < JOINED_DB:
            return False
        own = strongest(track)
        _, products, keyed = comparisons([*own, members[0]], len(track.mask), samples)
        if not own or not are_tones(members[0].power, track.level, products[0, -1], keyed[0, -1]):
            return False
        track.mask |= bins_of(members, len(track.mask))
        track.total[:], track.looks = birth.total, birth.looks
        track.box = track.measure() or track.box
        self.roll.move(track)
        return True

    def _follows(self, track: Track, members: list[Lobe], birth: Birth) -> bool:
        """Whether these much weaker lobes began as a track went on after a pause: they are its products."""
        if sum(lobe.power for lobe in members) > WEAK * track.level or not within_reach(track.mask, members):
            return False
        samples = self.recent(max(0, birth.begin - WATCH), birth.last + 1)
        own, bins = strongest(track), len(track.mask)
        if not own or not rise_together(own[0], members[0], bins, samples):
            return False
        track.splatter |= widened(bins_of(members, bins)) & ~track.mask
        return True


def strongest(track: Track) -> list[Lobe]:
    """The strongest lobe of a track, if it has one."""
    return find_lobes(np.where(track.mask, track.excess, 0.0), runs(track.mask))[:1]
