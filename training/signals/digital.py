"""Linear and continuous-phase modulations, at any number of samples per symbol.

    linear   y[n] = sum_k a[k] g(t_n - k)                          OQPSK: Q half a symbol later
    CPM      y[n] = exp(2 pi j h sum_k a[k] q(t_n - k))            a = +-1, or +-1 and +-3

h is the modulation index: neighbouring tones lie h symbol rates apart. MSK is h = 1/2 with a rectangle.
"""

import numpy as np

from streaming.block import Samples
from training.signals.phasor import phasor
from training.signals.pulse import PHASES, Table, shape, slopes
from training.signals.symbols import Buffer, Symbols


class Clock:
    """Sample times in symbols, counted exactly from the first sample."""

    def __init__(self, samples_per_symbol: float, timing: float) -> None:
        self.samples_per_symbol, self.timing = samples_per_symbol, timing
        self.n = 0

    def tick(self, count: int) -> tuple[int, np.ndarray[tuple[int], np.dtype[np.float64]]]:
        """The symbol the next samples begin in, and their times counted from it."""
        times = (self.n + np.arange(count)) / self.samples_per_symbol + self.timing
        self.n += count
        begin = int(np.floor(times[0]))
        return begin, times - begin


class Linear:
    """Pulse-shaped symbols; `stagger` delays Q by this part of a symbol."""

    centre = 0.0

    def __init__(
        self, symbols: Symbols, pulses: Table, samples_per_symbol: float, timing: float, stagger: float = 0.0
    ) -> None:
        self.reach = len(pulses) // 2
        self.clock = Clock(samples_per_symbol, timing)
        self.buffer = Buffer(symbols, self.reach + 1)  # one more: the staggered Q begins in the symbol before
        self.pulses, self.stagger = pulses, stagger
        self.symbol_rate = 1 / samples_per_symbol

    def make(self, count: int) -> Samples:
        """The next samples."""
        begin, times = self.clock.tick(count)
        held = self.buffer.around(begin, begin + int(times[-1]))
        if not self.stagger:
            return np.asarray(shape(held[1:], times, self.pulses), np.complex64)
        late = shape(np.ascontiguousarray(held.imag), times - self.stagger + 1, self.pulses)
        out = np.empty(count, np.complex64)
        out.real = shape(np.ascontiguousarray(held[1:].real), times, self.pulses)
        out.imag = late
        return out


class ContinuousPhase:
    """Frequency-shift keying without a jump in phase; the symbols are real."""

    centre = 0.0

    def __init__(
        self, symbols: Symbols, index: float, pulses: Table, samples_per_symbol: float, timing: float
    ) -> None:
        self.reach = len(pulses) // 2
        self.clock = Clock(samples_per_symbol, timing)
        self.buffer = Buffer(symbols, self.reach)
        self.index, self.pulses, self.slopes = index, pulses, slopes(pulses)
        self.symbol_rate = 1 / samples_per_symbol
        self.turned = 0.0  # half the sum of the symbols whose pulses are over

    def make(self, count: int) -> Samples:
        """The next samples."""
        begin, times = self.clock.tick(count)
        held = self.buffer.around(begin, begin + int(times[-1])).real.copy()
        over = np.concatenate(
            [[0.0], np.cumsum(held, dtype=np.float64) / 2]
        )  # before symbol begin - reach + i
        turns = self.turned + over[times.astype(np.int64)] + shape(held, times, self.pulses)
        turns += (
            times * PHASES % 1 * shape(held, times, self.slopes)
        )  # a large index would show the phases' steps
        # What the next stretch's first symbol finds behind it.
        following = int(np.floor(self.clock.n / self.clock.samples_per_symbol + self.clock.timing)) - begin
        self.turned = float((self.turned + over[following]) % (2 / self.index))
        return phasor(self.index * turns)
