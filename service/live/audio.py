"""An emission as sound: AM, FM and SSB demodulated from the band, however it is cut.

    z = lowpass(x exp(-2 pi i f n), B)        the emission's channel, moved to zero and decimated
    AM |z|     FM arg(z[n] z*[n-1])     USB Re(z exp(+pi i B n))     LSB Re(z exp(-pi i B n))

For SSB the carrier is taken to lie at the edge of what the emission occupies.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples

Mode = Literal["am", "fm", "usb", "lsb"]
LOWEST_HZ = 12_000.0  # of the channel's rate and of the audio's: speech
SLOPES = 8  # taps of a low-pass, in samples after decimation
FRAME = 256  # audio samples whose level is set together
FAST, SLOW = 0.5, 0.05  # how soon the level follows what gets louder, and what gets softer
LOUD = 0.2  # RMS of the sound; 1 is full scale
Audio = NDArray[np.float32]


class Decimator:
    """Low-pass and decimation by a whole factor; states carry on from push to push."""

    def __init__(self, factor: int, cutoff: float) -> None:
        """`cutoff` is half the bandwidth that is kept, in cycles per input sample."""
        count = SLOPES * factor + 1
        at = np.arange(count) - (count - 1) / 2
        taps = np.sinc(2 * cutoff * at) * np.blackman(count)
        self.factor, self._taps = factor, (taps / taps.sum()).astype(np.float32)
        self._past = np.zeros(count - 1, np.complex64)
        self._skip = 0  # inputs before the next output

    def push(self, x: NDArray[np.complex64]) -> NDArray[np.complex64]:
        """The outputs that these inputs complete."""
        joined = np.concatenate([self._past, x])
        self._past = joined[len(joined) - len(self._past) :]
        if len(x) <= self._skip:
            self._skip -= len(x)
            return np.empty(0, np.complex64)
        windows = np.lib.stride_tricks.sliding_window_view(joined, len(self._taps))
        chosen = windows[self._skip :: self.factor]
        self._skip = self._skip + len(chosen) * self.factor - len(x)
        return np.asarray(chosen @ self._taps, np.complex64)


class Demodulator:
    """Samples of a band in, sound of one emission out; `rate_hz` is the sound's."""

    def __init__(self, band_hz: float, edges_hz: tuple[float, float], mode: Mode) -> None:
        lower, upper = edges_hz
        width = min(max(upper - lower, 1.0), band_hz)
        self.mode, self._step = mode, -(lower + upper) / 2 / band_hz  # cycles per sample of the band
        wide = max(LOWEST_HZ, 1.5 * width)
        first = max(1, int(band_hz / wide))
        self._channel = Decimator(first, min(0.5, max(width, 3000.0) * 0.6 / band_hz))
        self._channel_hz = band_hz / first
        second = max(1, int(self._channel_hz / LOWEST_HZ))
        self._sound = Decimator(second, min(0.5, 0.45 * LOWEST_HZ / self._channel_hz))
        self.rate_hz = self._channel_hz / second
        self._shift = {"usb": width / 2, "lsb": -width / 2}.get(mode, 0.0) / self._channel_hz
        self._phase = self._turn = 0.0  # cycles
        self._last = np.complex64(0)
        self._level, self._mean = 0.0, 0.0
        self._waiting: Audio = np.empty(0, np.float32)

    def push(self, samples: Samples) -> Audio:
        """The sound that these samples complete, from -1 to 1."""
        z = self._channel.push(self._mixed(samples))
        sound = self._sound.push(self._demodulated(z).astype(np.complex64)).real
        joined = np.concatenate([self._waiting, sound.astype(np.float32)])
        whole = len(joined) // FRAME * FRAME
        self._waiting = joined[whole:]
        frames = [self._levelled(frame) for frame in joined[:whole].reshape(-1, FRAME)]
        return np.concatenate(frames) if frames else np.empty(0, np.float32)

    def _mixed(self, x: Samples) -> NDArray[np.complex64]:
        cycles = self._phase + self._step * np.arange(len(x))
        self._phase = (self._phase + self._step * len(x)) % 1.0
        return np.asarray(x * np.exp(2j * np.pi * (cycles % 1.0)), np.complex64)

    def _demodulated(self, z: NDArray[np.complex64]) -> NDArray[np.float64]:
        if self.mode == "am":
            return np.asarray(np.abs(z), np.float64)
        if self.mode == "fm":
            before = np.concatenate([[self._last], z[:-1]]) if len(z) else z
            self._last = z[-1] if len(z) else self._last
            return np.asarray(np.angle(z * np.conj(before)), np.float64)
        cycles = self._turn + self._shift * np.arange(len(z))
        self._turn = (self._turn + self._shift * len(z)) % 1.0
        return np.asarray(np.real(z * np.exp(2j * np.pi * cycles)), np.float64)

    def _levelled(self, frame: Audio) -> Audio:
        """Without its mean (AM's carrier, FM's offset), at the same loudness whatever was received."""
        mean = float(frame.mean())
        self._mean += (mean - self._mean) * (SLOW if self._level else 1.0)
        centred = frame - np.float32(self._mean)
        level = float(np.sqrt(np.mean(np.square(centred))))
        self._level += (level - self._level) * (FAST if level > self._level else SLOW)
        return np.asarray(np.clip(centred * np.float32(LOUD / (self._level + 1e-9)), -1, 1), np.float32)
