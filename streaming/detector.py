"""The energy detector: is there a signal in this block, and how strong is the noise?

A block's spectrum P is averaged over bands of several widths and compared with the noise floor F,

    on:  max over bands of mean(P / F) > threshold,    off: below the lower threshold for `hang` blocks

The thresholds follow from the false-alarm rate: over noise the mean of k independent bins is Gamma(k) / k.
The floor is the average spectrum of blocks without a signal, and beside a signal. It begins as a level, that
of the quietest fifth of the band: noise is taken to be flat, and some of the band to be empty. While a signal
is there the floor follows that level up, but slowly: a gain increase is not reported as a signal
indefinitely.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.special import gammainccinv, gammaincinv

from streaming.block import Samples
from streaming.errors import ConfigError

BINS = 256
EDGE = 13  # bins left out on either side: receivers' filters fall off there
WIDTHS = (4, 16, 64, 230)  # bins averaged
LEVEL_WIDTH, QUIETEST = 16, 0.2  # the level is that of the quietest fifth of the bands this wide
MARGIN = 10**0.2  # 2 dB: real noise is not flat
BESIDE, BESIDE_TAPS = 2.0, np.full(17, 1 / 17)  # below this ratio, over so many bins, there is only noise
PRIOR = 16  # blocks that the first level counts for in the average: one block's bins scatter widely
SILENCE = 1e-15  # 150 dB below full scale: a floor that can be divided by
DIRECT = slice(BINS // 2 - 2, BINS // 2 + 3)  # bins that a direct current reaches
Spectrum = NDArray[np.float64]  # (BINS,), from -1/2 to 1/2 of the rate


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the detector says of one block."""

    samples: Samples  # (block,)
    active: bool  # a signal is there, or was until at most `hang` blocks ago
    loud: bool  # this very block is above the lower threshold
    spectrum: Spectrum
    floor: Spectrum


class Detector:
    """Samples in, a verdict for each whole block out.

    Parameters
    ----------
    block
        Samples per block, at least 256.
    hang
        Quiet blocks that end a signal: OOK pauses, too.
    settle
        Blocks over which the floor is averaged.
    false_alarm
        Probability of a false alarm per block, before the margin of 2 dB.
    """

    def __init__(self, block: int, hang: int = 10, settle: int = 100, false_alarm: float = 1e-7) -> None:
        if block < BINS:
            raise ConfigError(f"detector.block is {block}; it must be at least {BINS}")
        if hang < 1 or settle < PRIOR or not 0 < false_alarm < 0.1:
            raise ConfigError(
                "detector.hang and .settle must be at least 1 and 16, .false_alarm between 0 and 0.1"
            )
        self.block, self.hang, self.settle = block, hang, settle
        self._window = np.hanning(BINS).astype(np.float32)
        self._gain = float(np.sum(np.square(self._window, dtype=np.float64)))
        starts = range(0, block - BINS + 1, BINS // 2)
        self._segments = np.arange(BINS) + np.array(starts)[:, None]  # (segments, BINS)
        self._first, self._width = bands()
        freedom = 0.85 * block * self._width / BINS  # independent values in a band's mean
        self._on = MARGIN * gammainccinv(freedom, false_alarm / len(freedom)) / freedom
        self._off = np.sqrt(self._on)
        self._narrow = np.flatnonzero(self._width == LEVEL_WIDTH)
        self._fifth = int(QUIETEST * len(self._narrow))
        k = freedom[self._narrow[0]]
        self._bias = float(gammaincinv(k, QUIETEST) / k)  # of the quietest fifth, over flat noise
        self.reset()

    def reset(self) -> None:
        """Forget the noise and the signal."""
        self._floor: Spectrum | None = None
        self._learnt = self._judged = PRIOR  # blocks in the floor, up to `settle`; blocks in all
        self.restart()

    def restart(self) -> None:
        """Forget the signal and keep the noise: samples were lost, the receiver is the same."""
        self._held = np.empty(0, np.complex64)
        self._active = False
        self._quiet = 0  # blocks since the last loud one

    def push(self, samples: Samples, blind: bool = False) -> list[Verdict]:
        """The verdicts on the blocks that these samples complete; `blind` to what is at zero frequency."""
        held = np.concatenate([self._held, samples])
        whole = len(held) // self.block
        self._held = held[whole * self.block :].copy()
        return [self._judge(held[i * self.block : (i + 1) * self.block], blind) for i in range(whole)]

    def spectrum(self, block: Samples) -> Spectrum:
        """Power per bin, so that the mean over the bins is the mean power; half-overlapping Hann windows."""
        bins = fft.fft(block[self._segments] * self._window)  # (segments, BINS)
        power = np.square(bins.real).mean(0, dtype=np.float64) + np.square(bins.imag).mean(
            0, dtype=np.float64
        )
        return np.asarray(np.roll(power, BINS // 2) / self._gain, np.float64)

    def level(self, spectrum: Spectrum) -> float:
        """The noise per bin in the quietest fifth of the band, at least SILENCE."""
        narrow = np.partition(self._means(spectrum)[self._narrow], self._fifth)
        return max(float(narrow[self._fifth]) / self._bias, SILENCE)

    def _means(self, values: Spectrum) -> NDArray[np.float64]:
        """The mean of each band."""
        total = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray((total[self._first + self._width] - total[self._first]) / self._width)

    def _judge(self, block: Samples, blind: bool) -> Verdict:
        spectrum = self.spectrum(block)
        if blind:
            spectrum[DIRECT] = np.mean([spectrum[BINS // 2 - 5], spectrum[BINS // 2 + 5]])
        level = self.level(spectrum)
        if self._floor is None:
            self._floor = np.full(BINS, level)
        ratios = self._means(spectrum / self._floor)
        loud = bool((ratios > self._off).any())
        self._quiet = 0 if loud else self._quiet + 1
        self._active = self._quiet < self.hang if self._active else bool((ratios > self._on).any())
        self._learn(spectrum, level)
        return Verdict(block, self._active, loud, spectrum, self._floor)

    def _learn(self, spectrum: Spectrum, level: float) -> None:
        assert self._floor is not None
        self._judged += 1
        if not self._active:
            self._learnt = min(self._learnt + 1, self.settle)
            self._floor = np.maximum(self._floor + (spectrum - self._floor) / self._learnt, SILENCE)
            return
        beside = np.convolve(spectrum / self._floor, BESIDE_TAPS, mode="same") < BESIDE
        rise = max(0.0, level / float(self._floor[EDGE:-EDGE].mean()) - 1) / (50 * self.settle)
        # Fast at first, when the floor is a guess; then slow, or the skirts of a signal would sink into it.
        pace = min(self._judged, 20 * self.settle)
        learnt = self._floor * (1 + rise) + np.where(beside, spectrum - self._floor, 0.0) / pace
        self._floor = np.maximum(learnt, SILENCE)


def bands() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first bin and the width of every band; each begins half a width after the one before."""
    inner = BINS - 2 * EDGE
    found = [(EDGE + first, w) for w in WIDTHS for first in range(0, inner - w + 1, max(1, w // 2))]
    first, width = np.array(found).T
    return first, width
