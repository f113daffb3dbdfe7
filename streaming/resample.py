"""Tune, filter and resample in one step, by fast convolution.

    y[m] = sum_n x[n] exp(-2 pi j f n) h(m step - n),    step = N / M input samples per output sample

The stream is cut into blocks of N samples that overlap by half. Each is transformed, the M bins around f are
weighted with the filter's response and transformed back; the middle half is exact, as the filter h reaches
N / 4 samples to either side (overlap-save; Borgerding, "Turning overlap-save into a multiband mixing,
downsampling filter bank", 2006). f is a whole number of bins, so that the phase of a block is a sign. Blocks
lie on a fixed grid counted from the reset: the result does not depend on how the stream is cut.

>>> Resampler(step=4.0).push(np.ones(4096, np.complex64)).shape
(896,)
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.signal import firwin

from streaming.block import Samples
from streaming.errors import ConfigError

SHORTEST = 1024  # samples per block: below, calls cost more than sums
NARROWEST = 128  # bins kept: a filter edge of 6 % of the output's rate
STOPBAND_DB = 60.0
LARGEST_STEP = 1024.0


class Resampler:
    """Samples of one rate in, of another out; output sample m lies at input sample m * step.

    Parameters
    ----------
    step
        Input samples per output sample; below 1 it interpolates. The nearest ratio N / M is used (within
        1.5 %), and is `step` afterwards.
    offset
        The frequency that becomes zero, in cycles per input sample; rounded to a bin, and `offset`
        afterwards.
    """

    def __init__(self, step: float, offset: float = 0.0) -> None:
        if not 1 / 16 <= step <= LARGEST_STEP:
            raise ConfigError(f"resample.step is {step!r}; it must be between 1/16 and {LARGEST_STEP:g}")
        if not -0.5 <= offset <= 0.5:
            raise ConfigError(f"resample.offset is {offset!r}; it must be between -0.5 and 0.5")
        self.size, self.kept = sizes(step)  # N, M
        self.step = self.size / self.kept
        self.bin = round(offset * self.size)
        self.offset = self.bin / self.size
        self.latency = 3 * self.size // 4  # input samples that must follow one before its output comes
        width = min(self.size, self.kept)
        around = np.arange(-(width // 2), width // 2)
        self._from = (around + self.bin) % self.size
        self._to = around % self.kept
        # The first block begins a quarter of its size before the first sample: the phase of bin k advanced by
        # j^k since.
        phase = np.complex64(1j ** (self.bin % 4) * self.kept / self.size)
        self._response = phase * response(self.size, self.kept)[around % self.size]
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._held = np.zeros(
            self.size // 4, np.complex64
        )  # so that the first output lies at the first input
        self._odd = False  # whether the next block's number is odd
        self._seen = self._given = 0

    def push(self, samples: Samples) -> Samples:
        """What these samples complete."""
        held = np.concatenate([self._held, samples])
        hop, quarter = self.size // 2, self.kept // 4
        blocks = max(0, (len(held) - hop) // hop)
        out = np.empty((blocks, 2 * quarter), np.complex64)
        for i in range(blocks):
            out[i] = self._block(held[i * hop : i * hop + self.size])[quarter : 3 * quarter]
        self._held = held[blocks * hop :].copy()
        self._seen += len(samples)
        self._given += out.size
        return out.ravel()

    def _block(self, x: Samples) -> Samples:
        """All M samples of a block, of which the outer quarters are not valid."""
        spectrum = np.zeros(self.kept, np.complex64)
        weight = -self._response if self._odd and self.bin % 2 else self._response
        spectrum[self._to] = fft.fft(x)[self._from] * weight
        self._odd = not self._odd
        return np.asarray(fft.ifft(spectrum, overwrite_x=True), np.complex64)

    def flush(self) -> Samples:
        """The outputs up to the last input, as if silence followed; then reset."""
        missing = -(-self._seen * self.kept // self.size) - self._given
        tail = self.push(np.zeros(2 * self.size, np.complex64))[:missing]
        self.reset()
        return tail


def sizes(step: float) -> tuple[int, int]:
    """N and M, both multiples of 4 that transform fast, with N / M near the step."""
    least = max(SHORTEST, NARROWEST * step)
    best = (math.inf, 0, 0)
    size = int(-(-least // 4) * 4)
    while size <= 1.5 * least:
        kept = 4 * max(1, round(size / step / 4))
        if fft.next_fast_len(size) == size:
            error = abs(math.log(size / kept / step)) + (0.01 if fft.next_fast_len(kept) != kept else 0)
            best = min(best, (round(error, 9), size, kept))
        size += 4
    return best[1], best[2]


def response(size: int, kept: int) -> NDArray[np.float32]:
    """The filter's response at N bins: flat to 44 % of the lower rate, down by 60 dB at half of it."""
    half_rate = 0.5 * min(1.0, kept / size)
    beta = 0.1102 * (STOPBAND_DB - 8.7)  # Kaiser's rule
    edge = (STOPBAND_DB - 7.95) / (14.36 * (size // 2))  # cycles per sample, from pass to stop
    taps = firwin(size // 2 + 1, half_rate - edge / 2, window=("kaiser", beta), fs=1.0)
    centred = np.roll(np.append(taps, np.zeros(size - len(taps))), -(size // 4))
    return np.asarray(fft.fft(centred).real, np.float32)
