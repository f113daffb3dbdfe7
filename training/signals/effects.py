"""Effects that make outliers: signals mixed, distorted, repeated or combined; hops, pulses, noise."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from streaming.block import Samples
from training.signals.classes import Modulator, log_uniform
from training.signals.phasor import phasor
from training.signals.symbols import Points, Symbols

Mask = NDArray[np.bool_]
Taps = NDArray[np.complex128]
Bend = Literal["level", "shrink", "grow", "loss"]


class Effect:
    """A signal made of other signals."""

    symbol_rate, centre = np.nan, 0.0


class Sum(Effect):
    """Signals at different levels and frequencies, or evenly side by side over a width."""

    def __init__(self, inner: Sequence[Modulator], rng: np.random.Generator, width: float = 0.0) -> None:
        self.inner, self.made = inner, 0
        self.levels = rng.uniform(0.5, 1, len(inner)).astype(np.float32)
        self.places = rng.uniform(-1, 1, len(inner)) * log_uniform(rng, 0.01, 0.15)
        if width:
            self.places = width * ((np.arange(len(inner)) + 0.5) / len(inner) - 0.5)

    def make(self, count: int) -> Samples:
        """The next samples."""
        times = np.arange(self.made, self.made + count, dtype=np.float64)
        self.made += count
        parts = zip(self.levels, self.inner, self.places, strict=True)
        whole = sum(level * unit(x.make(count)) * phasor(at * times) for level, x, at in parts)
        return np.asarray(whole, np.complex64)


class Product(Effect):
    """One signal times another."""

    def __init__(self, inner: Sequence[Modulator]) -> None:
        self.inner = inner

    def make(self, count: int) -> Samples:
        """The next samples."""
        first, second = (x.make(count) for x in self.inner)
        return first * second


class Graft(Effect):
    """The level of one signal, the phase of another."""

    def __init__(self, inner: Sequence[Modulator]) -> None:
        self.inner = inner

    def make(self, count: int) -> Samples:
        """The next samples."""
        level, phase = (x.make(count) for x in self.inner)
        return np.abs(level) * phase / (np.abs(phase) + np.float32(1e-6))


class Alternation(Effect):
    """Two signals that alternate."""

    def __init__(self, inner: Sequence[Modulator], rng: np.random.Generator) -> None:
        self.inner, self.rng = inner, rng
        self.stay, self.left, self.second = log_uniform(rng, 30, 500), 0, False

    def make(self, count: int) -> Samples:
        """The next samples."""
        first, second = (unit(x.make(count)) for x in self.inner)
        return np.where(self.is_second(count), second, first)

    def is_second(self, count: int) -> Mask:
        """Where the second signal is on."""
        out, at = np.empty(count, np.bool_), 0
        while at < count:
            if self.left <= 0:
                self.second, self.left = not self.second, 20 + int(self.rng.exponential(self.stay))
            take = min(self.left, count - at)
            out[at : at + take] = self.second
            at, self.left = at + take, self.left - take
        return out


class Bent(Effect):
    """A signal whose level is raised to a power, whose phase is scaled, or that lost part of Q."""

    def __init__(self, inner: Modulator, how: Bend, rng: np.random.Generator) -> None:
        self.inner, self.power, self.phase_scale, self.lost = inner, 1.0, 1.0, 0.0
        if how == "level":
            self.power = log_uniform(rng, 1.6, 4) ** rng.choice([-1, 1])
        elif how == "shrink":
            self.phase_scale = rng.uniform(0.2, 0.8)
        elif how == "grow":
            self.phase_scale = float(rng.integers(2, 4))
        else:
            self.lost = rng.uniform(0.3, 1)

    def make(self, count: int) -> Samples:
        """The next samples."""
        x = self.inner.make(count)
        level = np.abs(x) ** np.float32(self.power)
        scaled = level * np.exp(1j * np.float32(self.phase_scale) * np.angle(x))
        return (scaled - np.float32(self.lost) * 1j * scaled.imag).astype(np.complex64)


class Filtered(Effect):
    """A signal behind a filter."""

    def __init__(self, inner: Modulator, taps: Taps) -> None:
        self.inner, self.taps = inner, taps
        self.state = np.zeros(len(taps) - 1, np.complex128)

    def make(self, count: int) -> Samples:
        """The next samples."""
        out, self.state = lfilter(self.taps, [1.0], self.inner.make(count), zi=self.state)
        return np.asarray(out, np.complex64)


class Pulses(Effect):
    """White noise, switched on and off by a clock, or always on."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.period, self.duty = (
            log_uniform(rng, 20, 400),
            rng.uniform(0.1, 0.7) if rng.random() < 0.5 else 1.0,
        )
        self.made = 0

    def make(self, count: int) -> Samples:
        """The next samples."""
        white = self.rng.standard_normal((count, 2)).astype(np.float32).view(np.complex64)[:, 0]
        clock = np.arange(self.made, self.made + count) / self.period % 1
        self.made += count
        return white * (clock < self.duty)


