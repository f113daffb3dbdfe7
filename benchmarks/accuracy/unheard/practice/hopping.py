"""Frequency and time hopping, impulse radio."""

import numpy as np
from numpy.random import Generator
from scipy import special

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
