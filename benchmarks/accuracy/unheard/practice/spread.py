"""Spread spectrum: frequency and time hopping, impulse radio, codes, satellite and spacecraft links."""

import numpy as np
from numpy.random import Generator
from scipy import linalg, special

from benchmarks.accuracy.unheard.practice.waves import (
    TAU,
    Signal,
    band,
    pam,
    phasor,
    qam,
    raster,
    rrc,
    shape,
    slots,
    unit,
)


def fhss(rng: Generator, count: int) -> Signal:
    """Frequency hopping with phase-keyed data in each short dwell: anti-jam military links."""
    channels, width = int(rng.integers(6, 17)), rng.uniform(0.3, 0.52)
    spacing, dwell, n = width / channels, rng.uniform(60, 220), np.arange(count)
    hop, place = np.divmod(n, dwell)
    tune = rng.choice(raster(channels, spacing), int(hop[-1]) + 1)[hop.astype(int)]
    data = qam(rng, 2, slots(count, rng.uniform(1.3, 1.8) / spacing))
    ramp = np.clip(np.minimum(place, dwell - place) / rng.uniform(2, 8), 0, 1)
    return unit(
        band(rrc(data if rng.integers(2) else data.real, count, 0.35) * phasor(tune * n) * ramp, 0.57)
    )


def link16(rng: Generator, count: int) -> Signal:
    """Link 16 / JTIDS: pulses of 32 MSK chips, half the time on, each on another frequency."""
    chip = rng.uniform(5.5, 8.5)
    pulse, place = np.divmod(np.arange(count) / chip, 65)
    pulse, index = pulse.astype(int), np.minimum(place, 31).astype(int)
    keys = pam(rng, 2, (pulse[-1] + 1, 32))
    phase = (np.cumsum(keys, 1) - keys)[pulse, index] + keys[pulse, index] * (place - index)
    top = int((0.28 - 0.6 / chip) * chip / 0.6)
    tune = rng.integers(-top, top + 1, pulse[-1] + 1)[pulse] * 0.6
    return unit(
        band((place < 32) * phasor(phase / 4 + tune * place + rng.random(pulse[-1] + 1)[pulse]), 0.57)
    )


def th_uwb(rng: Generator, count: int) -> Signal:
    """Time-hopping impulse radio: one Gaussian-derivative pulse of coded place and sign in each frame."""
    order, peak, places = int(rng.integers(1, 4)), rng.uniform(0.04, 0.11), int(rng.integers(4, 17))
    frames = slots(count, rng.uniform(2.5, 6) / peak)
    grid = np.zeros((frames, places))
    grid[np.arange(frames), rng.integers(places, size=frames)] = pam(rng, 2, frames)
    rate = frames * places / count / peak
    return unit(
        shape(grid.ravel(), count, lambda u: (1j * u * rate) ** order * np.exp(-order / 2 * (u * rate) ** 2))
    )


def hermite(rng: Generator, count: int) -> Signal:
    """Pulse-shape modulation: each symbol one of several orthogonal Hermite pulses, signed (UWB)."""
    orders, spread, gap = int(rng.integers(3, 5)), rng.uniform(2.2, 6), rng.uniform(8, 11)
    symbols = slots(count, spread * gap)
    chosen, rate = rng.integers(orders, size=(2, symbols)), TAU * spread * symbols / count
    keys, both = pam(rng, 2, (2, symbols)), rng.integers(2)
    wave = np.zeros(count, complex)
    for k in range(orders):
        row = keys[0] * (chosen[0] == k) + 1j * both * keys[1] * (chosen[1] == k)
        scale = (-1j) ** k / np.sqrt(2.0**k * special.factorial(k))
        wave += shape(
            row,
            count,
            lambda u, k=k, scale=scale: (
                scale * special.eval_hermite(k, u * rate) * np.exp(-((u * rate) ** 2) / 2)
            ),
        )
    return unit(wave)


def cdma(rng: Generator, count: int) -> Signal:
    """Multi-code CDMA downlink: Walsh channels of unequal power and a pilot under one scrambling code."""
    chips, spread = slots(count, 1 / rng.uniform(0.1, 0.5)), int(rng.choice([16, 32, 64, 128]))
    active = rng.permutation(np.arange(1, spread))[: rng.integers(5, min(spread, 41))]
    data = qam(rng, 2, (chips // spread + 1, len(active))) * 10 ** rng.uniform(-0.5, 0, len(active))
    code = linalg.hadamard(spread)[active]
    total = (data @ code + (1 + 1j) * rng.uniform(0.5, 1.5)).ravel()[:chips]
    return unit(rrc(total * qam(rng, 2, chips), count, 0.22))


def cboc(rng: Generator, count: int) -> Signal:
    """Galileo E1 open service: CBOC(6,1,1/11), data minus pilot on two square subcarriers."""
    chips = slots(count, 1 / rng.uniform(0.012, 0.038))
    slow, fast = np.repeat([1, -1], 6) * np.sqrt(10 / 11), np.tile([1, -1], 6) * np.sqrt(1 / 11)
    data, pilot = pam(rng, 2, (2, chips, 1))
    return unit(band(shape((data * (slow + fast) - pilot * (slow - fast)).ravel(), count, np.sinc), 0.57))


def altboc(rng: Generator, count: int) -> Signal:
    """AltBOC of Galileo E5: four codes on two sidebands of a constant-envelope eight-phase subcarrier."""
    steps = int(rng.choice([8, 12, 16]))
    rate = rng.uniform(0.2, 0.55) / (steps / 4 + 2)
    codes = np.repeat(qam(rng, 2, (2, slots(count, 1 / rate))), steps, 1)
    subcarrier = phasor((np.arange(codes.shape[1]) + 0.5) / 8)
    wave = codes[0] * subcarrier + codes[1] * subcarrier.conj()
    return unit(band(shape(wave / np.abs(wave), count, np.sinc), 0.57))


def pcm_psk_pm(rng: Generator, count: int) -> Signal:
    """Spacecraft telemetry: residual carrier phase-modulated by a BPSK subcarrier, or a ranging tone too."""
    subcarrier, n = rng.uniform(0.03, 0.09), np.arange(count)
    bits = pam(rng, 2, slots(count, rng.integers(3, 13) / subcarrier))
    tone = np.sin(TAU * subcarrier * n)
    if rng.integers(2):
        tone = np.tanh(4 * tone)
    phase = rng.uniform(0.8, 1.3) * tone * bits[n * len(bits) // count]
    phase += rng.choice([0, 0.4]) * np.sin(TAU * rng.uniform(1.3, 2.2) * subcarrier * n)
    return unit(band(np.exp(1j * phase), 0.56))


def pcma(rng: Generator, count: int) -> Signal:
    """Paired carriers (Carrier-in-Carrier): two overlapping PSK signals in one satellite channel."""
    rate = rng.uniform(0.1, 0.4)
    rows = [
        phasor(rng.integers(order, size=slots(count, 1 / speed)) / order)
        for order, speed in zip(rng.choice([4, 8], 2), (rate, rate * rng.uniform(0.6, 1)), strict=True)
    ]
    waves = [unit(rrc(row, count, rng.uniform(0.2, 0.35))) for row in rows]
    shift = phasor(rng.uniform(-0.05, 0.05) * rate * np.arange(count) + rng.random())
    return unit(np.roll(waves[0], rng.integers(9)) + 10 ** rng.uniform(-0.2, 0) * waves[1] * shift)
