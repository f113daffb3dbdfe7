"""The channel bank: one transform of the band serves every channel.

    y[m] = sum_n x[n] exp(-2 pi j f n) h(m step - n),    step = N / M input samples per output sample

The stream is cut into blocks of N samples that overlap by half, and each is transformed once. A channel takes
the M bins around its frequency f, weights them with its filter's response and transforms them back; the
middle half is exact, as the filter h reaches N / 4 samples to either side (overlap-save; Borgerding, "Turning
overlap-save into a multiband mixing, downsampling filter bank", 2006; ka9q-radio does the same). A further
channel costs in proportion to its own bandwidth. f is a whole number of bins, so that a block's phase is a
sign.
"""

import math
from collections import deque
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.filters import lowpass, transforms_fast
from streaming.fourier import fft
from streaming.native_signals import signal_kernel

FEWEST = 64  # bins of a channel
STOPBAND_DB = 60.0
EDGE = 0.06  # of a channel's rate, from pass to stop
STEPS_PER_OCTAVE = 4  # rates lie on this grid, so that small errors of a bandwidth do not show


class Bank:
    """`push` hops of N / 2 samples; block b gives the samples of hop b of every channel, one hop later."""

    def __init__(self, size: int, kept: int) -> None:
        """Of N samples per block; the newest `kept` blocks can be read."""
        self.size, self.hop = size, size // 2
        self._blocks: deque[Samples] = deque(maxlen=kept)
        self.reset()

    def reset(self) -> None:
        """Start again with the next sample."""
        self._blocks.clear()
        self._held = np.zeros(self.size // 4, np.complex64)
        self.count = 0  # blocks so far

    @property
    def oldest(self) -> int:
        """The first block that can still be read."""
        return self.count - len(self._blocks)

    def push(self, hop: Samples) -> None:
        """The next N / 2 samples."""
        held = np.concatenate([self._held, hop])
        if len(held) >= self.size:
            self._blocks.append(fft.fft(held[: self.size]))
            self.count += 1
            held = held[self.hop :]
        self._held = held

    def block(self, number: int) -> Samples:
        """The transform of a block."""
        return self._blocks[number - self.oldest]


class Channel:
    """A part of the band around `offset`, at a rate that its width fills by `fraction`."""

    def __init__(self, bank: Bank, offset: float, width: float, fraction: float) -> None:
        """In cycles per sample."""
        self.bank = bank
        self.kept = kept_bins(bank.size, width / fraction)  # M
        self.step = bank.size / self.kept
        self.bin = round(offset * bank.size)
        self.offset = self.bin / bank.size
        count = min(bank.size, self.kept)
        around = np.arange(-(count // 2), count // 2)
        self._from = (around + self.bin) % bank.size
        self._to = around % self.kept
        # Blocks begin a quarter of their size before the first sample they give: bin k has turned by j^k.
        turn = np.complex64(1j ** (self.bin % 4) * self.kept / bank.size)
        self._response = turn * response(bank.size, self.kept)

    def read(self, number: int) -> Samples:
        """The M / 2 samples of a block."""
        kernel, sign = signal_kernel(), -1.0 if number % 2 and self.bin % 2 else 1.0
        block = self.bank.block(number)
        if kernel is None:
            return self.read_in_numpy(block, sign)
        return kernel.channel(block, self.bin, self._response, sign, self.kept)

    def read_in_numpy(self, block: Samples, sign: float) -> Samples:
        """The definition of a channel's samples, which the kernel keeps to."""
        spectrum = np.zeros(self.kept, np.complex64)
        spectrum[self._to] = block[self._from] * (np.float32(sign) * self._response)
        quarter = self.kept // 4
        return np.asarray(fft.ifft(spectrum)[quarter : 3 * quarter], np.complex64)


@lru_cache(maxsize=256)
def kept_bins(size: int, rate: float) -> int:
    """M for a rate in cycles per sample: a multiple of four that transforms fast, near a grid of rates."""
    wanted = size * 2 ** (round(math.log2(rate) * STEPS_PER_OCTAVE) / STEPS_PER_OCTAVE)
    least = max(FEWEST, min(4 * size, wanted))
    near = [4 * round(least * (1 + i / 256) / 4) for i in range(-4, 5)]
    return min(near, key=lambda kept: (not transforms_fast(kept), abs(kept - least)))


@lru_cache(maxsize=256)
def response(size: int, kept: int) -> NDArray[np.float32]:
    """The filter's response at the M bins around zero: flat to 44 % of the rate, -60 dB at half of it."""
    rate = min(1.0, kept / size)
    edge = EDGE * rate  # cycles per sample, from pass to stop
    taps = min(size // 2, math.ceil((STOPBAND_DB - 7.95) / (14.36 * edge))) | 1  # Kaiser's rules
    beta = 0.1102 * (STOPBAND_DB - 8.7)
    filter_taps = lowpass(taps, (rate - edge) / 2, beta)
    count = min(size, kept)
    around = np.arange(-(count // 2), count // 2)
    centred = np.roll(np.append(filter_taps, np.zeros(size - taps)), -(taps // 2))
    return np.asarray(fft.fft(centred).real[around % size], np.float32)
