"""The front end: from a source's samples to every emission in its band, at the model's rate.

    correction -> looks -> tracker;  correction -> bank -> a channel per track

The stream is cut into ticks of 16 looks, counted from where it begins; all decisions are made per tick, so
the result does not depend on how the stream is cut into blocks. The first ticks are held until the floor is
known. What a track was before it was found comes from the bank's newest blocks.
"""

import math
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from streaming.band.bank import Bank
from streaming.band.box import Box
from streaming.band.emitters import Emitters
from streaming.band.looks import Looks, Spectra, bins_for
from streaming.band.reader import Begins, Reader
from streaming.band.roll import Change
from streaming.band.tracker import Tracker
from streaming.block import Block, Samples
from streaming.checked import Checked, Range
from streaming.correction import Correction

LOOKS = 16  # per tick
HELD = 4  # ticks from which the first floor is learnt
KEPT = 40  # ticks: how long before it is found an emission may have begun


@dataclass(frozen=True)
class BandSettings(Checked):
    """`fraction` belongs to the model, the rest to the user."""

    section = "frontend"
    kind: Literal["band"] = "band"
    fraction: Annotated[float, Range(0.05, 0.9)] = 0.4  # of a channel's rate that the bandwidth fills
    hang_s: Annotated[float, Range(1e-4, 3600)] = 0.025  # a pause this long, or of 512 looks, ends a track


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive samples of one track; sample i lies at `start + i * step` in the source's count."""

    track: int
    emission: int
    samples: Samples  # (T,), at the model's rate, as loud as they came
    start: float
    step: float
    begins: Begins | None  # None: it goes on from the piece before
    box: Box  # in hertz from the source's centre
    steady: bool  # it was there before the stream began
    ends: bool  # the track's last piece


@dataclass(frozen=True, slots=True)
class Silence:
    """No emission in [start, end) of the source's count."""

    start: float
    end: float
    noise_db: float  # the band's mean noise power, dB of full scale


Item = Piece | Silence


