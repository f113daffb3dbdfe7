"""The one receiver that a scene is heard through: noise, filter, spurs, level, image, direct current.

    y = gain (filter(x + noise) + spurs),    z = y + image conj(y) + dc

The converter is the type of the file that the samples are written to.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.signal import oaconvolve

from streaming.block import Samples
from training.signals import faults as fault
from training.signals.classes import log_uniform
from training.signals.phasor import phasor

TAPS = 255  # of the filter
LEAD = TAPS // 2  # sample n of what is heard is sample n + LEAD of what is pushed
SPURS = 0.5  # share of receivers with one to three
HEADROOM_DB = (10.0, 16.0)  # of full scale over the mean power when everything is on


class SceneReceiver:
    """A receiver with faults that are drawn once."""

    def __init__(self, rng: np.random.Generator, power: float, ideal: bool) -> None:
        """`power` is that of all that is sent at once; the noise has unit power."""
        self.rng, self.made = rng, 0
        self.taps = np.zeros(TAPS, np.float32)
        self.taps[TAPS // 2] = 1.0
        self.spurs = list[tuple[float, float]]()  # frequency in cycles per sample, level
        self.image, self.dc = 0j, 0j
        if not ideal:
            self.taps = draw_filter(rng)
            count = int(rng.integers(1, 4)) if rng.random() < SPURS else 0
            self.spurs = [(rng.uniform(-0.45, 0.45), draw_level(rng)) for _ in range(count)]
            self.image = 10 ** (rng.uniform(-50, -25) / 20) * np.exp(2j * np.pi * rng.random())
            self.dc = log_uniform(rng, 1e-3, 3e-2) * np.exp(2j * np.pi * rng.random())
        self.gain = float(10 ** (-rng.uniform(*HEADROOM_DB) / 20) / np.sqrt(1 + power))
        self.past = np.empty(0, np.complex64)

    def push(self, x: Samples) -> Samples:
        """What the converter is given; `2 LEAD` samples fewer at first, until the filter is filled."""
        noise = self.rng.standard_normal(2 * len(x), dtype=np.float32).view(np.complex64)
        heard = np.concatenate([self.past, x + noise * np.float32(np.sqrt(0.5))])
        self.past = heard[max(0, len(heard) - 2 * LEAD) :]
        if len(heard) < TAPS:
            return heard[:0]
        y = np.asarray(oaconvolve(heard, self.taps, "valid"), np.complex64)
        times = np.arange(self.made, self.made + len(y), dtype=np.float64)
        self.made += len(y)
        for place, level in self.spurs:
            y += np.float32(level) * phasor(place * times)
        y *= np.float32(self.gain)
        return np.asarray(y + np.complex64(self.image) * y.conj() + np.complex64(self.dc), np.complex64)

    def power_gain(self, lower: float, upper: float) -> float:
        """Of the filter within these frequencies, in cycles per sample."""
        response = np.abs(fft.fftshift(fft.fft(self.taps, 8192))) ** 2
        f = fft.fftshift(fft.fftfreq(8192))
        inside: NDArray[np.bool_] = (f >= lower) & (f <= upper)
        return float(response[inside].mean() if inside.any() else np.interp((lower + upper) / 2, f, response))


def draw_filter(rng: np.random.Generator) -> NDArray[np.float32]:
    """Taps with the shape of a receiver's floor."""
    shape = fault.floor_shape(rng, 4 * TAPS + 1)
    taps = fft.fftshift(fft.ifft(shape).real)[2 * TAPS - TAPS // 2 : 2 * TAPS + TAPS // 2 + 1]
    return np.asarray(taps * np.hanning(TAPS + 2)[1:-1], np.float32)


def draw_level(rng: np.random.Generator) -> float:
    """Of a spur: -5 to 25 dB over the noise in 1/256 of the band."""
    return float(np.sqrt(10 ** (rng.uniform(-5, 25) / 10) / 256))
