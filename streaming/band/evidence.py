"""Evidence: the samples of one emission that its answers rest on, and when there is an answer.

There is an answer after 512, 1,024, 2,048, ... samples of a burst, at its end, and from 131,072 samples on
four times a second or per 32,768 samples, whichever is later; half as often with every further answer that
agrees, down to one a second: a new or doubtful emission gets more attention than one that has been named for
long. Bursts of one emitter add up: a later one has its first answer once it adds a quarter or more.

Where moments of the newest hops differ from those before, the signal may have become another one: a judge
names both parts, and where it is sure that they are of two families, answers rest on what came since. Asked
in vain, it is asked half as often from then on. What was before is kept until the new part is long: the last
tone of a packet is not another signal, and the answer at the end of a burst rests on all of it then.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streaming.band.box import Box
from streaming.band.frontend import Piece
from streaming.band.reader import Begins
from streaming.band.tail import Tail
from streaming.block import Samples
from streaming.changes import Changes
from streaming.features import MOST, SHORTEST
from streaming.naming import Labelled, agree
from streaming.native_signals import signal_kernel

FIRST = 512  # samples to the first answer; also a hop of the moments
SETTLED = 32_768  # samples between answers, once there is as much evidence as counts
EVERY_S, SELDOM = 0.25, 2  # seconds between them; doubled at most so often, while they agree
SUSPECT = 4.0  # how far moments must differ for the judge to be asked
SURE = 0.7  # probability of both families from which the signal has become another one
COMPARED = 8_192  # samples before a change that are judged
LASTING = 8_192  # samples after which a change is final
PATIENCE, PATIENCE_S = 65_536, 0.5  # samples and time between two questions to the judge, the later of them
SAME_RATE = 1.02
MOMENTS = 5

# Samples and SNR, dB, to a family and its probability; or None where there is no time for it.
Judge = Callable[[Samples, float], tuple[str, float] | None]


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be named: [start, end) of the source's samples are new, `samples` all that counts."""

    samples: Samples
    start: float
    end: float
    begin: float  # of the burst
    begins: Begins | None  # why the evidence restarted; None where it is long enough
    box: Box
    emission: int
    step: float  # samples of the source per sample
    steady: bool