class Band:
    """Blocks of one source in; pieces of emissions and silences, in the source's count, out."""

    def __init__(self, settings: BandSettings) -> None:
        self.settings = settings
        self.reset()

    def reset(self) -> None:
        """Forget everything, the receiver too."""
        self.correction = Correction()
        self.emitters = Emitters()
        self.skipped = 0  # samples before gaps and ends that were too few for a look
        self._refused = 0  # tracks beyond the bound, before the last gap
        self.next: int | None = None  # index of the sample that should come next
        self.rate_hz = 0.0
        self.begin = self._at = 0  # the sample after the last gap, and samples since
        self._running = False
        self._readers: dict[int, Reader] = {}
        self._held = np.empty(0, np.complex64)

    def push(self, block: Block) -> list[Item]:
        """What this block completes."""
        return [item for items in self.ticks(block) for item in items]

    def ticks(self, block: Block) -> Iterator[list[Item]]:
        """What this block completes, tick by tick."""
        if block.rate_hz != self.rate_hz:
            yield self.flush()
            self._open(block.rate_hz)
        if block.index != self.next or not self._running:
            yield self.flush()
            self._begin(block.index, "cold" if self.next is None else "gap")
        self.next = block.end
        held = np.concatenate([self._held, block.samples])
        whole = len(held) // self.tick * self.tick
        self._held = held[whole:].copy()
        for i in range(0, whole, self.tick):
            yield self._tick(held[i : i + self.tick])

    @property
    def at_s(self) -> float:
        """The second of the stream up to which ticks are whole."""
        return (self.begin + self._at) / self.rate_hz if self.rate_hz else 0.0

    def retune(self) -> list[Item]:
        """What is left; what comes next is of another frequency: a gap, and nobody is known there."""
        out = self.flush()
        self.emitters.forget()
        return out

    @property
    def refused(self) -> int:
        """Emissions that were not followed because there were too many."""
        return self._refused + (self.tracker.refused if self._running else 0)

    def renumber(self, numbers: Mapping[int, int]) -> None:
        """Give emissions other numbers."""
        self.emitters.renumber(numbers)
        for reader in self._readers.values():
            reader.track.emission = numbers[reader.track.emission]

    def flush(self) -> list[Item]:
        """What is left, as the stream ends or samples are lost; less than a look is only counted."""
        if not self._running:
            return []
        self._running = False
        self._refused += self.tracker.refused
        rest, self._held = self._held, self._held[:0]
        looks = max(0, len(rest) - self.bins // 2) // self.bins  # none of them reaches beyond the end
        self._end = self._at + len(rest)
        out: list[Item] = []
        if looks or (self._at and len(rest) >= self.bins // 2):
            out += self._tick(np.concatenate([rest, np.zeros(self.tick - len(rest), np.complex64)]), looks)
        if not self._started:
            out += self._start()
        self.skipped += self._end - self.tracker.at * self.bins
        if not self.tracker.at:  # not one look: nothing is known of it
            return out
        self.bank.push(np.zeros(self.tick, np.complex64))
        silent = not self.tracker.busy
        out += self._changed(self.tracker.flush(), self._end)
        out += self._read(self._end)
        return out + (self._silence(self.tracker.at * self.bins) if silent else [])

    def _open(self, rate_hz: float) -> None:
        """Stages for a source of this rate."""
        self.rate_hz, self.next = rate_hz, None
        self.bins = bins_for(rate_hz)
        self.tick = LOOKS * self.bins
        self.bank = Bank(2 * self.tick, KEPT)
        self.looks = Looks(self.bins)
        self.correction.reset()
        self.emitters.forget()  # their boxes are in cycles per sample

    def _begin(self, index: int, beginning: Begins) -> None:
        """Start again at this sample: the receiver is still known, the emissions are not."""
        self.begin, self.beginning = index, beginning
        self.bank.reset()
        self.looks.reset()
        look_s, begin_s = self.bins / self.rate_hz, index / self.rate_hz
        hang_s = self.settings.hang_s
        self.tracker = Tracker(self.bins, look_s, hang_s, self._recent, self.emitters, begin_s)
        self._running, self._started = True, False
        self._early: list[Spectra] = []
        self._ticks: deque[Samples] = deque(maxlen=KEPT)  # the newest, corrected
        self._at = 0
        self._silent = 0  # up to here it is known what was there
        self._readers = {}

    def _recent(self, first: int, end: int) -> Samples:
        """The samples of looks [first, end), as far as they are kept."""
        oldest = self._at - self.tick * len(self._ticks)
        first, end = (max(0, look * self.bins - oldest) for look in (first, end))
        ticks = list(self._ticks)[first // self.tick : -(-end // self.tick)] or [self._held[:0]]
        skipped = first // self.tick * self.tick
        return np.concatenate(ticks)[first - skipped : end - skipped]

    def _tick(self, samples: Samples, looks: int = LOOKS) -> list[Item]:
        """One tick; of a last one only some looks are real."""
        corrected = self.correction.push(samples)
        self.bank.push(corrected)
        self._ticks.append(corrected)
        self._newest = samples
        self._at += len(samples)
        spectra = self.looks.push(corrected)
        if looks < LOOKS:  # the last look of the tick before is complete now, too
            spectra = spectra[: len(spectra) - (LOOKS - 1) + looks]
        if not self._started:
            self._early.append(spectra)
            return self._start() if len(self._early) == HELD else []
        return self._judge(spectra)

    def _start(self) -> list[Item]:
        """Learn the floor and judge what was held."""
        self._started = True
        spectra = np.concatenate([np.empty((0, self.bins), np.float32), *self._early])
        if not len(spectra):
            return []
        changes = self.tracker.start(spectra)
        return self._changed(changes, self._at) + self._judge(spectra)

    def _judge(self, spectra: Spectra) -> list[Item]:
        out: list[Item] = []
        out += self._changed(self.tracker.push(spectra), self._at)
        out += self._read(self._at)
        if not self.tracker.busy:
            # What begins in the next look is read from the look before it on.
            out += self._silence((self.tracker.at - 1) * self.bins)
            self.correction.learn(self._newest)
        return out

    def _changed(self, changes: list[Change], now: int) -> list[Item]:
        """Readers of what opened, and the last piece of what closed."""
        out: list[Item] = []
        for change in changes:
            track = change.track
            if change.kind == "closed":
                out += self._piece(self._readers.pop(track.number), now, ends=True)
                continue
            first = max(0, (track.begin - 1) * self.bins)
            out += self._silence(first)
            begins: Begins = "change" if change.kind == "moved" else "signal"
            begins = self.beginning if first == 0 and begins == "signal" else begins
            self._readers[track.number] = Reader(track, self.bank, self.settings.fraction, first, begins)
        return out

    def _read(self, now: int) -> list[Item]:
        return [piece for reader in self._readers.values() for piece in self._piece(reader, now)]

    def _piece(self, reader: Reader, now: int, ends: bool = False) -> list[Item]:
        """The samples of a reader that are due."""
        track = reader.track
        due = min(now, (track.last + 1) * self.bins + self.bins // 2)
        samples, at = reader.read(self.bank, due)
        if not len(samples) and not ends:
            return []
        begins, reader.begins = reader.begins, None
        box = track.box.scaled(self.rate_hz)
        self._silent = max(self._silent, due)
        return [
            Piece(
                track.number,
                track.emission,
                samples,
                self.begin + at,
                reader.channel.step,
                begins,
                box,
                track.steady,
                ends,
            )
        ]

    def _silence(self, end: int) -> list[Item]:
        """The silence up to here, if there is any that was not reported."""
        if end <= self._silent:
            return []
        start, self._silent = self._silent, end
        noise_db = 10 * math.log10(float(self.tracker.floor.level.mean()))
        return [Silence(self.begin + start, self.begin + end, round(noise_db, 2))]
