"""Radars, scanners, rotors, screens and other unintended or non-communicating emitters."""

import numpy as np

from benchmarks.accuracy.unheard.exam.waves import (
    FONT,
    Complex,
    Generator,
    Signal,
    lowpass,
    psk,
    pulse,
    qam,
    rrc,
    unit,
)


def magnetron(rng: Generator, count: int) -> Signal:
    """Non-coherent pulse radar: staggered pulses, each of random phase and slight chirp; marine radars."""
    interval = rng.uniform(60, 220)
    stagger = interval * rng.uniform(0.8, 1.2, rng.integers(1, 5))
    gaps = np.resize(stagger, int(count / stagger.min()) + 2)
    starts = np.cumsum(gaps) - gaps[0] - rng.uniform(0, interval)
    time = np.arange(count)
    index = np.searchsorted(starts, time, "right") - 1
    phase = (time - starts[index]) / max(10, interval * rng.uniform(0.08, 0.25))
    turns = rng.uniform(size=starts.size)[index] + rng.uniform(-0.3, 0.3) * phase**2
    return unit(pulse(phase, rng.uniform(0.3, 0.5)) * np.exp(2j * np.pi * turns))


def superregenerative(rng: Generator, count: int) -> Signal:
    """Super-regenerative receiver radiation: oscillation that grows from noise in every quench period."""
    period, log_mode = rng.uniform(35, 110), rng.random() < 0.5
    time = np.arange(count) / period
    index = time.astype(int)
    seed = rng.normal(size=(index[-1] + 1, 2)) @ [1, 1j]
    rise, width, phase = rng.uniform(0.02, 0.05), rng.uniform(0.1, 0.2), time % 1
    delay = np.minimum(0.2 - rise * np.log(abs(seed)), 0.45)[index]
    flat = 1 / np.sqrt((1 + np.exp((delay - phase) * 2 / rise)) * (1 + np.exp((phase - 0.8) * 2 / rise)))
    envelope = flat if log_mode else abs(seed)[index] * np.exp(-(((phase - 0.5) / width) ** 2))
    return unit(envelope * np.exp(1j * (np.angle(seed)[index] + rng.uniform(-10, 10) * (phase - 0.5) ** 2)))


def display(rng: Generator, count: int) -> Signal:
    """Leakage of a display cable at a pixel-clock harmonic: lines of coloured text and blanking; TEMPEST."""
    period, active = rng.uniform(90, 260), rng.uniform(0.75, 0.88)
    palette = rng.normal(size=(8, 2)) @ [1, 1j]
    line, across = np.divmod(np.arange(count) / period, 1)
    pixel, line = (across * period * rng.uniform(0.3, 0.6)).astype(int), line.astype(int)
    text = rng.integers(len(FONT), size=(line[-1] // 8 + 1, pixel.max() // 6 + 1))
    colours = rng.integers(1, rng.integers(3, 9), size=(2, *text.shape))
    place = line // 8, pixel // 6
    ink = np.pad(FONT, ((0, 0), (0, 1), (0, 1)))[text[place], pixel % 6, 7 - line % 8]
    shade = np.where(across < active, np.where(ink, colours[0][place], colours[1][place]), 0)
    return unit(lowpass(palette[shade], rng.uniform(0.25, 0.55)))


def intermodulation(rng: Generator, count: int) -> Signal:
    """Third-order intermodulation of two digital stations, x1 squared times x2 conjugate; rusty masts."""

    def station() -> Complex:
        size = int(count / rng.uniform(6, 20))
        symbols = [psk(rng, size), psk(rng, size, 8), qam(rng, size), qam(rng, size, 8)][rng.integers(4)]
        return rrc(symbols, count, rng.uniform(0.2, 0.35))

    return unit(station() ** 2 * station().conj())


def mri(rng: Generator, count: int) -> Signal:
    """Pulses of a magnetic-resonance scanner: windowed sincs, spin echoes, interleaved slices; hospitals."""
    length, product = rng.integers(70, 150), rng.uniform(2.5, 6)
    period = length + rng.integers(5, 60)
    slices, spacing = rng.integers(2, 8), product / length * rng.uniform(1, 1.4)
    offsets = rng.permutation(np.arange(slices) - (slices - 1) / 2) * min(spacing, 0.45 / slices)
    time, index = np.arange(count) % period, np.arange(count) // period
    across = np.clip(time / length - 0.5, -0.5, 0.5)
    shape = np.sinc(product * across) * (0.54 + 0.46 * np.cos(2 * np.pi * across)) * (time < length)
    echoes = rng.integers(1, 4)
    excite = index % (echoes + 1) == 0
    flips = np.where(excite, rng.uniform(0.5, 1), 2j)
    return unit(flips * shape * np.exp(2j * np.pi * offsets[index // (echoes + 1) % slices] * time))


def rotor(rng: Generator, count: int) -> Signal:
    """Micro-Doppler of rotor blades in a continuous-wave beam: blade flashes of helicopters and drones."""
    blades, flash, tip = rng.integers(2, 6), rng.uniform(100, 250), rng.uniform(0.06, 0.24)
    total = np.zeros(count, complex)
    for _ in range(rng.integers(1, 5)):
        own = flash * blades * rng.uniform(0.9, 1.1)
        angle = 2 * np.pi * (np.arange(count) / own + rng.uniform())
        gain = rng.uniform(0.6, 1) * np.exp(2j * np.pi * rng.uniform())
        for blade in range(blades):
            depth = tip * own / 2 * np.sin(angle + 2 * np.pi * blade / blades)
            total += gain * np.sinc(depth / np.pi) * np.exp(1j * depth)
    return unit(total)
