"""Chaos, combs, keyed noise, and interference of machines."""

import cmath

import numpy as np
from numpy.random import Generator
from scipy import fft, signal

from benchmarks.accuracy.unheard.practice.waves import (
    TAU,
    Signal,
    band,
    pam,
    phasor,
    raster,
    rrc,
    slots,
    unit,
)


def dcsk(rng: Generator, count: int) -> Signal:
    """Differential chaos shift keying: a logistic-map reference and its signed copy, or two in quadrature."""
    chips, half = slots(count, rng.uniform(2.2, 6)), int(rng.integers(6, 33))
    state = rng.uniform(-1, 1, (2, chips // (2 * half) + 1))
    reference = np.stack([state := 1 - 2 * state**2 for _ in range(half)], 2)
    copy = reference * pam(rng, 2, (*reference.shape[:2], 1))
    pair = np.concatenate([reference, copy], 2).reshape(2, -1)[:, :chips]
    return unit(rrc(pair[0] + 1j * rng.integers(2) * pair[1], count, rng.uniform(0.2, 0.5)))


def ikeda(rng: Generator, count: int) -> Signal:
    """Chaotic carrier of the Ikeda ring-cavity map: chaos communication and chaotic lasers."""
    drive = rng.uniform(0.83, 0.97)
    state, orbit = complex(*rng.uniform(0, 0.3, 2)), []
    for _ in range(slots(count, rng.uniform(2.2, 7))):
        state = drive + 0.9 * state * cmath.exp(1j * (0.4 - 6 / (1 + abs(state) ** 2)))
        orbit.append(state)
    chaos = np.array(orbit)
    return unit(rrc(chaos - chaos.mean(), count, rng.uniform(0.2, 0.5)))


def comb(rng: Generator, count: int) -> Signal:
    """Comb of equally spaced tones with random or Newman phases: multitone jammer and linearity test."""
    tones, width = int(rng.integers(5, 25)), rng.uniform(0.1, 0.5)
    phases = rng.random(tones) if rng.integers(2) else np.arange(tones) ** 2 / (2 * tones)
    lines = zip(raster(tones, width / (tones - 1)), phases, strict=True)
    return unit(sum((phasor(f * np.arange(count) + p) for f, p in lines), np.zeros(count, complex)))


def smps(rng: Generator, count: int) -> Signal:
    """Switched-mode power supply: damped ringing from both edges of every jittered switching cycle."""
    period, top = rng.uniform(50, 160), rng.uniform(0.05, 0.2)
    cycles = np.arange(int(count / period) + 1)
    wave = np.zeros(count, complex)
    for edge, ring in ((0.05, top), (rng.uniform(0.3, 0.7), -top * rng.uniform(0.4, 1))):
        jitter = rng.uniform(0.005, 0.04) * rng.normal(size=len(cycles))
        times = np.clip((cycles + edge + jitter) * period, 0, count - 1).astype(int)
        kicks = np.bincount(times, minlength=count) * rng.uniform(0.6, 1) * phasor(rng.random())
        pole = cmath.exp(-1 / (period * rng.uniform(0.1, 0.3)) + 1j * TAU * ring)
        wave += signal.lfilter([1], [1, -pole], kicks)
    return unit(band(wave, rng.uniform(0.45, 0.56)))


def gap_noise(rng: Generator, count: int) -> Signal:
    """Power-line sparking: random impulses of random strength and phase, denser at each mains peak."""
    width = rng.uniform(0.15, 0.5)
    mains = 1 + 0.8 * np.cos(TAU * np.arange(count) / rng.uniform(100, 250))
    hits = (rng.random(count) < width * rng.uniform(0.15, 0.4) * mains) * phasor(rng.random(count))
    hits *= rng.lognormal(0, rng.uniform(0.3, 0.8), count)
    return unit(fft.ifft(fft.fft(hits) * np.exp(-((2.58 / width * fft.fftfreq(count)) ** 2))))


def inverter(rng: Generator, count: int) -> Signal:
    """Three-phase motor drive: the space vector of its pulse-width-modulated legs, as radiated at VLF."""
    carrier, n = rng.uniform(0.02, 0.07), np.arange(0, count, 0.5)
    legs = np.arange(3)[:, None] / 3
    duty = rng.uniform(0.4, 0.95) * np.cos(TAU * (carrier / rng.uniform(9, 30) * n - legs + rng.random()))
    switched = np.sign(duty - signal.sawtooth(TAU * carrier * n, rng.choice([0.5, 1.0])))
    return unit(band((phasor(legs).T @ switched)[0].reshape(count, 2).mean(1), 0.56))


def noise_keying(rng: Generator, count: int) -> Signal:
    """Noise modulation: bits in the variance of a band-limited noise carrier (covert links, TherCom)."""
    width = rng.uniform(0.12, 0.5)
    noise = rng.normal(size=(2, slots(count, 1 / width)))
    bits = rng.integers(2, size=slots(count, rng.uniform(6, 20) / width))
    power = np.where(bits, 1, 10 ** -rng.uniform(0.7, 1.6))[np.arange(count) * len(bits) // count]
    return unit(band(rrc(noise[0] + 1j * noise[1], count, 0.1) * np.sqrt(power), 0.57))
