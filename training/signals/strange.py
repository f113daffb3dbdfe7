"""Signals of no class: what a head is shown so that it learns where its classes end.

Known classes mixed, bent or echoed, constellations and tone sets that nobody uses, hopping tones, coloured
noise. None is a modulation of anything that the head must tell; together they fill what lies around and
between its classes.

>>> stranger = make_stranger(("QPSK", "GMSK"), np.random.default_rng(1))
>>> stranger.parts, stranger.make(3).dtype
(('GMSK',), dtype('complex64'))
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.signal import firwin, lfilter

from streaming.block import Samples
from training.signals.classes import Modulator, log_uniform, make_modulator
from training.signals.digital import ContinuousPhase, Linear
from training.signals.phasor import phasor
from training.signals.pulse import table
from training.signals.symbols import Even

Mask = NDArray[np.bool_]


class Stranger:
    """A modulator, and the known classes that went into it."""

    symbol_rate, centre = np.nan, 0.0

    def __init__(self, inner: Modulator, parts: tuple[str, ...] = ()) -> None:
        self.inner, self.parts = inner, parts

    def make(self, count: int) -> Samples:
        """The next samples."""
        return self.inner.make(count)


class Effect:
    """What is made of other signals."""

    symbol_rate, centre = np.nan, 0.0


class Together(Effect):
    """Two signals added at different levels and frequencies, multiplied, or in turn."""

    def __init__(
        self, how: Literal["sum", "product", "turns"], a: Modulator, b: Modulator, rng: np.random.Generator
    ) -> None:
        self.how, self.a, self.b, self.rng = how, a, b, rng
        self.level, self.apart = rng.uniform(0.5, 1), rng.uniform(-0.15, 0.15)
        self.stay, self.left, self.second = log_uniform(rng, 30, 500), 0, False
        self.made = 0

    def make(self, count: int) -> Samples:
        """The next samples."""
        a, b = unit(self.a.make(count)), unit(self.b.make(count))
        if self.how == "product":
            return a * b
        if self.how == "turns":
            return np.where(self.turns(count), a, b)
        times = np.arange(self.made, self.made + count, dtype=np.float64)
        turned = b * phasor(self.apart * times)
        self.made += count
        return (a + np.float32(self.level) * turned).astype(np.complex64)

    def turns(self, count: int) -> Mask:
        """Whose turn it is."""
        out, at = np.empty(count, np.bool_), 0
        while at < count:
            if self.left <= 0:
                self.second, self.left = not self.second, 20 + int(self.rng.exponential(self.stay))
            take = min(self.left, count - at)
            out[at : at + take] = self.second
            at, self.left = at + take, self.left - take
        return out


class Bent(Effect):
    """A signal whose level is raised to a power, whose phase turns faster, or which lost a part of Q."""

    def __init__(self, inner: Modulator, rng: np.random.Generator) -> None:
        self.inner = inner
        how = rng.integers(3)
        self.power = log_uniform(rng, 0.3, 3) if how == 0 else 1.0
        self.turn = int(rng.integers(2, 4)) if how == 1 else 1
        self.lost = rng.uniform(0.3, 1) if how == 2 else 0.0

    def make(self, count: int) -> Samples:
        """The next samples."""
        x = self.inner.make(count)
        level = np.abs(x) + np.float32(1e-6)
        x = level ** np.float32(self.power) * (x / level) ** self.turn
        return (x - np.float32(self.lost) * 1j * x.imag).astype(np.complex64)


class Filtered(Effect):
    """A signal behind a filter."""

    def __init__(self, inner: Modulator, taps: NDArray[np.complex128]) -> None:
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
        self.turns, self.left, self.frequency = 0.0, 0, 0.0

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
        turns = self.turns + np.cumsum(frequency)
        self.turns = float(turns[-1] % 1)
        return phasor(turns)


def make_stranger(known: Sequence[str], rng: np.random.Generator) -> Stranger:
    """A stranger with settings drawn for it, among these known classes."""
    kind = rng.choice(["sum", "product", "turns", "bent", "echo", "points", "tones", "hops", "noise"])
    if kind in ("sum", "product", "turns"):
        a, b = (str(name) for name in rng.choice(known, 2))
        return Stranger(Together(kind, make_modulator(a, rng), make_modulator(b, rng), rng), (a, b))
    if kind in ("bent", "echo"):
        name = str(rng.choice(known))
        inner = make_modulator(name, rng)
        return Stranger(Bent(inner, rng) if kind == "bent" else Filtered(inner, echo(rng)), (name,))
    if kind == "points":
        pulses = table("rrc", round(rng.uniform(0.2, 0.5), 2), 8)
        stagger = 0.5 if rng.random() < 0.2 else 0.0
        return Stranger(
            Linear(Even(points(rng), rng), pulses, log_uniform(rng, 2, 16), rng.uniform(0, 1), stagger)
        )
    if kind == "tones":
        levels = np.sort(rng.uniform(-1, 1, int(rng.integers(3, 9)))).astype(np.complex64)
        index = log_uniform(rng, 0.3, 4)
        slowest = max(2.0, (2 * index + 2) / 0.8)
        bt = round(rng.uniform(0.2, 0.8), 2) if rng.random() < 0.5 else np.inf
        rate = log_uniform(rng, slowest, max(16, slowest))
        return Stranger(
            ContinuousPhase(Even(levels, rng), index, table("phase", bt, 4), rate, rng.uniform(0, 1))
        )
    if kind == "hops":
        return Stranger(Hops(rng))
    return Stranger(Filtered(Pulses(rng), colour(rng)))


def points(rng: np.random.Generator) -> Samples:
    """A constellation that nobody uses: anywhere, on a line, or on two circles."""
    count = round(log_uniform(rng, 3, 64))
    where = rng.standard_normal(count) + 1j * rng.standard_normal(count)
    how = rng.integers(3)
    if how == 1:
        where = where.real + 0j
    if how == 2:
        where = where / np.abs(where) * rng.choice([1.0, rng.uniform(0.3, 1)], count)
    return np.asarray(where / np.sqrt(np.square(np.abs(where)).mean()), np.complex64)


def echo(rng: np.random.Generator) -> NDArray[np.complex128]:
    """The signal, and once more a while later."""
    taps = np.zeros(int(rng.integers(10, 60)), np.complex128)
    taps[0], taps[-1] = 1, rng.uniform(0.6, 1) * np.exp(2j * np.pi * rng.random())
    return taps


def colour(rng: np.random.Generator) -> NDArray[np.complex128]:
    """A random filter within a random band."""
    count = int(rng.integers(2, 30))
    taps = rng.standard_normal(count) + 1j * rng.standard_normal(count)
    taps *= np.exp(-np.arange(count) / count * rng.uniform(0, 4))
    return np.asarray(np.convolve(taps, firwin(65, log_uniform(rng, 0.05, 0.6))))


def unit(x: Samples) -> Samples:
    """At unit power."""
    return x / np.float32(np.sqrt(np.square(np.abs(x)).mean()) + 1e-9)
