"""Analogue modulations of a message m, |m| <= 1, with frequencies up to `top` cycles per sample.

    AM-DSB   1 + depth m             AM-DSB-SC   m             SSB   m + j H(m) or m - j H(m)
    FM       exp(2 pi j deviation sum m)

The message is sound, from speech with its syllables to steady music, or a few tones.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, fftconvolve, firwin, sosfilt

from streaming.block import Samples
from training.signals.phasor import phasor

Floats = NDArray[np.float64]


class Message(Protocol):
    """An endless message."""

    def make(self, count: int) -> Floats:
        """The next samples, within -1..1."""
        ...


class Sound:
    """Noise up to `top`, falling or rising with frequency, its loudness steady or that of syllables.

    Voices begin at a sixth of the highest frequency and fall, broadcasts at a hundredth and are emphasised.
    """

    def __init__(self, top: float, rng: np.random.Generator) -> None:
        low, edge = top / np.exp(rng.uniform(np.log(6), np.log(60))), rng.uniform(0.1, 1.0) * top
        band = butter(6, [low, top], "bandpass", fs=1.0, output="sos")
        slope = butter(1, edge, rng.choice(["lowpass", "highpass"]), fs=1.0, output="sos")
        self.rng, self.band = rng, np.concatenate([band, slope]) if rng.random() < 0.7 else band
        self.slow = butter(1, top / 60, fs=1.0, output="sos")
        self.syllables, self.level, self.gain = rng.uniform(0, 1), rng.uniform(0.2, 0.5), 1.0
        self.slow_gain = 1 / np.sqrt(np.pi * top / 60)
        self.states = [np.zeros((len(sos), 2)) for sos in (self.band, self.slow)]
        length = min(65_536, int(40 / low))
        self.noise(length)  # past the filters' beginning
        self.gain = 1 / float(np.std(self.noise(length)[0]))

    def noise(self, count: int) -> tuple[Floats, Floats]:
        """The next samples of the band, and of what its loudness follows, both near unit power."""
        white = self.rng.standard_normal((2, count))
        band, self.states[0] = sosfilt(self.band, white[0], zi=self.states[0])
        slow, self.states[1] = sosfilt(self.slow, white[1], zi=self.states[1])
        return self.gain * band, self.slow_gain * slow

    def make(self, count: int) -> Floats:
        """The next samples."""
        band, slow = self.noise(count)
        loudness = 1 - self.syllables + self.syllables * np.minimum(np.abs(slow), 1.5)
        return np.asarray(np.clip(self.level * band * loudness, -1, 1))


class Tones:
    """`fewest` to four tones up to `top`; a single one on a single sideband would be a bare carrier."""

    def __init__(self, top: float, rng: np.random.Generator, fewest: int) -> None:
        number = int(rng.integers(fewest, 5))
        self.frequency = top * np.append(rng.uniform(0.05, 0.95, number - 1), 1.0)
        self.phase = rng.uniform(0, 1, number)
        self.level = rng.uniform(0.5, 1.0, number)
        self.level /= self.level.sum()

    def make(self, count: int) -> Floats:
        """The next samples."""
        turns = self.phase[:, None] + self.frequency[:, None] * np.arange(count)  # (tones, count)
        self.phase = (self.phase + self.frequency * count) % 1.0
        return np.asarray(self.level @ np.sin(2 * np.pi * turns))


class DoubleSideband:
    """AM; without `carrier` it is suppressed."""

    symbol_rate, centre = np.nan, 0.0

    def __init__(self, message: Message, depth: float, carrier: bool) -> None:
        self.message, self.depth, self.carrier = message, depth, float(carrier)

    def make(self, count: int) -> Samples:
        """The next samples."""
        return (self.carrier + self.depth * self.message.make(count)).astype(np.complex64)


class SingleSideband:
    """The upper or lower sideband, through a windowed Hilbert transformer."""

    symbol_rate = np.nan
    reach = 128

    def __init__(self, message: Message, top: float, upper: bool) -> None:
        self.message, self.centre = message, (top if upper else -top) / 2
        # A half-band low-pass shifted by a quarter of the rate passes one half of the spectrum only.
        low = firwin(2 * self.reach + 1, 0.5, window=("kaiser", 6.0))
        shift = np.exp((0.5j if upper else -0.5j) * np.pi * np.arange(-self.reach, self.reach + 1))
        self.taps = 2 * low * shift
        self.past = message.make(2 * self.reach)

    def make(self, count: int) -> Samples:
        """The next samples."""
        long = np.concatenate([self.past, self.message.make(count)])
        self.past = long[count:]
        return fftconvolve(long, self.taps, mode="valid").astype(np.complex64, copy=False)


class FrequencyModulation:
    """FM with this peak deviation, in cycles per sample."""

    symbol_rate, centre = np.nan, 0.0

    def __init__(self, message: Message, deviation: float) -> None:
        self.message, self.deviation, self.turns = message, deviation, 0.0

    def make(self, count: int) -> Samples:
        """The next samples."""
        turns = self.turns + np.cumsum(self.deviation * self.message.make(count))
        self.turns = float(turns[-1] % 1.0)
        return phasor(turns)
