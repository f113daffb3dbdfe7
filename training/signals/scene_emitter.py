"""One transmitter of a scene: its settings are drawn once, its samples are made a segment at a time.

    y[n] = scale exp(2 pi j f[n] n) fade(oscillator(wave))[n],    f[n] the channel that it is on

What lasts longer than a segment is made of excerpts that overlap by a few inverse bandwidths, where one fades
out as the next one fades in. Power and occupied band are measured on all that was sent, before it is moved to
its channel.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import fft

from streaming.block import Samples
from training.signals.emitters.emitter import Emitter, Floats, Spans
from training.signals.fading import Fading
from training.signals.phasor import phasor
from training.signals.wide import SHORTEST, oscillator

BINS = 65_536  # of the spectrum that bands are measured with
FADE = 4.0  # inverse bandwidths over which one excerpt turns into the next


@dataclass(frozen=True)
class Dwell:
    """When a transmitter is on which of its channels."""

    begin: int
    end: int
    channel: int


@dataclass
class Sent:
    """What a transmitter has sent: its spectrum around zero frequency, power, bursts."""

    spectrum: Floats = field(default_factory=lambda: np.zeros(BINS))
    edges: list[tuple[float, float]] = field(default_factory=list)  # where a carrier hides them
    bursts: dict[int, Spans] = field(default_factory=dict)  # by channel

    def add(self, x: Samples, edges: tuple[float, float] | None) -> None:
        """Samples around zero frequency."""
        self.spectrum += spectrum_of(x)
        self.edges += [edges] if edges else []

    def add_burst(self, channel: int, begin: int, end: int) -> None:
        """A burst, or the next part of one."""
        spans = self.bursts.setdefault(channel, [])
        if spans and spans[-1][1] == begin:
            begin, _ = spans.pop()
        spans.append((begin, end))

    @property
    def power(self) -> float:
        """While it is on."""
        on = sum(end - begin for spans in self.bursts.values() for begin, end in spans)
        return float(self.spectrum.sum()) / max(on, 1)

    @property
    def band(self) -> tuple[float, float]:
        """Edges that leave out half a percent of the power on either side, in cycles per sample."""
        if self.edges:
            lower, upper = np.mean(self.edges, axis=0).tolist()
            return float(lower), float(upper)
        below = np.cumsum(self.spectrum)
        first, last = np.searchsorted(below, below[-1] * np.array([0.005, 0.995])).tolist()
        return (first - 0.5) / BINS - 0.5, (last + 0.5) / BINS - 0.5

    def share(self, lower: float, upper: float) -> float:
        """Of the power within these frequencies."""
        below = np.concatenate([[0.0], np.cumsum(self.spectrum)])
        first, last = np.clip((np.array([lower, upper]) + 0.5) * BINS + 0.5, 0, BINS)
        inside = np.interp([first, last], np.arange(BINS + 1.0), below)
        return float((inside[1] - inside[0]) / max(below[-1], 1e-30))


@dataclass
class SceneEmitter:
    """A transmitter at its place in time and frequency."""

    name: str
    emitter: Emitter
    speed: float  # by which all its frequencies are scaled
    rate_hz: float
    seed: list[int]
    begin: int  # it is on, or in bursts, from here to there
    end: int
    level: float  # RMS of the emitter's own wave while it is on
    width: float  # of the occupied band, in cycles per sample, as planned
    channels: tuple[float, ...]  # carriers, in cycles per sample
    dwells: list[Dwell]
    scale: float
    fading: Fading | None = None
    sent: Sent = field(default_factory=Sent)
    tail: Samples = field(default_factory=lambda: np.empty(0, np.complex64))

    def make(self, begin: int, end: int) -> tuple[int, Samples]:
        """What it sends in [begin, end), and where that begins; to be asked for in order."""
        first, last = max(begin, self.begin), min(end, self.end)
        if last - first < SHORTEST:
            return begin, np.empty(0, np.complex64)
        more = min(int(FADE / self.width), SHORTEST // 2, self.end - last)
        rng = np.random.default_rng([*self.seed, begin])
        wave = self.emitter.make(rng, self.rate_hz / self.speed, last - first + more)
        bursts = [(b, min(e, last - first)) for b, e in wave.bursts if b < last - first]
        nominal = self.emitter.width_hz * self.speed / self.rate_hz
        steady = np.random.default_rng(self.seed)  # an oscillator has one drift and one phase noise
        x = wave.samples * oscillator(steady, 0.0, nominal, len(wave.samples), wave.bursts)
        x *= np.float32(1 / self.level)
        if len(self.tail):
            ramp = np.sin(np.pi / 2 * (np.arange(len(self.tail)) + 0.5) / len(self.tail)).astype(np.float32)
            x[: len(self.tail)] = x[: len(self.tail)] * ramp + self.tail * ramp[::-1]
        x, self.tail = x[: last - first], x[last - first :]
        if self.fading:
            x = self.fading.push(x)
        return first, self._placed(x, first, bursts, wave.edges)

    def _placed(self, x: Samples, first: int, bursts: Spans, edges: tuple[float, float] | None) -> Samples:
        """On its channels, at its level; what is sent is noted."""
        out = np.zeros(len(x), np.complex64)
        for dwell in self.dwells:
            b, e = max(dwell.begin - first, 0), min(dwell.end - first, len(x))
            if b < e:
                turns = self.channels[dwell.channel] * np.arange(first + b, first + e, dtype=np.float64)
                out[b:e] = x[b:e] * phasor(turns) * np.float32(self.scale)
                for begin, end in bursts:
                    if max(begin, b) < min(end, e):
                        self.sent.add_burst(dwell.channel, first + max(begin, b), first + min(end, e))
        if len(self.dwells) > 1:  # between two channels it is off
            x = np.where(out == 0, np.complex64(0), x)
        self.sent.add(x, edges)
        return out


def spectrum_of(x: Samples) -> Floats:
    """Energy by frequency, from -1/2 on; its sum is the energy of the samples.

    The squares of sine windows that overlap by half add up to one.
    """
    half = BINS // 2
    padded = np.zeros(half * (-(-len(x) // half) + 2), np.complex64)
    padded[half : half + len(x)] = x
    window = np.sin(np.pi * (np.arange(BINS) + 0.5) / BINS).astype(np.float32)
    out = np.zeros(BINS)
    for at in range(0, len(padded) - half, half):
        spectrum = fft.fft(padded[at : at + BINS] * window)
        out += spectrum.real**2 + spectrum.imag**2
    return np.asarray(fft.fftshift(out) / BINS)
