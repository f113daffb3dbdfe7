"""The receiver: what the air and cheap hardware add to emissions.

    y = channel(sum of emissions) + noise           fading and echoes on the wanted one
    z = floor's shape, spurs, I/Q image, DC, gain steps or AGC, converter with clipping, channel filter

`receive` draws the faults of one receiver; `Faults` has the share of receivers with each of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import fft

from streaming.block import Samples
from training.signals.classes import NOISE, log_uniform
from training.signals.emitters.emitter import Reals
from training.signals.fading import Fading
from training.signals.phasor import phasor
from training.signals.wide import Emitted

REFERENCE = 1 / 256  # narrowest band, as a part of the rate, that an SNR is stated for


@dataclass(frozen=True)
class Faults:
    """Shares of receivers with a fault, and how large it may be."""

    fading: float = 0.4
    droop: float = 0.4  # the floor falls towards the edges
    spurs: float = 0.3
    image: float = 0.7  # an I/Q image of -50 to -25 dB
    dc: float = 0.6
    gain_steps: float = 0.05
    agc: float = 0.15
    saturation: float = 0.08
    channel: float = 0.12  # filtered before it was saved: outside the floor is false
    audio: float = 0.03  # through an SSB receiver's audio
    bits: float = 0.85  # has a converter that shows: 8 bits mostly


IDEAL = Faults(*[0.0] * 11)
TYPICAL = Faults()


def receive(
    emitted: Emitted,
    rng: np.random.Generator,
    snr_db: float,
    neighbours: Sequence[tuple[Emitted, float]] = (),
    faults: Faults = TYPICAL,
) -> Samples:
    """What a receiver delivers: the emission at this SNR in its occupied band, and neighbours at theirs.

    Noise has unit power over the whole band before gain.
    """
    n = len(emitted.samples)
    x = at_level(emitted, snr_db)
    if rng.random() < faults.fading and emitted.name != NOISE:
        rician = 10 ** rng.uniform(0.3, 2) if rng.random() < 0.7 else 0.0
        x = Fading(
            int(rng.integers(1, 4)), int(rng.integers(2, 9)), rician, log_uniform(rng, 1e-8, 1e-5), rng
        ).push(x)
    for other, other_db in neighbours:
        x = x + at_level(other, other_db)
    noise = rng.standard_normal(2 * n, dtype=np.float32) * np.float32(np.sqrt(0.5))
    y = x + noise.view(np.complex64)
    if rng.random() < faults.droop:
        y = through(y, droop(rng, n))
    if rng.random() < faults.spurs:
        y = y + spurs(rng, n)
    if rng.random() < faults.gain_steps:
        y = y * gain_steps(rng, n)
    if rng.random() < faults.agc:
        y = y * pumping(rng, y)
    y = converted(rng, y, faults)
    if rng.random() < faults.channel and emitted.name != NOISE:
        y = through(y, channel(rng, emitted, n)) + np.float32(1e-4) * noise.view(np.complex64)[::-1]
    if rng.random() < faults.audio and emitted.name != NOISE:
        y = audio(rng, y, emitted)
    return np.ascontiguousarray(y, np.complex64)


def at_level(emitted: Emitted, snr_db: float) -> Samples:
    """Scaled for this SNR in the occupied band, over noise of unit power in the whole."""
    width = (emitted.upper_hz - emitted.lower_hz) / emitted.rate_hz
    return emitted.samples * np.float32(np.sqrt(10 ** (snr_db / 10) * max(width, REFERENCE)))


def through(x: Samples, response: Reals) -> Samples:
    """Behind a filter given at the transform's frequencies."""
    return np.asarray(fft.ifft(fft.fft(x) * response, overwrite_x=True), np.complex64)


def droop(rng: np.random.Generator, n: int) -> Reals:
    """Flat to an edge, then down by 3 to 40 dB at half the rate, with a slow ripple."""
    f = np.abs(fft.fftfreq(n)).astype(np.float32)
    edge, depth_db = rng.uniform(0.25, 0.48), rng.uniform(3, 40)
    fall = np.clip((f - edge) / (0.5 - edge), 0, 1) ** rng.uniform(1, 3) * depth_db
    ripple = rng.uniform(0, 1.5) * np.cos(2 * np.pi * rng.uniform(1, 8) * f + rng.uniform(0, 6))
    return np.asarray(10 ** ((ripple - fall) / 20), np.float32)


