"""Signals of no class: what a head is shown so that it learns where its classes end.

Known classes mixed, bent or echoed, constellations and tone sets that nobody uses, hopping tones, coloured
noise. None is a modulation of anything that the head must tell; together they fill what lies around and
between its classes. Where a family plays the unheard one, its kin are left out, too: strangers that are made
of it, and those that are like it.

>>> stranger = make_stranger(("QPSK", "GMSK"), np.random.default_rng(1))
>>> sorted(stranger.of), stranger.make(3).dtype
(['FSK'], dtype('complex64'))
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.signal import firwin, lfilter

from streaming.block import Samples
from training.signals.classes import FAMILIES, Modulator, log_uniform, make_modulator
from training.signals.digital import ContinuousPhase, Linear
from training.signals.phasor import phasor
from training.signals.pulse import table
from training.signals.symbols import Even

KINDS = ("sum", "product", "turns", "graft", "bent", "echo", "points", "tones", "hops", "noise")
LINEAR = {"ASK", "PSK", "QAM"}  # families that any constellation is like
CARRIER = "carrier"
FLAT = ("OOK", "4ASK", "AM-DSB", CARRIER)  # classes whose phase says nothing
STIFF = ("OOK", "BPSK", CARRIER)  # classes that are still themselves when they are bent
Mask = NDArray[np.bool_]
Bend = Literal["level", "shrink", "grow", "loss"]
BENDS: dict[str, tuple[Bend, ...]] = {  # what makes a stranger of a family
    **dict.fromkeys(("ASK", "AM"), ("level",)),
    **dict.fromkeys(("FSK", "FM", "chirp"), ("shrink", "loss")),
    "PSK": ("shrink", "grow", "loss"),
    **dict.fromkeys(("QAM", "OFDM"), ("level", "shrink", "grow", "loss")),
}


class Stranger:
    """A modulator, the families that it is made of, and those that it is only like."""

    symbol_rate, centre = np.nan, 0.0

    def __init__(self, inner: Modulator, of: Iterable[str] = (), like: Iterable[str] = ()) -> None:
        self.inner, self.of, self.like = inner, frozenset(of), frozenset(like) - frozenset(of)

    def make(self, count: int) -> Samples:
        """The next samples."""
        return self.inner.make(count)


class Effect:
    """What is made of other signals."""

    symbol_rate, centre = np.nan, 0.0


class Sum(Effect):
    """Signals at different levels and frequencies."""

    def __init__(self, inner: Sequence[Modulator], rng: np.random.Generator) -> None:
        self.inner, self.made = inner, 0
        self.levels = rng.uniform(0.5, 1, len(inner)).astype(np.float32)
        self.places = rng.uniform(-0.15, 0.15, len(inner))

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


class Turns(Effect):
    """Two signals in turn."""

    def __init__(self, inner: Sequence[Modulator], rng: np.random.Generator) -> None:
        self.inner, self.rng = inner, rng
        self.stay, self.left, self.second = log_uniform(rng, 30, 500), 0, False

    def make(self, count: int) -> Samples:
        """The next samples."""
        first, second = (unit(x.make(count)) for x in self.inner)
        return np.where(self.turns(count), second, first)

    def turns(self, count: int) -> Mask:
        """Where it is the second's turn."""
        out, at = np.empty(count, np.bool_), 0
        while at < count:
            if self.left <= 0:
                self.second, self.left = not self.second, 20 + int(self.rng.exponential(self.stay))
            take = min(self.left, count - at)
            out[at : at + take] = self.second
            at, self.left = at + take, self.left - take
        return out


class Bent(Effect):
    """A signal whose level is raised to a power, whose phase turns less or more, or that lost part of Q."""

    def __init__(self, inner: Modulator, how: Bend, rng: np.random.Generator) -> None:
        self.inner, self.power, self.turn, self.lost = inner, 1.0, 1.0, 0.0
        if how == "level":
            self.power = log_uniform(rng, 1.6, 4) ** rng.choice([-1, 1])
        elif how == "shrink":
            self.turn = rng.uniform(0.2, 0.8)
        elif how == "grow":
            self.turn = float(rng.integers(2, 4))
        else:
            self.lost = rng.uniform(0.3, 1)

    def make(self, count: int) -> Samples:
        """The next samples."""
        x = self.inner.make(count)
        level = np.abs(x) ** np.float32(self.power)
        turned = level * np.exp(1j * np.float32(self.turn) * np.angle(x))
        return (turned - np.float32(self.lost) * 1j * turned.imag).astype(np.complex64)


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
    kind = str(rng.choice(KINDS))
    if kind in ("points", "tones", "hops", "noise"):
        return invented(kind, rng)
    names = parts_for(kind, known, rng)
    families = {FAMILIES[name] for name in names}
    parts = [make_modulator(name, rng) for name in names]
    effect: Modulator
    if kind == "sum":
        effect = Sum(parts, rng)
    elif kind == "product":
        effect = Product(parts)
    elif kind == "turns":
        effect = Turns(parts, rng)
    elif kind == "graft":
        effect = Graft(parts)
    elif kind == "echo":
        effect = Filtered(parts[0], echo(rng))
    else:
        bends = BENDS[FAMILIES[names[0]]]
        effect = Bent(parts[0], bends[rng.integers(len(bends))], rng)
        return Stranger(effect, families, like=LINEAR if families <= LINEAR else ())
    return Stranger(effect, families)


def parts_for(kind: str, known: Sequence[str], rng: np.random.Generator) -> list[str]:
    """The classes that a stranger of this kind is made of: none that it would still be."""
    if kind in ("bent", "echo"):
        return [str(rng.choice([name for name in known if name not in STIFF]))]
    if kind == "graft":
        level = str(rng.choice(known))
        any_phase = FAMILIES[level] in ("PSK", "QAM", "OFDM")  # with others a flat one is no stranger
        phases = [name for name in known if name != level and (any_phase or name not in FLAT)]
        return [level, str(rng.choice(phases))]
    names = [name for name in known if kind != "product" or name != CARRIER]
    count = min(int(rng.integers(2, 6)), len(names)) if kind == "sum" else 2
    return [str(name) for name in rng.choice(names, count, replace=False)]


def invented(kind: str, rng: np.random.Generator) -> Stranger:
    """A stranger that is made of no class."""
    if kind == "points":
        pulses = table("rrc", round(rng.uniform(0.2, 0.5), 2), 8)
        stagger = 0.5 if rng.random() < 0.2 else 0.0
        symbols = Even(points(rng), rng)
        return Stranger(
            Linear(symbols, pulses, log_uniform(rng, 2, 16), rng.uniform(0, 1), stagger), like=LINEAR
        )
    if kind == "tones":
        levels = np.sort(rng.uniform(-1, 1, int(rng.integers(3, 9)))).astype(np.complex64)
        index = log_uniform(rng, 0.3, 4)
        slowest = max(2.0, (2 * index + 2) / 0.8)
        bt = round(rng.uniform(0.2, 0.8), 2) if rng.random() < 0.5 else np.inf
        rate = log_uniform(rng, slowest, max(16, slowest))
        keyed = ContinuousPhase(Even(levels, rng), index, table("phase", bt, 4), rate, rng.uniform(0, 1))
        return Stranger(keyed, like={"FSK", "FM"})
    if kind == "hops":
        return Stranger(Hops(rng), like={"FSK", "FM", "chirp"})
    return Stranger(Filtered(Pulses(rng), colour(rng)), like={"OFDM"})


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
