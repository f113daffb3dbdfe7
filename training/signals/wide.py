"""Emissions as wide as the air: a class by name, with settings of a standard, a device, or any that could be.

    y[n] = exp(2 pi j (offset n + drift n^2 + pulled[n] + walk[n])) wave[n]

The truth comes along: edges of the band that holds 99 % of the power (ITU-R SM.328), symbol rate, bursts.

>>> one = draw("GMSK", np.random.default_rng(1), samples=8192)
>>> one.family, one.samples.dtype, one.lower_hz < one.offset_hz < one.upper_hz
('FSK', dtype('complex64'), True)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import fft

from streaming.block import Samples
from training.signals.classes import FAMILIES, NOISE, check_class, log_uniform
from training.signals.emitters.analog import draw_analog
from training.signals.emitters.carrier import NOTHING, Carrier, draw_carrier
from training.signals.emitters.chirp import draw_chirp
from training.signals.emitters.emitter import Emitter, Floats, Spans
from training.signals.emitters.fsk import draw_fsk
from training.signals.emitters.linear import LINKS, draw_linear
from training.signals.emitters.ofdm import draw_ofdm
from training.signals.emitters.ook import draw_ook
from training.signals.phasor import phasor

# Of sound cards, network receivers, RTL-SDR, Airspy, HackRF, LimeSDR, USRP and Pluto.
# fmt: off
RATES_HZ = 1e3 * np.array([
    9.6, 11.025, 12, 16, 22.05, 24, 32, 44.1, 48, 50, 62.5, 78.125, 96, 100, 125, 192, 200, 240, 250, 256,
    288, 384, 500, 512, 768, 960, 1000, 1024, 1200, 1400, 1800, 1920, 2000, 2048, 2400, 2560, 2880, 3000,
    3200, 3840, 4000, 5000, 6000, 7680, 8000, 10_000, 12_000, 15_360, 16_000, 20_000,
])
# fmt: on
DRAWN_BY: dict[str, Callable[[np.random.Generator], Emitter]] = {
    "OOK": draw_ook,
    "OFDM": draw_ofdm,
    "chirp": draw_chirp,
    "carrier": draw_carrier,
}
FEWEST = 32  # symbols of an excerpt, where the rate can be chosen


@dataclass(frozen=True)
class Emitted:
    """What a transmitter sent, as an ideal receiver of `rate_hz` sees it; its power within bursts is 1."""

    samples: Samples
    name: str
    family: str
    rate_hz: float
    offset_hz: float  # of the carrier
    lower_hz: float  # edges of the occupied band
    upper_hz: float
    symbol_rate_hz: float  # NaN where there are no symbols
    bursts: Spans
    settings: str


def draw(
    name: str,
    rng: np.random.Generator,
    rate_hz: float | None = None,
    samples: int = 32_768,
    offset_hz: float | None = None,
) -> Emitted:
    """An emission of this class; a rate or an offset that is not given is drawn, too."""
    check_class(name)
    emitter = draw_emitter(name, rng)
    own_hz = draw_rate(rng, emitter, samples)
    speed = 1.0  # all of the transmitter's frequencies over those of its standard
    if rate_hz is None:
        rate_hz = own_hz
    elif not fits(emitter, rate_hz, samples):
        speed = rate_hz / own_hz
    wave = emitter.make(rng, rate_hz / speed, samples)
    if offset_hz is None:
        offset_hz = draw_offset(rng, emitter.width_hz * speed, rate_hz)
    x = wave.samples
    on = sum(end - begin for begin, end in wave.bursts)
    power = float(np.vdot(x, x).real) / max(on, 1)
    x = x * (
        oscillator(rng, offset_hz, emitter.width_hz * speed, rate_hz, samples, wave.bursts)
        / np.float32(np.sqrt(power + 1e-20))
    )
    lower, upper = occupied(x)
    if name == NOISE:
        lower = upper = offset_hz = 0.0
    return Emitted(
        x,
        name,
        FAMILIES[name],
        rate_hz,
        offset_hz,
        lower * rate_hz,
        upper * rate_hz,
        emitter.symbol_rate_hz * speed,
        wave.bursts,
        emitter.settings + (f", {speed:.3g} times as fast" if speed != 1 else ""),
    )


def draw_emitter(name: str, rng: np.random.Generator) -> Emitter:
    """A transmitter of this class."""
    family = FAMILIES[name]
    if family in ("AM", "FM"):
        return draw_analog(name, rng)
    if family == "FSK":
        return draw_fsk(name, rng)
    if name in LINKS:
        return draw_linear(name, rng)
    if name == NOISE:
        return NOTHING
    return DRAWN_BY[name](rng)


def draw_rate(rng: np.random.Generator, emitter: Emitter, samples: int) -> float:
    """A receiver's rate: 1.2 to 20 widths, up to 250 for on-off keying, less than one for wide OFDM."""
    if isinstance(emitter, Carrier):
        return float(rng.choice(RATES_HZ))
    most = {"OOK": 250.0, "OFDM": 6.0}.get(class_kind(emitter), 20.0)
    least = 1.2
    if class_kind(emitter) == "OFDM" and emitter.width_hz > 1e6 and rng.random() < 0.4:
        least, most = 0.08, 1.0
    rate_hz = emitter.width_hz * log_uniform(rng, least, most)
    if np.isfinite(emitter.symbol_rate_hz):
        rate_hz = max(min(rate_hz, samples * emitter.symbol_rate_hz / FEWEST), least * emitter.width_hz)
    rate_hz = float(np.clip(rate_hz, RATES_HZ[0], RATES_HZ[-1]))
    nearest = float(RATES_HZ[np.argmin(np.abs(np.log(RATES_HZ / rate_hz)))])
    return nearest if rng.random() < 0.7 and nearest > least * emitter.width_hz else rate_hz