class Evidence:
    """Pieces of one emission in, questions out."""

    def __init__(self, emission: int, judge: Judge | None = None) -> None:
        """Without a judge nothing becomes another signal."""
        self.emission, self.judge = emission, judge
        self._step = 0.0
        self._changes = Changes(FIRST, SUSPECT)
        self._restart("signal")

    def _restart(self, begins: Begins) -> None:
        self._kept = Tail()  # samples that count
        self._begins: Begins = begins
        self._changes.reset()
        self._judged = 0  # of these, looked at for changes
        self._since = 0  # from here on it is another signal
        self._quiet, self._wait = 0, 2 * FIRST  # samples to the next question to the judge, and after that
        self._name: Labelled | None = None
        self._agreed = 0  # answers in a row

    def answer(self, name: Labelled) -> None:
        """What a question of this emission was answered with."""
        self._agreed = self._agreed + 1 if self._name and agree(self._name, name) else 0
        self._name = name

    def push(self, piece: Piece, rate_hz: float) -> list[Question]:
        """The questions that a piece of this emission raises."""
        if piece.begins:
            ratio = piece.step / self._step if self._step else 0.0
            if piece.begins == "change" or not 1 / SAME_RATE < ratio < SAME_RATE:
                self._restart(piece.begins)
            self._step, self._begin = piece.step, piece.start
            self._asked = piece.start  # up to here there was a question
            self._burst = 0  # samples of this burst
            self._due = max(FIRST, (1 << len(self._kept).bit_length()) // 4)
        asked: list[Question] = []
        samples, at = piece.samples, piece.start
        while len(samples):
            count = min(len(samples), self._due - self._burst)
            count = self._add(samples[:count], piece.box.snr_db, rate_hz)
            samples, at = samples[count:], at + count * piece.step
            self._burst += count
            if self._burst == self._due:
                asked.append(self._question(piece, at))
                self._due += self._distance(rate_hz)
        if piece.begins and asked and at - asked[-1].end >= FIRST * piece.step:
            asked.append(self._question(piece, at))  # it was found late: one that is not old
        if piece.ends and self._since and len(self._kept) - self._since < LASTING:
            self._since = 0
        if piece.ends and at > self._asked and len(self._kept) >= SHORTEST:
            asked.append(self._question(piece, at))
        return asked

    def _distance(self, rate_hz: float) -> int:
        """Samples to the next question of this burst."""
        if len(self._kept) < MOST:
            return max(FIRST, min(self._due, SETTLED * 2))
        every_s = EVERY_S * (1 << min(self._agreed, SELDOM))
        return max(SETTLED, round(every_s * rate_hz / self._step / FIRST) * FIRST)

    def _add(self, samples: Samples, snr_db: float, rate_hz: float) -> int:
        """Take samples in, up to where they become another signal: how many."""
        before = len(self._kept)
        self._kept.append(samples)
        hops = (len(self._kept) - self._judged) // FIRST if self.judge else 0
        fresh = self._kept.samples[self._judged : self._judged + hops * FIRST].reshape(hops, FIRST)
        for row in self._changes.push(moments(fresh)) if hops else []:
            end = self._judged + (row + 1) * FIRST
            if self._is_another(end - self._changes.recent * FIRST, end, snr_db, rate_hz):
                self._kept.take_back(len(self._kept) - end)
                self._judged = end
                self._due = self._burst + end - before + FIRST
                self._changes.reset()
                break
        else:
            self._judged += hops * FIRST
        added = len(self._kept) - before
        if self._since and len(self._kept) - self._since >= LASTING:
            self._drop(self._since)
        self._drop(len(self._kept) - MOST)
        return added

    def _drop(self, count: int) -> None:
        """The oldest samples no longer count."""
        if count > 0:
            self._kept.drop(count)
            self._judged, self._quiet = self._judged - count, self._quiet - count
            self._since = max(0, self._since - count)

    def _is_another(self, begin: int, end: int, snr_db: float, rate_hz: float) -> bool:
        """Whether [begin, end) is another signal than what was before."""
        before = self._kept.samples[max(self._since, begin - COMPARED) : begin]
        if self.judge is None or end < self._quiet or len(before) < 2 * FIRST:
            return False
        new = self.judge(self._kept.samples[begin:end], snr_db)
        # The new part is short, and mostly too short to be sure of: then what was before need not be named.
        old = self.judge(before, snr_db) if new and new[1] >= SURE else new
        if new is None or old is None:
            self._quiet = end + 2 * FIRST
            return False
        another = new[0] != old[0] and old[1] >= SURE
        if another:
            self._since, self._begins, self._wait = begin, "change", FIRST
        longest = max(PATIENCE, round(PATIENCE_S * rate_hz / self._step))
        self._quiet, self._wait = end + self._wait, min(2 * self._wait, longest)
        return another

    def _question(self, piece: Piece, end: float) -> Question:
        start, self._asked = self._asked, end
        counts = self._kept.samples[self._since :]
        begins = self._begins if len(counts) < 4 * FIRST else None
        return Question(
            counts,
            start,
            end,
            self._begin,
            begins,
            piece.box,
            self.emission,
            self._step,
            piece.steady,
        )


def moments(hops: Samples) -> NDArray[np.float64]:
    """What changes with the modulation, of hops (n, samples): (n, MOMENTS)."""
    kernel = signal_kernel()
    return kernel.moments(hops, MOMENTS) if kernel else moments_in_numpy(hops)


def moments_in_numpy(hops: Samples) -> NDArray[np.float64]:
    """The definition of the moments, which the kernel keeps to."""
    power = np.square(np.abs(hops))
    mean = power.mean(1, keepdims=True) + 1e-20
    steps = hops[:, 1:] * hops[:, :-1].conj()
    square = hops * hops
    values = [
        np.square(power / mean).mean(1),
        np.abs(square.mean(1)) / mean[:, 0],
        np.abs((square * square).mean(1)) / np.square(mean[:, 0]),
        np.abs(steps.mean(1)) / mean[:, 0],
        np.abs((steps * steps).mean(1)) / np.square(mean[:, 0]),
    ]
    return np.stack(values, 1).astype(np.float64)
