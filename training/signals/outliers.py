"""Synthetic outliers: signals of no class, which the open-set detector is fitted against.

Known classes mixed, distorted, echoed, pulsed, repeated or side by side, constellations and tone sets that
are not in use, hopping tones, ringing impulses, coloured noise. None of them is a class of the head; together
they fill the space around and between its classes. Where a family is left out as the unseen one, outliers
that are made of it and those that resemble it are left out, too.

>>> outlier = make_outlier(("QPSK", "GMSK"), np.random.default_rng(1))
>>> sorted(outlier.of), outlier.make(3).dtype
(['FSK'], dtype('complex64'))
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy.signal import firwin

from streaming.block import Samples
from training.signals.classes import FAMILIES, Constant, Modulator, log_uniform, make_modulator
from training.signals.constellation import AXIS, PSK, QAM, RINGS, constellation
from training.signals.digital import ContinuousPhase, Linear
from training.signals.effects import (
    Alternation,
    Bend,
    Bent,
    Filtered,
    Gated,
    Graft,
    Hops,
    Impulses,
    Loop,
    Product,
    Pulses,
    Remembered,
    Sum,
    Taps,
)
from training.signals.phasor import phasor
from training.signals.pulse import table
from training.signals.symbols import Even, Symbols

POINTS = {*PSK, *QAM, *RINGS, *AXIS}  # classes that are a constellation
LINEAR = {"ASK", "PSK", "QAM"}  # families that any constellation resembles
CARRIER = "carrier"
FLAT = ("OOK", "4ASK", "AM-DSB", CARRIER)  # classes whose phase carries nothing
STIFF = ("OOK", "BPSK", CARRIER)  # classes that a distortion does not change
LIVELY = {"ASK", "QAM", "AM", "OFDM"}  # families whose envelope differs when they carry noise
BENDS: dict[str, tuple[Bend, ...]] = {  # family -> distortions that make an outlier of it
    **dict.fromkeys(("ASK", "AM"), ("level",)),
    **dict.fromkeys(("FSK", "FM", "chirp"), ("shrink", "loss")),
    "PSK": ("shrink", "grow", "loss"),
    **dict.fromkeys(("QAM", "OFDM"), ("level", "shrink", "grow", "loss")),
}


class Outlier:
    """A modulator, the families that it is made of, and those that it only resembles."""

    symbol_rate, centre = np.nan, 0.0

    def __init__(self, inner: Modulator, of: Iterable[str] = (), like: Iterable[str] = ()) -> None:
        self.inner, self.of, self.like = inner, frozenset(of), frozenset(like) - frozenset(of)

    def make(self, count: int) -> Samples:
        """The next samples."""
        return self.inner.make(count)


def make_outlier(known: Sequence[str], rng: np.random.Generator) -> Outlier:
    """An outlier of random kind and settings, made of these known classes."""
    kind = str(rng.choice(KINDS))
    fits = FITS.get(kind)
    if fits is None:  # made of no class
        names = []
    elif not (names := parts_for(kind, [name for name in known if fits(name)], rng)):
        return make_outlier(known, rng)
    families = {FAMILIES[name] for name in names}
    like = LIKE.get(kind, set[str]())
    if kind == "bent" and families <= LINEAR:
        like = LINEAR
    return Outlier(MAKERS[kind](names, rng), families, like)


def parts_for(kind: str, fitting: Sequence[str], rng: np.random.Generator) -> list[str]:
    """The classes that an outlier of this kind is made of, without those that it would still belong to."""
    if kind == "graft" and fitting:
        level = str(rng.choice(fitting))
        any_phase = FAMILIES[level] in ("PSK", "QAM", "OFDM")  # with others a flat one is not an outlier
        phases = [name for name in fitting if name != level and (any_phase or name not in FLAT)]
        return [level, str(rng.choice(phases))]
    count = {"sum": int(rng.integers(2, 6)), "product": 2, "alternation": 2}.get(kind, 1)
    twice = kind == "sum"  # a class may be there more than once
    return [str(name) for name in rng.choice(fitting, count, replace=twice)] if fitting else []


def modulators(names: Sequence[str], rng: np.random.Generator) -> list[Modulator]:
    """One of each class, with settings drawn for it."""
    return [make_modulator(name, rng) for name in names]


def bent(names: Sequence[str], rng: np.random.Generator) -> Bent:
    """A signal distorted in one of the ways that make an outlier of it."""
    bends = BENDS[FAMILIES[names[0]]]
    return Bent(make_modulator(names[0], rng), bends[rng.integers(len(bends))], rng)


def multiplex(names: Sequence[str], rng: np.random.Generator) -> Sum:
    """Many narrow signals of one class side by side, or a comb of tones."""
    count, width = int(rng.integers(3, 17)), log_uniform(rng, 0.1, 0.6)
    parts: list[Modulator] = [Constant(1.0) for _ in range(count)]
    if names[0] != CARRIER:
        slow = count / width * log_uniform(rng, 1.0, 2.0)
        parts = [linear(Even(constellation(names[0]), rng), rng, slow) for _ in range(count)]
    return Sum(parts, rng, width)


def memory(names: Sequence[str], rng: np.random.Generator) -> Linear:
    """A constellation whose symbols hold a part of those before."""
    return linear(Remembered(Even(constellation(names[0]), rng), rng), rng)


def linear(symbols: Symbols, rng: np.random.Generator, samples_per_symbol: float = 0.0) -> Linear:
    """Shaped symbols, sometimes staggered."""
    pulses = table("rrc", round(rng.uniform(0.2, 0.5), 2), 8)
    stagger = 0.5 if rng.random() < 0.2 else 0.0
    rate = samples_per_symbol or log_uniform(rng, 2, 16)
    return Linear(symbols, pulses, rate, rng.uniform(0, 1), stagger)


def tones(rng: np.random.Generator) -> ContinuousPhase:
    """A tone set that is not in use."""
    levels = np.sort(rng.uniform(-1, 1, int(rng.integers(3, 9)))).astype(np.complex64)
    index = log_uniform(rng, 0.3, 4)
    slowest = max(2.0, (2 * index + 2) / 0.8)
    bt = round(rng.uniform(0.2, 0.8), 2) if rng.random() < 0.5 else np.inf
    rate = log_uniform(rng, slowest, max(16, slowest))
    return ContinuousPhase(Even(levels, rng), index, table("phase", bt, 4), rate, rng.uniform(0, 1))


def noise(rng: np.random.Generator) -> Filtered:
    """Noise of some colour, switched or always on."""
    return Filtered(Pulses(rng), colour(rng))


def points(rng: np.random.Generator) -> Samples:
    """A constellation that is not in use: anywhere, on a line, or on two circles."""
    count = round(log_uniform(rng, 3, 64))
    where = rng.standard_normal(count) + 1j * rng.standard_normal(count)
    how = rng.integers(3)
    if how == 1:
        where = where.real + 0j
    if how == 2:
        where = where / np.abs(where) * rng.choice([1.0, rng.uniform(0.3, 1)], count)
    return np.asarray(where / np.sqrt(np.square(np.abs(where)).mean()), np.complex64)


def rings(rng: np.random.Generator) -> Taps:
    """One or two waves that rise, and fade away."""
    times = np.arange(float(rng.integers(8, 64)))
    taps = np.zeros(len(times), np.complex128)
    for _ in range(int(rng.integers(1, 3))):
        place, fade = rng.uniform(-0.2, 0.2), log_uniform(rng, 1, 12)
        taps += times ** rng.integers(3) * np.exp(-times / fade) * phasor(place * times)
    return taps


def echo(rng: np.random.Generator) -> Taps:
    """The signal, and once more a while later."""
    taps = np.zeros(int(rng.integers(10, 60)), np.complex128)
    taps[0], taps[-1] = 1, rng.uniform(0.6, 1) * np.exp(2j * np.pi * rng.random())
    return taps


def colour(rng: np.random.Generator) -> Taps:
    """A random filter within a random band."""
    count = int(rng.integers(2, 30))
    taps = rng.standard_normal(count) + 1j * rng.standard_normal(count)
    taps *= np.exp(-np.arange(count) / count * rng.uniform(0, 4))
    return np.asarray(np.convolve(taps, firwin(65, log_uniform(rng, 0.05, 0.6))))


# kind -> what makes it, from the names of classes
MAKERS: dict[str, Callable[[Sequence[str], np.random.Generator], Modulator]] = {
    "sum": lambda names, rng: Sum(modulators(names, rng), rng),
    "product": lambda names, rng: Product(modulators(names, rng)),
    "alternation": lambda names, rng: Alternation(modulators(names, rng), rng),
    "graft": lambda names, rng: Graft(modulators(names, rng)),
    "bent": bent,
    "echo": lambda names, rng: Filtered(make_modulator(names[0], rng), echo(rng)),
    "gated": lambda names, rng: Gated(make_modulator(names[0], rng), rng),
    "loop": lambda names, rng: Loop(make_modulator(names[0], rng), rng),
    "noisy": lambda names, rng: Product([make_modulator(names[0], rng), noise(rng)]),
    "multiplex": multiplex,
    "memory": memory,
    "points": lambda _, rng: linear(Even(points(rng), rng), rng),
    "tones": lambda _, rng: tones(rng),
    "hops": lambda _, rng: Hops(rng),
    "noise": lambda _, rng: noise(rng),
    "ringing": lambda _, rng: Filtered(Impulses(rng), rings(rng)),
}
KINDS = tuple(MAKERS)
# kind -> families that it is like though it is not made of them
LIKE: dict[str, set[str]] = {
    "gated": {"ASK"},
    "noisy": {"OFDM"},
    "multiplex": {"OFDM"},
    "memory": LINEAR,
    "points": LINEAR,
    "tones": {"FSK", "FM"},
    "hops": {"FSK", "FM", "chirp"},
    "noise": {"OFDM"},
    "ringing": {"ASK"},
}
# kind -> whether it may be made of a class; others are made of none
FITS: dict[str, Callable[[str], bool]] = {
    **dict.fromkeys(("sum", "alternation", "graft"), lambda name: True),
    **dict.fromkeys(("bent", "echo", "loop"), lambda name: name not in STIFF),
    "product": lambda name: name != CARRIER,
    "gated": lambda name: FAMILIES[name] != "ASK" and name != CARRIER,
    "noisy": lambda name: FAMILIES[name] in LIVELY,
    "multiplex": lambda name: name in POINTS or name == CARRIER,
    "memory": lambda name: name in POINTS and name != "OOK",
}