def class_kind(emitter: Emitter) -> str:
    """ "OOK" and "OFDM" are received at other rates than the rest."""
    return {"Ook": "OOK", "Ofdm": "OFDM"}.get(type(emitter).__name__, "")


def fits(emitter: Emitter, rate_hz: float, samples: int) -> bool:
    """Whether a receiver of this rate sees the emission whole, and enough of its symbols."""
    enough = not samples * emitter.symbol_rate_hz < FEWEST * rate_hz
    return enough and 1e-3 * rate_hz < emitter.width_hz < 0.85 * rate_hz


def draw_offset(rng: np.random.Generator, width_hz: float, rate_hz: float) -> float:
    """Near the centre in half of the cases, otherwise anywhere that leaves the band inside."""
    room = max(0.0, 0.47 * rate_hz - width_hz / 2)
    if rng.random() < 0.5:
        room = min(room, 0.1 * width_hz)
    return float(rng.uniform(-room, room))


def oscillator(
    rng: np.random.Generator, offset_hz: float, width_hz: float, rate_hz: float, samples: int, bursts: Spans
) -> Samples:
    """The carrier: offset, slow drift, a pull at the begin of each burst, phase noise."""
    frequency: Floats = np.full(samples, offset_hz / rate_hz)
    width = width_hz / rate_hz
    if rng.random() < 0.3:
        frequency += np.linspace(0, rng.uniform(-0.05, 0.05) * width, samples)
    if rng.random() < 0.25 and bursts:
        pull, decay = rng.uniform(-0.1, 0.1) * width, log_uniform(rng, 50, 5000)
        for begin, end in bursts:
            length = min(end - begin, int(8 * decay))
            frequency[begin : begin + length] += pull * np.exp(np.arange(length) / -decay)
    if rng.random() < 0.6:  # a random walk of the phase, in steps of 32 samples
        linewidth = width * log_uniform(rng, 1e-6, 1e-3)
        walk = rng.standard_normal(-(-samples // 32)) * np.sqrt(linewidth / (2 * np.pi * 32))
        frequency += np.repeat(walk, 32)[:samples]
    return phasor(np.cumsum(frequency) + rng.random())


def occupied(x: Samples, share: float = 0.99) -> tuple[float, float]:
    """Edges of the band that holds this share of the power, in cycles per sample; at full resolution."""
    spectrum = fft.fftshift(fft.fft(x))
    below = np.cumsum(spectrum.real**2 + spectrum.imag**2, dtype=np.float64)
    edges = np.searchsorted(below, below[-1] * np.array([(1 - share) / 2, (1 + share) / 2]))
    lower, upper = edges / len(x) - 0.5
    return float(lower), float(upper)
