"""A reader: the samples of one track, at the model's rate, as far as the bank has them."""

import math
from typing import Literal

import numpy as np

from streaming.band.bank import Bank, Channel
from streaming.band.track import Track
from streaming.block import Samples

# Why what comes after must restart: the stream begins, samples were lost, a signal began, or it changed.
Begins = Literal["cold", "gap", "signal", "change"]


class Reader:
    """Reads one track's channel, up to the last look in which it was heard."""

    def __init__(self, track: Track, bank: Bank, fraction: float, first: int, begins: Begins) -> None:
        """`first` is the sample from which on it is read."""
        self.track = track
        self.begins: Begins | None = begins
        self.channel = Channel(bank, track.box.centre, track.box.width, fraction)
        self.next = max(bank.oldest, first // bank.hop)  # block
        at = self.next * bank.hop
        self._drop = max(0, round((first - at) / self.channel.step))
        self.start = at + self._drop * self.channel.step
        self._pending = list[Samples]()
        self._held = self._given = 0  # samples

    def read(self, bank: Bank, due: int) -> tuple[Samples, float]:
        """What the bank has, up to sample `due`, and where it begins."""
        while self.next < bank.count:
            samples = self.channel.read(self.next)
            self.next += 1
            dropped = min(self._drop, len(samples))
            self._drop -= dropped
            self._pending.append(samples[dropped:])
            self._held += len(samples) - dropped
        count = min(self._held, max(0, math.floor((due - self.start) / self.channel.step) - self._given))
        at = self.start + self._given * self.channel.step
        if not count:
            return np.empty(0, np.complex64), at
        together = np.concatenate(self._pending)
        self._pending = [together[count:]]
        self._held -= count
        self._given += count
        return together[:count], at
