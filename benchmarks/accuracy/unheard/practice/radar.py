"""Radars and radio navigation: coded pulses and continuous waves."""

import numpy as np
from numpy.random import Generator

from benchmarks.accuracy.unheard.practice.waves import (
    TAU,
    Signal,
    band,
    burst,
    phasor,
    raster,
    shape,
    slots,
    unit,
)


def barker(rng: Generator, count: int) -> Signal:
    """Barker-coded pulse train: pulse-compression radar, coherent or with magnetron phases."""
    code = np.array(list(rng.choice(["+++-+", "+++--+-", "+++---+--+-", "+++++--++-+-+"])))
    chip = rng.uniform(3, 10)
    period = max(len(code) + 2, round(burst(rng, len(code) * chip) / chip))
    chips = slots(count, chip)
    pulses = np.resize(np.pad(np.where(code == "+", 1.0, -1.0), (0, period - len(code))), chips)
    phases = rng.integers(2) * np.repeat(rng.random(chips // period + 1), period)[:chips]
    return unit(band(shape(pulses * phasor(phases), count, np.sinc), min(0.55, 4 / chip)))


def costas(rng: Generator, count: int) -> Signal:
    """Pulses of tones hopped in a Welch-Costas order: low-probability-of-intercept radar and sonar."""
    prime, base = [(7, 3), (7, 5), (11, 2), (11, 6), (11, 7), (11, 8)][rng.integers(6)]
    order = np.array([pow(base, i, prime) for i in range(1, prime)])
    tone = (prime - 1) / rng.uniform(0.25, 0.5)
    length = tone * len(order)
    pulse, place = np.divmod(np.arange(count), burst(rng, length, 0.4))
    hop = order[np.minimum(place / tone, len(order) - 1).astype(int)] - prime / 2
    phases = rng.integers(2) * rng.random(int(pulse[-1]) + 1)
    return unit(band((place < length) * phasor(hop * place / tone + phases[pulse.astype(int)]), 0.56))


def polytime(rng: Generator, count: int) -> Signal:
    """T2 polytime code, continuous wave: phase states held for unequal times, LPI radar."""
    states, segments = int(rng.integers(2, 4)), int(rng.integers(4, 7))
    period = segments**2 / rng.uniform(0.12, 0.35)
    place = np.arange(0, count, 0.25) / period % 1 * segments
    segment = np.floor(place)
    phase = np.floor((place - segment) * (2 * segment - segments + 1) * states / 2) / states
    return unit(band(phasor(phase).reshape(count, 4).mean(1), 0.56))


def mcpc(rng: Generator, count: int) -> Signal:
    """Multicarrier phase-coded radar pulse (Levanon): one shifted P4 code on each of a few carriers."""
    order = int(rng.integers(4, 8))
    chip = (order + 1) / rng.uniform(0.25, 0.5)
    code = np.arange(order) ** 2 / (2 * order) - np.arange(order) / 2
    place = np.arange(count) % burst(rng, order * chip)
    index = np.minimum(place / chip, order - 1).astype(int)
    carriers = zip(raster(order, 1), rng.permutation(order), strict=True)
    waves = [phasor(k * place / chip + np.roll(code, s)[index]) for k, s in carriers]
    return unit(band(np.sum(waves, 0) * (place < order * chip), 0.56))


def loran(rng: Generator, count: int) -> Signal:
    """Loran-C chain: groups of eight phase-coded t^2 exp(-t) pulses from a master and its secondaries."""
    codes = ["++--+-+-0+", "+++++--+", "+--+++++0+", "+-+-++--"]
    stations = int(rng.integers(2, 5))
    gains = rng.uniform(0.5, 1, stations) * phasor(rng.random(stations))
    pads = rng.integers(1, 3, stations)
    chain = [
        gain * "-0+".index(c) - gain
        for half in (0, 2)
        for k, (gain, pad) in enumerate(zip(gains, pads, strict=True))
        for c in codes[half + (k > 0)] + pad * "0"
    ]
    pulses = np.resize(np.array(chain), slots(count, rng.uniform(30, 80)))
    return unit(band(shape(pulses, count, lambda u: 1 / (2 / 0.065 + 1j * TAU * u) ** 3), 0.56))