class Hops(Effect):
    """A tone that hops between places, or slides from them."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.places = np.linspace(-0.5, 0.5, int(rng.integers(3, 20))) * rng.uniform(0.05, 0.5)
        self.stay, self.even = log_uniform(rng, 8, 300), rng.random() < 0.5
        self.slide = rng.uniform(-0.5, 0.5) * np.ptp(self.places) / self.stay * (rng.random() < 0.5)
        self.phase, self.left, self.frequency = 0.0, 0, 0.0

    def make(self, count: int) -> Samples:
        """The next samples."""
        frequency, at = np.empty(count), 0
        while at < count:
            if self.left <= 0:
                self.frequency = float(self.rng.choice(self.places))
                self.left = 2 + int(self.stay if self.even else self.rng.exponential(self.stay))
            take = min(self.left, count - at)
            frequency[at : at + take] = self.frequency + self.slide * np.arange(take)
            self.frequency += self.slide * take
            at, self.left = at + take, self.left - take
        phase = self.phase + np.cumsum(frequency)
        self.phase = float(phase[-1] % 1)
        return phasor(phase)


class Gated(Effect):
    """A signal in pulses of one shape, by a clock."""

    def __init__(self, inner: Modulator, rng: np.random.Generator) -> None:
        self.inner, self.made = inner, 0
        self.period, self.duty = log_uniform(rng, 20, 400), rng.uniform(0.1, 0.8)
        self.power = rng.choice([0.0, rng.uniform(0.5, 3)])  # of a half wave; 0 is a rectangle

    def make(self, count: int) -> Samples:
        """The next samples."""
        clock = np.arange(self.made, self.made + count) / self.period % 1 / self.duty
        self.made += count
        gate = (clock < 1) * np.sin(np.pi * np.clip(clock, 1e-6, 1 - 1e-6)) ** self.power
        return np.asarray(self.inner.make(count) * gate, np.complex64)


class Loop(Effect):
    """A short piece of a signal again and again, sometimes with a sign of its own each time."""

    def __init__(self, inner: Modulator, rng: np.random.Generator) -> None:
        self.rng, self.piece = rng, inner.make(int(log_uniform(rng, 20, 400)))
        self.signed, self.sign, self.at = rng.random() < 0.5, np.float32(1), 0

    def make(self, count: int) -> Samples:
        """The next samples."""
        size = len(self.piece)
        rounds, place = np.divmod(self.at + np.arange(count), size)
        signs = self.rng.choice([-1, 1], rounds[-1] + 1).astype(np.float32)
        signs[0] = self.sign
        self.sign, self.at = signs[-1], (self.at + count) % size
        if self.at == 0:
            self.sign = np.float32(self.rng.choice([-1, 1]))
        return self.piece[place] * (signs[rounds] if self.signed else np.float32(1))


class Impulses(Effect):
    """Single samples, by a clock that trembles or with places of their own, each at a level of its own."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.made = rng, 0.0
        self.period, self.tremble = log_uniform(rng, 8, 120), rng.choice([0.0, 0.1, 1.0])
        self.signs, self.spread = int(rng.choice([1, 2, 4, 360])), rng.choice([0.0, 0.5])

    def make(self, count: int) -> Samples:
        """The next samples."""
        number = int(count / self.period) + 1
        places = self.period * (np.arange(number) + self.tremble * self.rng.random(number)) + self.made
        self.made = (self.made - count) % self.period
        levels = np.exp(self.spread * self.rng.standard_normal(number))
        levels = levels * np.exp(2j * np.pi * self.rng.integers(self.signs, size=number) / self.signs)
        out, inside = np.zeros(count, np.complex64), places < count
        np.add.at(out, places[inside].astype(int), levels[inside].astype(np.complex64))
        return out


class Remembered:
    """Symbols that hold a part of those before."""

    def __init__(self, inner: Symbols, rng: np.random.Generator) -> None:
        self.inner = inner
        self.taps = np.append(1.0, rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], int(rng.integers(1, 4))))
        self.taps[-1] = rng.choice([-1.0, 1.0])
        self.state = np.zeros(len(self.taps) - 1, np.complex128)

    def take(self, count: int) -> Points:
        """The next ones."""
        out, self.state = lfilter(self.taps, [1.0], self.inner.take(count), zi=self.state)
        return np.asarray(out, np.complex64)


def unit(x: Samples) -> Samples:
    """At unit power."""
    return x / np.float32(np.sqrt(np.square(np.abs(x)).mean()) + 1e-9)
