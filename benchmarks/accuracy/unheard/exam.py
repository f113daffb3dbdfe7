"""Types of signals that are of none of the model's families: the set for the final evaluation.

Written by an author who knew the families, but neither the model's outliers nor its features. Each maker
takes (rng, count) and gives `count` clean samples, one emission, with settings drawn for it. Rates and widths
are in cycles per sample, periods in samples.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.fft import fft, fftfreq, ifft

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]
Signal = NDArray[np.complex64]
Generator = np.random.Generator

FONT = np.unpackbits(  # 5x7 letters ABCDEFHKLMNORSTU, indexed letter, column, row
    np.frombuffer(
        bytes.fromhex(
            "7e1111117e7f494949363e414141227f4141221c7f494949417f090909017f0808087f7f08142241"
            "7f404040407f020c027f7f0408107f3e4141413e7f09192946464949493101017f01013f4040403f"
        ),
        np.uint8,
    ).reshape(-1, 5, 1),
    axis=2,
)[:, :, 1:]


def unit(signal: NDArray[np.complexfloating] | Real) -> Signal:
    """Scale to unit mean power."""
    return (signal / np.sqrt(np.mean(np.abs(signal) ** 2))).astype(np.complex64)


def psk(rng: Generator, shape: int | tuple[int, ...], order: int = 4) -> Complex:
    """Random PSK symbols."""
    return np.exp(2j * np.pi * (rng.integers(order, size=shape) + 0.5) / order)


def qam(rng: Generator, shape: int | tuple[int, ...], side: int = 4) -> Complex:
    """Random square QAM symbols of unit power."""
    levels = 2 * rng.integers(side, size=(2, *np.atleast_1d(shape))) - side + 1
    return (levels[0] + 1j * levels[1]) / np.sqrt(2 * (side**2 - 1) / 3)


def interpolate(symbols: Complex, count: int, response: Callable[[Real], Real | Complex]) -> Complex:
    """Spread symbols evenly over count samples through a response in cycles per symbol (circular)."""
    bins = np.rint(fftfreq(count) * count).astype(int)
    return ifft(fft(symbols)[bins % symbols.size] * response(bins / symbols.size)) * count / symbols.size


def rrc(symbols: Complex, count: int, rolloff: float) -> Complex:
    """Root-raised-cosine shaping of symbols spread over count samples."""

    def response(cycles: Real) -> Real:
        return np.cos(np.pi / 2 * np.clip((abs(cycles) - 0.5) / rolloff + 0.5, 0, 1))

    return interpolate(symbols, count, response)


def lowpass(signal: Complex, bandwidth: float) -> Complex:
    """Circular low-pass to a two-sided bandwidth with soft edges."""
    edge = np.clip((bandwidth / 2 - abs(fftfreq(signal.size))) / (0.1 * bandwidth), 0, 1)
    return ifft(fft(signal) * np.sin(np.pi / 2 * edge) ** 2)


def pulse(phase: Real, edge: float) -> Real:
    """Pulse over phases 0 to 1 with raised-cosine edges, zero outside."""
    return np.sin(np.pi / 2 * np.clip(np.minimum(phase, 1 - phase) / edge, 0, 1)) ** 2


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


def psk_lfm(rng: Generator, count: int) -> Signal:
    """Joint radar and communication: a PSK stream multiplied on a repeating linear sweep; cars."""
    period, sweep = rng.uniform(100, 280), rng.uniform(0.1, 0.3)
    phase = np.arange(count) / period % 1
    if rng.random() < 0.3:
        phase = 1 - abs(2 * phase - 1)
    symbols = psk(rng, int(count / period * rng.integers(6, 20)), rng.choice([2, 4]))
    turns = np.cumsum(sweep * (phase - 0.5))
    return unit(rrc(symbols, count, rng.uniform(0.3, 1)) * np.exp(2j * np.pi * turns))


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


NEWCOMERS: dict[str, Callable[[Generator, int], Signal]] = {
    "magnetron pulse radar": magnetron,
    "super-regenerative receiver": superregenerative,
    "Shannon-Kotelnikov spiral": spiral,
    "OTFS": otfs,
    "TDCS": tdcs,
    "fractal modulation": fractal,
    "concurrent MT-Hell": hell,
    "display leakage": display,
    "intermodulation (PIM)": intermodulation,
    "PSK-LFM": psk_lfm,
    "MRI pulses": mri,
    "rotor micro-Doppler": rotor,
    "BMOCZ": bmocz,
    "spatial modulation": spatial,
    "index modulation (SC-IM)": index_modulation,
    "IFDMA": ifdma,
    "soliton NFDM": soliton,
    "LINC branch": outphasing,
    "time-modulated array": time_modulated,
    "burst-mode PWM": burst_pwm,
    "ADS-B phase overlay": phase_overlay,
}
