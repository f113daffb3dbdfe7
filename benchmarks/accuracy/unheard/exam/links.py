"""Unusual digital and analogue links: joint coding, delay-Doppler, wavelets, painted letters, zeros."""

import numpy as np
from scipy.fft import fftfreq, ifft

from benchmarks.accuracy.unheard.exam.waves import (
    FONT,
    Complex,
    Generator,
    Real,
    Signal,
    interpolate,
    psk,
    pulse,
    qam,
    rrc,
    unit,
)


def spiral(rng: Generator, count: int) -> Signal:
    """Shannon-Kotelnikov mapping: analogue samples laid along a double spiral; joint source coding."""
    size, turns = int(count / rng.uniform(2.5, 16)), rng.uniform(1.2, 3.5)
    source = [rng.uniform(-1, 1, size), rng.normal(0, 0.4, size), rng.laplace(0, 0.3, size)][rng.integers(3)]
    radius = np.clip(abs(source), 0, 1) ** rng.choice([0.5, 1.0])
    points = np.sign(source) * radius * np.exp(2j * np.pi * turns * radius)
    return unit(rrc(points, count, rng.uniform(0.15, 0.5)))


def otfs(rng: Generator, count: int) -> Signal:
    """Delay-Doppler multiplex (OTFS) with its embedded pilot: a rotating pulse in a gap every block; 6G."""
    delays, dopplers, guard = rng.integers(16, 40), rng.integers(8, 33), rng.integers(2, 5)
    size = int(count / rng.uniform(1.9, 5))
    frames = size // (delays * dopplers) + 1
    grid = qam(rng, (frames, dopplers, delays), rng.choice([2, 4]))
    grid[..., : 2 * guard + 1] = 0
    grid[:, rng.integers(dopplers), guard] = np.sqrt(dopplers * (2 * guard + 1) * rng.uniform(1, 2.5))
    chips = ifft(grid, axis=1, norm="ortho").ravel()[:size]
    return unit(rrc(chips, count, rng.uniform(0.1, 0.3)))


def tdcs(rng: Generator, count: int) -> Signal:
    """Transform-domain communication: a notched-spectrum random-phase waveform, data in its cyclic shift."""
    size, order, band = rng.integers(80, 240), 2 ** rng.integers(2, 6), rng.uniform(0.15, 0.45)
    bins = fftfreq(size)
    mask = abs(bins) < band / 2
    for centre in rng.uniform(-band / 2, band / 2, rng.integers(1, 4)):
        mask &= abs(bins - centre) > band * rng.uniform(0.04, 0.1)
    base = ifft(mask * psk(rng, size, 16))
    waveforms = np.array([np.roll(base, shift * size // order) for shift in range(order)])
    return unit(waveforms[rng.integers(order, size=count // size + 1)].ravel()[:count])


def fractal(rng: Generator, count: int) -> Signal:
    """Fractal modulation (Wornell): one message at once on all octaves of a Meyer wavelet; covert links."""
    rate, slope = rng.uniform(0.05, 0.2), rng.uniform(0, 1.2)
    message = psk(rng, rng.integers(50, 200), rng.choice([2, 4]))

    def wavelet(cycles: Real) -> Complex:
        below, above = np.clip(3 * abs(cycles) - 1, 0, 1), np.clip(1.5 * abs(cycles) - 1, 0, 1)
        return np.sin(np.pi / 2 * below) * np.cos(np.pi / 2 * above) * np.exp(1j * np.pi * cycles)

    def octave(scale: int) -> Complex:
        data = np.resize(message, int(count * rate / 2**scale))
        return 2 ** (scale * (slope - 1) / 2) * interpolate(data, count, wavelet)

    return unit(np.sum([octave(scale) for scale in range(rng.integers(3, 6))], axis=0))


def hell(rng: Generator, count: int) -> Signal:
    """Concurrent multitone Hellschreiber: letters painted by seven parallel keyed tones; amateur radio."""
    column = rng.integers(30, 80)
    letters = rng.integers(len(FONT), size=count // column // 6 + 1)
    rows = np.pad(FONT, ((0, 0), (0, 1), (0, 0)))[letters].reshape(-1, 7)
    time = np.arange(count)
    envelope = pulse((np.arange(column) + 0.5) / column, rng.uniform(0.1, 0.5))[time % column]
    tones = (np.arange(7) - 3) * rng.uniform(1, 1.5) / column
    phases = rng.uniform(size=7)
    return unit(
        envelope
        * sum(rows[time // column, k] * np.exp(2j * np.pi * (tones[k] * time + phases[k])) for k in range(7))
    )


def psk_lfm(rng: Generator, count: int) -> Signal:
    """Joint radar and communication: a PSK stream multiplied on a repeating linear sweep; cars."""
    period, sweep = rng.uniform(100, 280), rng.uniform(0.1, 0.3)
    phase = np.arange(count) / period % 1
    if rng.random() < 0.3:
        phase = 1 - abs(2 * phase - 1)
    symbols = psk(rng, int(count / period * rng.integers(6, 20)), rng.choice([2, 4]))
    turns = np.cumsum(sweep * (phase - 0.5))
    return unit(rrc(symbols, count, rng.uniform(0.3, 1)) * np.exp(2j * np.pi * turns))


def bmocz(rng: Generator, count: int) -> Signal:
    """Binary modulation on conjugate-reciprocal zeros: bits in the radii of packet zeros; sporadic IoT."""
    bits, guard = rng.integers(5, 15), rng.integers(0, 4)
    size = int(count / rng.uniform(2.2, 10))
    packets = size // (bits + 1 + guard) + 1
    radius = np.sqrt(1 + np.sin(np.pi / bits))
    zeros = radius ** rng.choice([-1, 1], (packets, 1, bits)) * np.exp(2j * np.pi * np.arange(bits) / bits)
    values = np.prod(np.exp(-2j * np.pi * np.arange(bits + 1) / (bits + 1))[:, None] - zeros, axis=2)
    packet = ifft(values, axis=1)
    packet /= np.linalg.norm(packet, axis=1, keepdims=True)
    return unit(rrc(np.pad(packet, ((0, 0), (0, guard))).ravel()[:size], count, rng.uniform(0.15, 0.4)))
