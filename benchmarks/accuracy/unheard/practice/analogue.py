"""Television, telephony, telegraphy and stereo: vestigial and independent sidebands, multiplexes."""

import numpy as np
from numpy.random import Generator
from scipy import fft, signal

from benchmarks.accuracy.unheard.practice.waves import (
    TAU,
    Signal,
    Wave,
    band,
    drift,
    pam,
    phasor,
    raster,
    root,
    shape,
    slots,
    unit,
    voice,
)


def vsb_data(rng: Generator, count: int) -> Signal:
    """Digital vestigial sideband with a pilot: 8-VSB of ATSC television, and its 4- and 16-level modes."""
    levels = int(rng.choice([4, 8, 16]))
    symbols = slots(count, 0.5 / rng.uniform(0.1, 0.5))
    data = pam(rng, levels, symbols) + 0.18 * levels * rng.uniform(0.7, 1.2)
    skirt = rng.uniform(0.025, 0.05)
    wave = shape(data, count, lambda u: root(u - 0.25, 0.25, skirt))
    return unit(wave * phasor(-symbols / 4 * np.arange(count) / count))


def vsb_tv(rng: Generator, count: int) -> Signal:
    """Analogue colour television: negative VSB picture with line syncs, colour burst and FM sound."""
    n, width, line = np.arange(count), rng.uniform(0.2, 0.42), rng.uniform(200, 400)
    row, place = np.divmod(n / line, 1)
    blocks = rng.random((int(row[-1]) // 10 + 1, 30, 3))[row.astype(int) // 10, (30 * place).astype(int)].T
    active, gate = (place > 0.17) & (place < 0.98), (place > 0.09) & (place < 0.13)
    level = np.where(place < 0.075, 1, 0.75) - active * (0.05 + 0.55 * blocks[0])
    tint = 0.15 * active * blocks[1] + 0.1 * gate
    subcarrier = (np.floor(0.78 * width * line) + 0.5) / line
    video = level + tint * np.cos(TAU * (subcarrier * n + active * blocks[2]))
    f = fft.fftfreq(count)
    picture = fft.ifft(fft.fft(video) * root(f / width - 0.375, 0.575, 0.05))
    sound = phasor(1.1 * width * n + np.cumsum(0.02 * width * drift(rng, count, 0.01 * width)))
    return unit((picture + rng.uniform(0.2, 0.35) * sound) * phasor(-0.5 * width * n))


def fdm_telegraph(rng: Generator, count: int, channels: int, width: float) -> Wave:
    """Side-by-side slow FSK channels filling width, as on a voice-frequency telegraph bearer."""
    spacing = width / channels
    samples = slots(count, 0.5 / spacing)
    ticks = np.arange(samples) / 4.8 + rng.random((channels, 1))
    keys = np.take_along_axis(pam(rng, 2, (channels, int(ticks.max()) + 1)), ticks.astype(int), 1)
    rows = phasor(np.cumsum(keys / 8, 1) + rng.random((channels, 1)))
    return shape(rows, count, lambda u: root(u, 0.22, 0.04), raster(channels, spacing), 0.3)


def vft(rng: Generator, count: int) -> Signal:
    """Voice-frequency telegraphy: a frequency multiplex of teleprinter FSK channels (ITU-T R.35)."""
    return unit(fdm_telegraph(rng, count, int(rng.integers(4, 17)), rng.uniform(0.15, 0.5)))


def isb(rng: Generator, count: int) -> Signal:
    """Independent sidebands (B8E, B9W): speech below, speech or telegraph tones above, reduced carrier."""
    high, n = rng.uniform(0.06, 0.25), np.arange(count)
    low = high * rng.uniform(0.08, 0.15)
    lower = unit(signal.hilbert(voice(rng, count, low, high)).conj())
    if rng.integers(2):
        upper = unit(signal.hilbert(voice(rng, count, low, high)))
    else:
        tones = fdm_telegraph(rng, count, int(rng.integers(4, 9)), high - low)
        upper = unit(tones * phasor((high + low) / 2 * n))
    return unit(lower + rng.uniform(0.6, 1.4) * upper + rng.choice([0, 0.15, 0.3]))


def cquam(rng: Generator, count: int) -> Signal:
    """C-QUAM AM stereo (Motorola): envelope 1 + L + R, phase of (1 + L + R, L - R)."""
    high, depth = rng.uniform(0.08, 0.22), rng.uniform(0.5, 0.75)
    left, right = (depth * voice(rng, count, high / 12, high) for _ in range(2))
    total = np.maximum(1 + left + right, 0.05)
    phase = np.arctan2(rng.uniform(1, 1.5) * (left - right), total)
    return unit(band(total * np.exp(1j * phase), 0.56))


def am_fm(rng: Generator, count: int) -> Signal:
    """Simultaneous AM and FM by two messages: Belar/RCA AM stereo, two-channel hybrid links."""
    high = rng.uniform(0.05, 0.11)
    total, side = (voice(rng, count, high / 10, high) for _ in range(2))
    swing = np.cumsum(high * rng.uniform(0.5, 1.2) * side)
    return unit(band((1 + rng.uniform(0.6, 0.95) * total) * phasor(swing), 0.56))


def fdm_ssb(rng: Generator, count: int) -> Signal:
    """Carrier-telephone group: single-sideband speech channels on a 4 kHz raster, some inverted whole."""
    channels, width, side = int(rng.integers(4, 13)), rng.uniform(0.2, 0.55), rng.choice([-1, 1])
    spacing = width / channels
    samples = slots(count, 0.5 / spacing)
    rows = np.array([rng.uniform(0.5, 1) * voice(rng, samples, 0.0375, 0.425) for _ in range(channels)])
    edges = np.arange(channels) * spacing - width / 2 + (side < 0) * spacing
    pilot = rng.choice([0, 0.1]) * phasor(rng.choice(edges) * np.arange(count))
    return unit(unit(shape(rows, count, lambda u: side * u > 0, edges, 0.5)) + pilot)


def throb(rng: Generator, count: int) -> Signal:
    """Two or three tones of a set keyed at once in soft pulses: Throb, R2 and DTMF signalling."""
    tones, width = int(rng.integers(5, 10)), rng.uniform(0.15, 0.45)
    spacing, n = width / tones, np.arange(count)
    symbol, place = np.divmod(n / (rng.uniform(2, 4) / spacing), 1)
    chosen = rng.random((int(symbol[-1]) + 1, tones)).argsort(1)[symbol.astype(int), : rng.integers(2, 4)]
    keyed = phasor((chosen - (tones - 1) / 2) * spacing * n[:, None]).sum(1)
    return unit(keyed * np.sin(np.pi * place) ** rng.uniform(0.5, 2))
