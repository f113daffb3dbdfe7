"""Faults of receivers, one function each; frequencies are in cycles per sample, full scale is 1."""

import numpy as np
from scipy import fft

from streaming.block import Samples
from training.signals.classes import log_uniform
from training.signals.emitters.emitter import Reals
from training.signals.phasor import phasor

BLOCK = 64  # samples between which an AGC's gain is interpolated


def through(x: Samples, response: Reals) -> Samples:
    """Behind a filter that is given at the transform's frequencies."""
    return np.asarray(fft.ifft(fft.fft(x) * response, overwrite_x=True), np.complex64)


def floor_shape(rng: np.random.Generator, n: int) -> Reals:
    """Flat to an edge, then down by 3 to 60 dB at half the rate; a slow ripple; in some a hump at zero."""
    f = np.abs(fft.fftfreq(n)).astype(np.float32)
    edge, depth_db = rng.uniform(0.25, 0.48), log_uniform(rng, 3, 60)
    gain_db = -depth_db * np.clip((f - edge) / (0.5 - edge), 0, 1) ** np.float32(rng.uniform(0.5, 3))
    gain_db += np.float32(rng.uniform(0, 1.5)) * np.cos(np.float32(2 * np.pi * rng.uniform(1, 8)) * f)
    if rng.random() < 0.2:
        gain_db += np.float32(rng.uniform(1, 6)) / (1 + (f / np.float32(log_uniform(rng, 0.003, 0.05))) ** 2)
    return np.asarray(10 ** (gain_db / 20), np.float32)


def spurs(rng: np.random.Generator, n: int) -> Samples:
    """One to five steady tones, -5 to 25 dB over the noise in 1/256 of the band."""
    out = np.zeros(n, np.complex64)
    for _ in range(int(rng.integers(1, 6))):
        level = np.float32(np.sqrt(10 ** (rng.uniform(-5, 25) / 10) / 256))
        out += level * phasor(rng.uniform(-0.5, 0.5) * np.arange(float(n)) + rng.random())
    return out


def impulses(rng: np.random.Generator, n: int) -> Samples:
    """Clicks of a few samples, by a clock or at random, 10 to 40 dB over the noise."""
    out = np.zeros(n, np.complex64)
    number = int(log_uniform(rng, 2, max(4, n / 2000)))
    at = rng.integers(0, n, number) if rng.random() < 0.5 else np.linspace(0, n - 1, number).astype(np.int64)
    level = 10 ** (rng.uniform(10, 40) / 20)
    for tail in range(int(rng.integers(1, 6))):
        sign = np.exp(2j * np.pi * rng.random(number))
        out[np.minimum(at + tail, n - 1)] += (level * 0.6**tail * sign).astype(np.complex64)
    return out


def gain_steps(rng: np.random.Generator, n: int) -> Reals:
    """One to three steps of the tuner's gain, of up to 6 dB."""
    out = np.ones(n, np.float32)
    for at in rng.integers(0, n, int(rng.integers(1, 4))).tolist():
        out[at:] *= np.float32(10 ** (rng.uniform(-6, 6) / 20))
    return out


def pumping(rng: np.random.Generator, x: Samples) -> Reals:
    """The gain of an AGC: quick attack, exponential decay; weaker signals and noise come up in pauses."""
    count = max(1, len(x) // BLOCK)
    power = np.square(np.abs(x[: count * BLOCK])).reshape(count, -1).mean(1)
    slope = np.arange(count) / log_uniform(rng, 3, 300)  # of the decay, in blocks
    held = np.maximum.accumulate(np.log(power + 1e-9) / 2 + slope) - slope
    gain = np.exp(-rng.uniform(0.3, 1.0) * held)
    return np.interp(np.arange(len(x)), BLOCK * (np.arange(count) + 0.5), gain).astype(np.float32)


def levelled(x: Samples, headroom_db: float) -> Samples:
    """At this mean power below full scale; below 0 it clips."""
    rms = np.sqrt(np.mean(x.real**2 + x.imag**2))
    return x * np.float32(10 ** (-headroom_db / 20) / (rms + 1e-12))


def imaged(x: Samples, image_db: float, turn: float) -> Samples:
    """With the image that uneven I and Q leave at the mirrored frequency."""
    return x + np.complex64(10 ** (image_db / 20) * np.exp(2j * np.pi * turn)) * x.conj()


def converted(x: Samples, bits: int) -> Samples:
    """Through a converter without a code for zero, as the RTL2832U; beyond full scale it clips."""
    scale = np.float32(2 ** (bits - 1))
    parts = np.floor(np.ascontiguousarray(x).view(np.float32) * scale) + np.float32(0.5)
    return np.asarray(np.clip(parts, 0.5 - scale, scale - 0.5) / scale, np.float32).view(np.complex64)


def channel(rng: np.random.Generator, n: int, lower: float, upper: float) -> Reals:
    """A pass band around the emission, up to three times as wide; beside it 30 to 100 dB less.

    In one of three it is narrower than the emission, down to 0.6 of it: voice channels that carry data.
    """
    f = np.asarray(fft.fftfreq(n), np.float32)
    width = upper - lower
    margin = width * rng.uniform(0.05, 1.0) + 0.01
    away = (np.abs(f - (lower + upper) / 2) - width / 2 - margin * rng.uniform(0, 1)) / margin
    if rng.random() < 1 / 3:
        edge = width * rng.uniform(0.05, 0.3)
        away = (np.abs(f - (lower + upper) / 2) - width * rng.uniform(0.3, 0.5)) / edge
    passed = np.cos(np.pi / 2 * np.clip(away, 0, 1))
    return np.asarray(np.maximum(passed, 10 ** (rng.uniform(-100, -30) / 20)), np.float32)


def audio(rng: np.random.Generator, x: Samples, lower: float, upper: float) -> Samples:
    """An SSB receiver's audio: positive frequencies around the emission, made real or left one-sided."""
    f = np.asarray(fft.fftfreq(n := len(x)), np.float32)
    low, high = lower * rng.uniform(0, 0.95), upper + (0.5 - upper) * rng.uniform(0.05, 1)
    edge = np.clip(np.minimum(f - low, high - f) * n / 64, 0, 1)
    one_sided = through(x, (edge * (f > 0)).astype(np.float32))
    return one_sided if rng.random() < 0.5 else (2 * one_sided.real).astype(np.complex64)
