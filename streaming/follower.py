"""The follower: takes one signal, block by block, to the rate and level that the model was trained for.

    rate = bandwidth / fraction, on a grid of a quarter octave;    centre tuned to zero

The first blocks are held until the bandwidth and centre are measured. They are then followed with hysteresis:
only a bandwidth or a centre that differs clearly in several consecutive looks changes the settings. Blocks
far below the signal's own level are held back until it is known whether they were a pause, which belongs to
the signal, or its end.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from streaming.agc import Agc
from streaming.block import Samples
from streaming.detector import BINS, Spectrum, Verdict
from streaming.estimate import Estimate, estimate
from streaming.resample import Resampler

MEASURE = 8  # loud blocks that a signal is measured over before its settings are chosen
MEMORY = 16  # loud blocks that later measurements look back over
CHECK = 4  # loud blocks between looks at whether the settings still fit
HOLD = 4  # consecutive looks that must find another signal
WIDER = 1.7  # ratio of bandwidths that makes it another signal
MOVED = 0.3  # shift of the centre, in bandwidths, that makes it another signal
STRONGER = 8.0  # power over the signal's own that makes it another signal at once
WEAKER = 0.05  # power below the signal's own that is a pause
STEPS_PER_OCTAVE = 4  # rates lie on this grid, so that small errors of the estimate do not show

# Why the stages behind must restart: the stream begins, samples were lost, a signal began, or it changed.
Begins = Literal["cold", "gap", "signal", "change"]


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive samples of one signal; sample i lies at `start + i * step` in the count of what went in."""

    samples: Samples  # (T,), at the model's rate and unit power
    start: float
    step: float
    begins: Begins | None  # None: it continues the piece before
    estimate: Estimate


class Follower:
    """Follows one signal from its first block to its last.

    Parameters
    ----------
    start, begins
        The first block's first sample, and why it is a beginning.
    fraction, narrowest
        Of the model's rate, the part that the bandwidth fills; of the input's rate, the narrowest bandwidth.
    agc_samples
        The level's time constant, in samples of the model's rate.
    """

    def __init__(
        self, start: int, begins: Begins, *, fraction: float, narrowest: float, agc_samples: float
    ) -> None:
        self.fraction, self.narrowest = fraction, narrowest
        self.start, self.begins = start, begins
        self.next = start  # first sample not yet resampled
        self._held = list[Samples]()
        self._doubtful = list[Samples]()  # quiet blocks: a pause, or the end
        self._spectrum: Spectrum = np.zeros(BINS)
        self._averaged = 0  # blocks in it, up to MEMORY
        self._loud, self._power = 0, 0.0  # blocks, and their mean excess
        self._odd_looks = 0
        self._resampler: Resampler | None = None
        self._agc = Agc(agc_samples)
        self._given = 0  # samples since `start`
        self._known: Estimate | None = None  # newest
        self._chosen: Estimate | None = None  # that the settings follow
        self._floor: Spectrum = np.ones(BINS)

    def outgrown(self, verdict: Verdict) -> bool:
        """Whether this block is so much stronger that it is another signal."""
        return self._loud > 0 and excess(verdict) > STRONGER * self._power

    def push(self, verdict: Verdict) -> list[Piece]:
        """What this block completes."""
        power = excess(verdict)
        if not verdict.loud or power < WEAKER * self._power:
            self._doubtful.append(verdict.samples)
            return []
        self._held += [*self._doubtful, verdict.samples]
        self._doubtful = []
        self._loud += 1
        self._floor = verdict.floor
        self._power += (power - self._power) / min(self._loud, MEMORY)
        self._averaged = min(self._averaged + 1, MEMORY)
        self._spectrum = self._spectrum + (verdict.spectrum - self._spectrum) / self._averaged
        if self._resampler is None and self._loud < MEASURE:
            return []
        if self._resampler is None:
            self._choose(self._look())
            return self._pieces()
        if self._loud % CHECK == 0 and self._is_another(self._look()):
            return self._change()
        return self._pieces()

    def end(self) -> list[Piece]:
        """The rest, up to the last loud block."""
        if self._resampler is None:
            if not self._held:
                return []
            self._choose(self._look())
        return self._pieces(last=True)

    @property
    def quiet(self) -> int:
        """Blocks of pause, so far."""
        return len(self._doubtful)

    def _look(self) -> Estimate:
        """The newest estimate."""
        block = len(self._held[-1])
        averages = 0.85 * block / BINS * self._averaged
        self._known = estimate(self._spectrum, self._floor, averages)
        return self._known

    def _choose(self, known: Estimate) -> None:
        step = self.fraction / max(known.bandwidth, self.narrowest)
        step = 2 ** (round(math.log2(step) * STEPS_PER_OCTAVE) / STEPS_PER_OCTAVE)
        self._resampler = Resampler(max(step, 0.25), known.offset)
        self._agc.reset()
        self._chosen, self._odd_looks, self._given = known, 0, 0

    def _is_another(self, known: Estimate) -> bool:
        assert self._chosen is not None
        was, now = (max(e.bandwidth, self.narrowest) for e in (self._chosen, known))
        odd = max(was / now, now / was) > WIDER or abs(known.offset - self._chosen.offset) > MOVED * was
        if odd and self._odd_looks == 0:
            self._averaged = 0  # if it is another signal, the average must not hold the old one
        self._odd_looks = self._odd_looks + 1 if odd else 0
        return self._odd_looks >= HOLD

    def _change(self) -> list[Piece]:
        """End with the old settings, begin with the new ones."""
        new, self._held = self._held, []
        pieces = self._pieces(last=True)
        self.start, self.begins, self._held = self.next, "change", new
        assert self._known is not None
        self._choose(self._known)
        return pieces + self._pieces()

    def _pieces(self, last: bool = False) -> list[Piece]:
        """The held samples, resampled; the last ones too, if they are the last."""
        assert self._resampler is not None
        assert self._known is not None
        parts = [self._resampler.push(samples) for samples in self._held]
        self.next += sum(map(len, self._held))
        self._held = []
        if last:
            parts.append(self._resampler.flush())
        samples = np.concatenate([*parts, np.empty(0, np.complex64)])
        if not len(samples):
            return []
        step = self._resampler.step
        begins = self.begins if self._given == 0 else None
        piece = Piece(self._agc.push(samples), self.start + self._given * step, step, begins, self._known)
        self._given += len(samples)
        return [piece]


def excess(verdict: Verdict) -> float:
    """A block's power over the floor."""
    return float(np.maximum(verdict.spectrum - verdict.floor, 0).sum())