def spurs(rng: np.random.Generator, n: int) -> Samples:
    """One to five steady tones, up to 25 dB over the noise in 1/256 of the band."""
    out = np.zeros(n, np.complex64)
    for _ in range(int(rng.integers(1, 6))):
        level = np.sqrt(10 ** (rng.uniform(-5, 25) / 10) * REFERENCE)
        out += np.float32(level) * phasor(rng.uniform(-0.5, 0.5) * np.arange(float(n)) + rng.random())
    return out


def gain_steps(rng: np.random.Generator, n: int) -> Reals:
    """One to three steps of the tuner's gain, of 1 to 6 dB."""
    out = np.ones(n, np.float32)
    for at in rng.integers(0, n, int(rng.integers(1, 4))).tolist():
        out[at:] *= np.float32(10 ** (rng.uniform(-6, 6) / 20))
    return out


def pumping(rng: np.random.Generator, y: Samples) -> Reals:
    """The gain of an AGC: attack within a block, slow decay; blocks of 64 samples."""
    block = 64
    count = len(y) // block
    level = np.sqrt(np.mean(np.square(np.abs(y[: count * block])).reshape(count, block), 1))
    decay = np.float64(np.exp(-1 / log_uniform(rng, 3, 300)))
    held = np.log(level + 1e-6) - np.log(decay) * np.arange(count)
    held = np.maximum.accumulate(held) + np.log(decay) * np.arange(count)  # peak with an exponential decay
    gain = np.exp(-rng.uniform(0.3, 1.0) * held)
    return np.resize(np.repeat(gain, block), len(y)).astype(np.float32)


def converted(rng: np.random.Generator, y: Samples, faults: Faults) -> Samples:
    """Gain, I/Q image, direct current and the converter."""
    rms = float(np.sqrt(np.mean(np.square(np.abs(y)))))
    headroom = rng.uniform(-6, 3) if rng.random() < faults.saturation else rng.uniform(8, 36)
    y = y * np.float32(10 ** (-headroom / 20) / rms)  # full scale is 1
    if rng.random() < faults.image:
        image = 10 ** (rng.uniform(-50, -25) / 20) * np.exp(2j * np.pi * rng.random())
        y = y + np.complex64(image) * y.conj()
    if rng.random() < faults.dc:
        y = y + np.complex64(log_uniform(rng, 1e-3, 3e-2) * np.exp(2j * np.pi * rng.random()))
    if rng.random() < faults.bits:
        bits = int(rng.choice([8, 8, 8, 12, 14, 16]))
        scale = np.float32(2 ** (bits - 1))
        parts = y.view(np.float32)
        y = (np.clip(np.rint(parts * scale - 0.5) + 0.5, 0.5 - scale, scale - 0.5) / scale).view(np.complex64)
    return np.asarray(y, np.complex64)


def channel(rng: np.random.Generator, emitted: Emitted, n: int) -> Reals:
    """A pass band around the emission, up to three times as wide; outside nothing is left."""
    f = fft.fftfreq(n) * emitted.rate_hz
    width = emitted.upper_hz - emitted.lower_hz
    margin = width * rng.uniform(0.05, 1.0) + 0.01 * emitted.rate_hz
    middle = (emitted.upper_hz + emitted.lower_hz) / 2
    away = (np.abs(f - middle) - width / 2) / margin
    return np.cos(np.pi / 2 * np.clip(away, 0, 1)).astype(np.float32)


def audio(rng: np.random.Generator, y: Samples, emitted: Emitted) -> Samples:
    """An SSB receiver's audio: the positive frequencies within a voice channel; real, or made one-sided."""
    n = len(y)
    middle = (emitted.upper_hz + emitted.lower_hz) / 2 / emitted.rate_hz
    half = max((emitted.upper_hz - emitted.lower_hz) / emitted.rate_hz / 2, 0.02)
    place = min(0.45 - half, half * rng.uniform(1.1, 3) + 0.01) if half < 0.2 else 0.25
    f = fft.fftfreq(n)
    passed = np.clip((half * rng.uniform(1.05, 2) + 0.01 - np.abs(f - place)) / 0.01, 0, 1) * (f > 0)
    moved = through(y * phasor((place - middle) * np.arange(float(n))), passed.astype(np.float32))
    if rng.random() < 0.5:
        return moved
    return moved.real.astype(np.complex64)
