"""Index and spatial modulation, and signals shaped by their transmitters."""

import numpy as np

from benchmarks.accuracy.unheard.exam.waves import Generator, Signal, lowpass, psk, pulse, qam, rrc, unit


def spatial(rng: Generator, count: int) -> Signal:
    """Spatial modulation: symbols leave from data-chosen antennas, each of its own complex gain; MIMO."""
    size, antennas = int(count / rng.uniform(2.5, 16)), rng.choice([4, 8, 16])
    gains = rng.normal(size=(antennas, 2)) @ [1, 1j]
    return unit(
        rrc(
            gains[rng.integers(antennas, size=size)] * psk(rng, size, rng.choice([2, 4])),
            count,
            rng.uniform(0.2, 0.5),
        )
    )


def index_modulation(rng: Generator, count: int) -> Signal:
    """Single-carrier index modulation: data choose which slots of a block carry PSK, the rest stay empty."""
    slots, size = rng.integers(4, 9), int(count / rng.uniform(2.5, 14))
    blocks = size // slots + 1
    rank = rng.random((blocks, slots)).argsort(axis=1)
    symbols = psk(rng, (blocks, slots), rng.choice([4, 8])) * (rank < rng.integers(2, slots // 2 + 1))
    return unit(rrc(symbols.ravel()[:size], count, rng.uniform(0.2, 0.5)))


def ifdma(rng: Generator, count: int) -> Signal:
    """Interleaved FDMA uplink: each user's short PSK block repeated on its own comb, users summed."""
    block, repeats = rng.integers(3, 9), rng.integers(4, 9)
    length, users = block * repeats, rng.integers(2, 4)
    size = int(count / rng.uniform(2, 5))
    bursts = size // length + 1
    combs = rng.choice(repeats, users, replace=False)
    ramps = np.exp(2j * np.pi * np.outer(combs, np.arange(length)) / length)
    chips = sum(rng.uniform(0.5, 1) * np.tile(psk(rng, (bursts, block)), repeats) * ramp for ramp in ramps)
    return unit(rrc(np.asarray(chips).ravel()[:size], count, rng.uniform(0.1, 0.3)))


def soliton(rng: Generator, count: int) -> Signal:
    """Nonlinear-Fourier transmission: two-eigenvalue solitons with QPSK on both amplitudes; optical fibre."""
    period, first = rng.integers(40, 110), rng.uniform(0.5, 0.65)
    eigenvalues = 1j * first * np.array([1, rng.uniform(1.6, 2.4)])
    amplitudes = np.exp(0.5j * np.pi * np.indices((4, 4)).reshape(2, 16).T + 2j * np.pi * rng.uniform(size=2))
    time = np.linspace(-6, 6, period, endpoint=False)
    modes = amplitudes[:, None] * np.exp(2j * eigenvalues * time[:, None])
    gaps = eigenvalues.conj()[:, None] - eigenvalues
    system = (1 + modes.conj()[..., :, None] * modes[..., None, :]) / gaps
    waveforms = np.sum(modes * np.linalg.solve(system, np.ones((*modes.shape, 1)))[..., 0], axis=2)
    return unit(waveforms[rng.integers(16, size=count // period + 1)].ravel()[:count])


def outphasing(rng: Generator, count: int) -> Signal:
    """Branch of an outphasing (LINC) transmitter: flat envelope, QAM phase plus arc cosine of its size."""
    symbols = qam(rng, int(count / rng.uniform(14, 40)), rng.choice([2, 4, 8]))
    wanted = rrc(symbols, count, rng.uniform(0.2, 0.4))
    size = np.minimum(abs(wanted) / np.quantile(abs(wanted), 0.99), 1)
    return unit(lowpass(np.exp(1j * (np.angle(wanted) + np.arccos(size))), 0.55))


def time_modulated(rng: Generator, count: int) -> Signal:
    """Time-modulated array seen off its beam: data times periodic switching of the elements; secure links."""
    spacing, elements = rng.uniform(16, 40), rng.integers(4, 9)
    data = rrc(qam(rng, int(count / spacing), rng.choice([2, 4])), count, rng.uniform(0.2, 0.4))
    phase = np.arange(count) / (spacing * rng.uniform(0.4, 0.8)) % 1
    steering = np.exp(1j * np.pi * np.arange(elements) * rng.uniform(0.2, 0.9))
    switching = sum(
        gain * ((phase - start) % 1 < width)
        for gain, start, width in zip(
            steering, rng.uniform(0, 1, elements), rng.uniform(0.2, 0.7, elements), strict=True
        )
    )
    return unit(lowpass(data * np.asarray(switching), rng.uniform(0.3, 0.55)))


def burst_pwm(rng: Generator, count: int) -> Signal:
    """Burst-mode polar transmitter: QAM phase on a carrier switched by the pulse-width coded envelope."""
    switch = rng.uniform(10, 24)
    symbols = qam(rng, int(count / switch / rng.uniform(1.5, 3)), rng.choice([2, 4]))
    wanted = rrc(symbols, count, rng.uniform(0.2, 0.4))
    ramp = abs(2 * (np.arange(count) / switch % 1) - 1)
    on = ramp < abs(wanted) / np.quantile(abs(wanted), 0.99)
    return unit(lowpass(on * np.exp(1j * np.angle(wanted)), rng.uniform(0.3, 0.55)))


def phase_overlay(rng: Generator, count: int) -> Signal:
    """ADS-B with phase overlay (DO-260C): pulse-position bits whose pulses also carry differential 8PSK."""
    half = rng.integers(8, 20)
    bits = count // (2 * half) + 1
    phases = np.exp(0.25j * np.pi * np.cumsum(rng.integers(8, size=bits)))
    late = rng.integers(2, size=bits)
    chips = np.stack([phases * (1 - late), phases * late], axis=1).ravel()
    shape = pulse((np.arange(half) + 0.5) / half, rng.uniform(0.3, 0.5))
    return unit((chips[:, None] * shape).ravel()[:count])
