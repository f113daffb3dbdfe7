"""The classes, their families, and how the settings of one emission are drawn.

    digital    2 to 16 samples per symbol, log-uniform, any timing
    analogue   5 to 60 % of the rate occupied

>>> FAMILIES["GMSK"], make_modulator("GMSK", np.random.default_rng(1)).make(3).dtype
('FSK', dtype('complex64'))
"""

from typing import Protocol

import numpy as np

from streaming.block import Samples
from streaming.errors import ConfigError
from streaming.prediction import NOISE as NOISE  # noqa: PLC0414  (it is one of the classes)
from training.signals.analog import (
    DoubleSideband,
    FrequencyModulation,
    Message,
    SingleSideband,
    Sound,
    Tones,
)
from training.signals.chirp import Chirp
from training.signals.constellation import constellation
from training.signals.digital import ContinuousPhase, Linear
from training.signals.ofdm import Ofdm
from training.signals.pulse import Table, table
from training.signals.symbols import Coded, Even, QuarterShifted, Symbols

FAMILIES = {
    **dict.fromkeys(("OOK", "4ASK", "4PAM"), "ASK"),
    **dict.fromkeys(("BPSK", "QPSK", "OQPSK", "pi/4-DQPSK", "8PSK"), "PSK"),
    **dict.fromkeys(("16QAM", "64QAM", "256QAM", "16APSK", "32APSK"), "QAM"),
    **dict.fromkeys(("2FSK", "4FSK", "MFSK", "GFSK", "MSK", "GMSK"), "FSK"),
    **dict.fromkeys(("AM-DSB", "AM-DSB-SC", "SSB"), "AM"),
    **dict.fromkeys(("NBFM", "WBFM"), "FM"),
    "OFDM": "OFDM",
    "chirp": "chirp",
    "carrier": "carrier",
    NOISE: NOISE,
}
CLASSES = tuple(FAMILIES)

# name -> range of the modulation index h, BT of the Gaussian (infinite: none)
KEYED: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "2FSK": ((0.7, 6.0), (np.inf, np.inf)),
    "4FSK": ((0.25, 1.2), (np.inf, np.inf)),
    "MFSK": ((0.25, 1.2), (np.inf, np.inf)),
    "GFSK": ((0.3, 1.0), (0.3, 0.8)),
    "MSK": ((0.5, 0.5), (np.inf, np.inf)),
    "GMSK": ((0.5, 0.5), (0.2, 0.5)),
}


class Modulator(Protocol):
    """An endless clean signal around zero frequency, near unit power."""

    @property
    def symbol_rate(self) -> float:
        """Symbols per sample; NaN where there are none."""
        ...

    @property
    def centre(self) -> float:
        """Of the occupied band, in cycles per sample: not 0 for a single sideband."""
        ...

    def make(self, count: int) -> Samples:
        """The next samples."""
        ...


class Constant:
    """A bare carrier, or nothing."""

    symbol_rate, centre = np.nan, 0.0

    def __init__(self, level: float) -> None:
        self.level = level

    def make(self, count: int) -> Samples:
        """The next samples."""
        return np.full(count, self.level, np.complex64)


def check_class(name: str) -> None:
    """Refuse a class that is not known."""
    if name not in FAMILIES:
        raise ConfigError(f"there is no class {name!r}; there are {', '.join(CLASSES)}")


def make_modulator(name: str, rng: np.random.Generator) -> Modulator:
    """A modulator with settings drawn for this class."""
    check_class(name)
    family = FAMILIES[name]
    if family in ("ASK", "PSK", "QAM"):
        return make_linear(name, rng)
    if family == "FSK":
        return make_keyed(name, rng)
    if family in ("AM", "FM"):
        return make_analog(name, rng)
    if family == "OFDM":
        carriers = 2 * int(rng.integers(26, 101))
        size = round(carriers / log_uniform(rng, 0.15, 0.8))
        prefix = size // int(rng.choice([4, 8, 16]))
        return Ofdm(carriers, size, prefix, constellation(str(rng.choice(["QPSK", "16QAM", "64QAM"]))), rng)
    if family == "chirp":
        return Chirp(int(rng.integers(6, 10)), log_uniform(rng, 0.1, 0.6), rng.uniform(0, 1), rng)
    return Constant(0.0 if name == NOISE else 1.0)


def make_linear(name: str, rng: np.random.Generator) -> Linear:
    """ASK, PSK, QAM and APSK."""
    symbols: Symbols
    pulses: Table = table("rrc", round(rng.uniform(0.2, 0.5), 2), 8)
    if name in ("OOK", "4ASK") and rng.random() < 0.8:  # switched hard, as cheap transmitters are
        pulses = table("rectangle", round(rng.uniform(0.05, 0.6), 2), 1)
    if name == "OOK":
        code = str(rng.choice(["nrz", "manchester", "width", "position"]))
        symbols = Coded(constellation(name), code, rng)
    elif name == "pi/4-DQPSK":
        symbols = QuarterShifted(rng)
    else:
        symbols = Even(constellation(name), rng)
    stagger = 0.5 if name == "OQPSK" else 0.0
    return Linear(symbols, pulses, log_uniform(rng, 2, 16), rng.uniform(0, 1), stagger)


def make_keyed(name: str, rng: np.random.Generator) -> ContinuousPhase:
    """FSK, MSK and their Gaussian forms."""
    indices, products = KEYED[name]
    index, bt = log_uniform(rng, *indices), products[0]
    if np.isfinite(bt):
        bt = round(rng.uniform(*products), 2)
    tones = {"4FSK": 4, "MFSK": 8}.get(name, 2)
    levels = np.arange(1.0 - tones, tones, 2).astype(np.complex64)
    slowest = max(2.0, (index * (len(levels) - 1) + 2) / 0.8)  # the tones must fit into the rate
    coded = name == "2FSK" and rng.random() < 0.4
    symbols: Symbols = Coded(levels, "manchester", rng) if coded else Even(levels, rng)
    return ContinuousPhase(
        symbols, index, table("phase", bt, 4), log_uniform(rng, slowest, 16), rng.uniform(0, 1)
    )


def make_analog(name: str, rng: np.random.Generator) -> Modulator:
    """AM, SSB and FM."""
    width = log_uniform(rng, 0.05, 0.6)
    index = {"NBFM": rng.uniform(0.3, 1.7), "WBFM": rng.uniform(2.0, 6.0)}.get(name, 0.0)
    top = width if name == "SSB" else width / (2 * (1 + index))  # Carson's rule
    top = min(top, 0.4)
    message: Message = Sound(top, rng)
    if rng.random() < 0.3:
        message = Tones(top, rng, fewest=2 if name == "SSB" else 1)
    if name == "SSB":
        return SingleSideband(message, top, bool(rng.integers(2)))
    if name in ("NBFM", "WBFM"):
        return FrequencyModulation(message, index * top)
    return DoubleSideband(message, rng.uniform(0.5, 1.0), carrier=name == "AM-DSB")


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Each octave as likely as any other."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))
