"""Emissions as wide as the air: a class by name, with settings of a standard, a device, or any that could be.

    y[n] = exp(2 pi j sum_n (offset + drift[n] + pull[n] + hum[n] + noise[n])) wave[n]

The truth comes along: edges of the band that holds 99 % of the power (ITU-R SM.328; of AM without its
carrier), symbol rate, bursts.

>>> one = draw("GMSK", np.random.default_rng(1), samples=8192)
>>> one.family, one.samples.dtype, one.lower_hz < one.offset_hz < one.upper_hz
('FSK', dtype('complex64'), True)
"""

from dataclasses import dataclass, replace

import numpy as np

from streaming.block import Samples
from streaming.errors import ConfigError
from training.signals.classes import FAMILIES, check_class, log_uniform
from training.signals.emitters import draw_emitter
from training.signals.emitters.emitter import Emitter, Floats, Spans
from training.signals.emitters.waves import occupied
from training.signals.phasor import phasor

# Of sound cards, network receivers, RTL-SDR, Airspy, HackRF, LimeSDR, USRP and Pluto.
# fmt: off
RATES_HZ = 1e3 * np.array([
    9.6, 11.025, 12, 16, 22.05, 24, 32, 44.1, 48, 50, 62.5, 78.125, 96, 100, 125, 192, 200, 240, 250, 256,
    288, 384, 500, 512, 768, 960, 1000, 1024, 1200, 1400, 1800, 1920, 2000, 2048, 2400, 2560, 2880, 3000,
    3200, 3840, 4000, 5000, 6000, 7680, 8000, 10_000, 12_000, 15_360, 16_000, 20_000,
])
# fmt: on
SHORTEST = 1024  # samples of an excerpt
FEWEST = 32  # symbols of an excerpt, or inverse widths where there are none, where the rate can be chosen


@dataclass(frozen=True)
class Emitted:
    """What a transmitter sent, as an ideal receiver of `rate_hz` sees it; its power within bursts is 1."""

    samples: Samples
    name: str
    family: str
    rate_hz: float
    offset_hz: float  # of the carrier, or of the middle of a single sideband
    lower_hz: float  # edges of the occupied band
    upper_hz: float
    symbol_rate_hz: float  # NaN where there are no symbols
    bursts: Spans  # begin and end in samples
    settings: str

    def moved(self, by_hz: float) -> "Emitted":
        """At another frequency."""
        turned = self.samples * phasor(by_hz / self.rate_hz * np.arange(float(len(self.samples))))
        places = (x + by_hz for x in (self.offset_hz, self.lower_hz, self.upper_hz))
        offset_hz, lower_hz, upper_hz = places
        return replace(self, samples=turned, offset_hz=offset_hz, lower_hz=lower_hz, upper_hz=upper_hz)


def draw(
    name: str,
    rng: np.random.Generator,
    rate_hz: float | None = None,
    samples: int = 32_768,
    offset_hz: float | None = None,
) -> Emitted:
    """An emission of this class; a rate or an offset that is not given is drawn, too.

    Where the transmitter would not suit a given rate, all its frequencies are scaled so that it does.
    """
    check_class(name)
    if samples < SHORTEST or (rate_hz is not None and not 0 < rate_hz < np.inf):
        raise ConfigError(
            f"samples is {samples}, rate_hz {rate_hz}; expected at least {SHORTEST} and a positive rate"
        )
    emitter = draw_emitter(name, rng)
    own_hz = draw_rate(rng, emitter, samples)
    rate_hz = rate_hz or own_hz
    speed = 1.0 if fits(emitter, rate_hz, samples) else rate_hz / own_hz
    wave = emitter.make(rng, rate_hz / speed, samples)
    width = emitter.width_hz * speed / rate_hz
    if offset_hz is None:
        offset_hz = draw_offset(rng, width) * rate_hz
    on = sum(end - begin for begin, end in wave.bursts)
    level = np.sqrt(np.vdot(wave.samples, wave.samples).real / max(on, 1)) + 1e-12
    x = wave.samples * (oscillator(rng, offset_hz / rate_hz, width, samples, wave.bursts) / np.float32(level))
    lower, upper = (edge * rate_hz + offset_hz for edge in wave.edges or (0, 0))
    if wave.edges is None:
        lower, upper = (edge * rate_hz for edge in occupied(x))
    return Emitted(
        samples=x,
        name=name,
        family=FAMILIES[name],
        rate_hz=rate_hz,
        offset_hz=offset_hz,
        lower_hz=lower,
        upper_hz=upper,
        symbol_rate_hz=emitter.symbol_rate_hz * speed,
        bursts=wave.bursts,
        settings=emitter.settings + (f"; {speed:.3g} times as fast" if speed != 1 else ""),
    )


def draw_rate(rng: np.random.Generator, emitter: Emitter, samples: int) -> float:
    """A receiver's rate: one of its steps mostly, wide enough, and with enough symbols where it can be."""
    least, most = emitter.oversampling
    rate_hz = emitter.width_hz * log_uniform(rng, least, most)
    clock_hz = emitter.width_hz if np.isnan(emitter.symbol_rate_hz) else emitter.symbol_rate_hz
    rate_hz = max(min(rate_hz, samples * clock_hz / FEWEST), least * emitter.width_hz)
    rate_hz = float(np.clip(rate_hz, RATES_HZ[0], RATES_HZ[-1]))
    nearest = float(RATES_HZ[np.argmin(np.abs(np.log(RATES_HZ / rate_hz)))])
    return nearest if rng.random() < 0.7 and nearest > least * emitter.width_hz else rate_hz


def fits(emitter: Emitter, rate_hz: float, samples: int) -> bool:
    """Whether a receiver of this rate sees the emission as receivers do, and enough of its symbols."""
    least, most = emitter.oversampling
    few = samples * emitter.symbol_rate_hz < FEWEST * rate_hz and rate_hz > least * emitter.width_hz
    return not few and least < rate_hz / emitter.width_hz < max(most, 500.0)


def draw_offset(rng: np.random.Generator, width: float) -> float:
    """Near the centre in half of the cases, otherwise anywhere that leaves the band inside."""
    room = max(0.0, 0.47 - width / 2)
    if rng.random() < 0.5:
        room = min(room, 0.1 * width)
    return float(rng.uniform(-room, room))


def oscillator(rng: np.random.Generator, offset: float, width: float, samples: int, bursts: Spans) -> Samples:
    """The carrier: its offset, a slow drift, a pull at the begin of each burst, hum, phase noise."""
    frequency: Floats = np.full(samples, offset)
    if rng.random() < 0.3:
        frequency += np.linspace(0, rng.uniform(-0.05, 0.05) * width, samples)
    if rng.random() < 0.25:
        pull, decay = rng.uniform(-0.1, 0.1) * width, log_uniform(rng, 50, 5000)
        for begin, end in bursts:
            length = min(end - begin, int(8 * decay))
            frequency[begin : begin + length] += pull * np.exp(np.arange(length) / -decay)
    if rng.random() < 0.1:
        cycles = log_uniform(rng, 0.5, 50)
        hum = np.sin(2 * np.pi * (cycles / samples * np.arange(samples) + rng.random()))
        frequency += rng.uniform(0, 0.02) * width * hum
    if rng.random() < 0.6:  # a random walk of the phase, in steps of 32 samples
        linewidth = width * log_uniform(rng, 1e-6, 1e-3)
        walk = rng.standard_normal(-(-samples // 32)) * np.sqrt(linewidth / (2 * np.pi * 32))
        frequency += np.repeat(walk, 32)[:samples]
    return phasor(np.cumsum(frequency) + rng.random())
