"""Types of signals that are of none of the model's families: the set for choosing settings.

Written by an author who knew the families, but neither the model's outliers nor its features. Each maker
takes (rng, count) and gives `count` clean samples, one emission, with settings drawn for it. Rates and widths
are in cycles per sample, periods in samples.
"""

import cmath
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import fft, linalg, signal, special

Signal = NDArray[np.complex64]
Wave = NDArray[np.complexfloating[Any, Any]]
Real = NDArray[np.floating[Any]]
Response = Callable[[Real], Real | Wave]

TAU = 2 * np.pi


def unit(wave: Wave | Real) -> Signal:
    """The wave at mean power one."""
    return (wave / np.sqrt(np.mean(np.abs(wave) ** 2))).astype(np.complex64)


def turn(cycles: Real | float) -> Wave:
    """The unit phasor at a phase in cycles."""
    return np.exp(1j * TAU * cycles)


def slots(count: int, period: float) -> int:
    """How many periods fit evenly into count samples."""
    return max(2, round(count / period))


def shape(
    rows: Wave | Real,
    count: int,
    response: Response,
    centres: Sequence[float] | Real = (0.0,),
    reach: float = 20.0,
) -> Wave:
    """Rows of symbols over count samples, shaped by response(cycles per symbol), each at its centre."""
    rows = np.atleast_2d(rows)
    number = rows.shape[1]
    half = min(count // 2, int(reach * number))
    bins = np.arange(-half, half)
    gain, spectrum = response(bins / number), np.zeros(count, complex)
    for row, centre in zip(rows, centres, strict=True):
        spectrum[(bins + round(centre * count)) % count] += fft.fft(row.astype(complex))[bins % number] * gain
    return fft.ifft(spectrum)


def root(u: Real, half: float, skirt: float) -> Real:
    """Root-raised-cosine response with its middle of slope at +-half and slopes of +-skirt."""
    return np.cos(np.pi / 4 * (1 + np.clip((np.abs(u) - half) / skirt, -1, 1)))


def rrc(symbols: Wave | Real, count: int, rolloff: float) -> Wave:
    """Symbols through a root-raised-cosine shaper."""
    return shape(symbols, count, lambda u: root(u, 0.5, rolloff / 2))


def band(wave: Wave | Real, width: float) -> Wave:
    """The wave through a low-pass of the given two-sided width."""
    f = fft.fftfreq(len(wave))
    return fft.ifft(fft.fft(wave) * root(f, width / 2, width / 16))


def pam(rng: Generator, levels: int, size: int | tuple[int, ...]) -> Real:
    """Random equally spaced real levels, two apart."""
    return 2.0 * rng.integers(levels, size=size) + 1 - levels


def raster(number: int, spacing: float) -> Real:
    """Equally spaced frequencies about zero."""
    return (np.arange(number) - (number - 1) / 2) * spacing


def qam(rng: Generator, side: int, size: int | tuple[int, ...]) -> Wave:
    """Random square QAM symbols with side levels on each axis."""
    return pam(rng, side, size) + 1j * pam(rng, side, size)


def drift(rng: Generator, count: int, cut: float) -> Real:
    """Smooth real Gaussian wander of unit variance up to about cut."""
    wander = shape(rng.normal(size=slots(count, 0.5 / cut)), count, lambda u: np.exp(-(4 * u**2))).real
    return wander / wander.std()


def voice(rng: Generator, count: int, low: float, high: float) -> Real:
    """Speech-like message between low and high: a gliding pitch, formants and syllables, within +-1."""
    pitch = low * rng.uniform(0.4, 0.8)
    phase = np.cumsum(pitch * (1 + 0.1 * drift(rng, count, pitch / 10)))
    source = np.exp(3 * np.cos(TAU * phase)) + rng.uniform(0.3, 2) * rng.normal(size=count)
    f = fft.rfftfreq(count)
    formants = np.sqrt(f) * (1.2 + np.cos(TAU * (rng.uniform(1, 3) * f / high + rng.random())))
    speech = fft.irfft(fft.rfft(source) * formants * ((f > low) & (f < high)), count)
    speech *= np.clip(0.7 + 0.3 * drift(rng, count, pitch / 8), 0.35, 1.2)
    return np.clip(speech / (2.2 * speech.std()), -1, 1)


def burst(rng: Generator, length: float, low: float = 0.3, high: float = 0.8) -> float:
    """A pulse repetition period for a pulse of this length, of plausible duty and with a gap below 250."""
    return length + min(length * (1 / rng.uniform(low, high) - 1), 250)


def barker(rng: Generator, count: int) -> Signal:
    """Barker-coded pulse train: pulse-compression radar, coherent or with magnetron phases."""
    code = np.array(list(rng.choice(["+++-+", "+++--+-", "+++---+--+-", "+++++--++-+-+"])))
    chip = rng.uniform(3, 10)
    period = max(len(code) + 2, round(burst(rng, len(code) * chip) / chip))
    chips = slots(count, chip)
    pulses = np.resize(np.pad(np.where(code == "+", 1.0, -1.0), (0, period - len(code))), chips)
    phases = rng.integers(2) * np.repeat(rng.random(chips // period + 1), period)[:chips]
    return unit(band(shape(pulses * turn(phases), count, np.sinc), min(0.55, 4 / chip)))


def costas(rng: Generator, count: int) -> Signal:
    """Pulses of tones hopped in a Welch-Costas order: low-probability-of-intercept radar and sonar."""
    prime, base = [(7, 3), (7, 5), (11, 2), (11, 6), (11, 7), (11, 8)][rng.integers(6)]
    order = np.array([pow(base, i, prime) for i in range(1, prime)])
    tone = (prime - 1) / rng.uniform(0.25, 0.5)
    length = tone * len(order)
    pulse, place = np.divmod(np.arange(count), burst(rng, length, 0.4))
    hop = order[np.minimum(place / tone, len(order) - 1).astype(int)] - prime / 2
    phases = rng.integers(2) * rng.random(int(pulse[-1]) + 1)
    return unit(band((place < length) * turn(hop * place / tone + phases[pulse.astype(int)]), 0.56))


def polytime(rng: Generator, count: int) -> Signal:
    """T2 polytime code, continuous wave: phase states held for unequal times, LPI radar."""
    states, segments = int(rng.integers(2, 4)), int(rng.integers(4, 7))
    period = segments**2 / rng.uniform(0.12, 0.35)
    place = np.arange(0, count, 0.25) / period % 1 * segments
    segment = np.floor(place)
    phase = np.floor((place - segment) * (2 * segment - segments + 1) * states / 2) / states
    return unit(band(turn(phase).reshape(count, 4).mean(1), 0.56))


def mcpc(rng: Generator, count: int) -> Signal:
    """Multicarrier phase-coded radar pulse (Levanon): one shifted P4 code on each of a few carriers."""
    order = int(rng.integers(4, 8))
    chip = (order + 1) / rng.uniform(0.25, 0.5)
    code = np.arange(order) ** 2 / (2 * order) - np.arange(order) / 2
    place = np.arange(count) % burst(rng, order * chip)
    index = np.minimum(place / chip, order - 1).astype(int)
    carriers = zip(raster(order, 1), rng.permutation(order), strict=True)
    waves = [turn(k * place / chip + np.roll(code, s)[index]) for k, s in carriers]
    return unit(band(np.sum(waves, 0) * (place < order * chip), 0.56))


def loran(rng: Generator, count: int) -> Signal:
    """Loran-C chain: groups of eight phase-coded t^2 exp(-t) pulses from a master and its secondaries."""
    codes = ["++--+-+-0+", "+++++--+", "+--+++++0+", "+-+-++--"]
    stations = int(rng.integers(2, 5))
    gains = rng.uniform(0.5, 1, stations) * turn(rng.random(stations))
    pads = rng.integers(1, 3, stations)
    chain = [
        gain * "-0+".index(c) - gain
        for half in (0, 2)
        for k, (gain, pad) in enumerate(zip(gains, pads, strict=True))
        for c in codes[half + (k > 0)] + pad * "0"
    ]
    pulses = np.resize(np.array(chain), slots(count, rng.uniform(30, 80)))
    return unit(band(shape(pulses, count, lambda u: 1 / (2 / 0.065 + 1j * TAU * u) ** 3), 0.56))


def vsb_data(rng: Generator, count: int) -> Signal:
    """Digital vestigial sideband with a pilot: 8-VSB of ATSC television, and its 4- and 16-level modes."""
    levels = int(rng.choice([4, 8, 16]))
    symbols = slots(count, 0.5 / rng.uniform(0.1, 0.5))
    data = pam(rng, levels, symbols) + 0.18 * levels * rng.uniform(0.7, 1.2)
    skirt = rng.uniform(0.025, 0.05)
    wave = shape(data, count, lambda u: root(u - 0.25, 0.25, skirt))
    return unit(wave * turn(-symbols / 4 * np.arange(count) / count))


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
    sound = turn(1.1 * width * n + np.cumsum(0.02 * width * drift(rng, count, 0.01 * width)))
    return unit((picture + rng.uniform(0.2, 0.35) * sound) * turn(-0.5 * width * n))


def fdm_telegraph(rng: Generator, count: int, channels: int, width: float) -> Wave:
    """Side-by-side slow FSK channels filling width, as on a voice-frequency telegraph bearer."""
    spacing = width / channels
    samples = slots(count, 0.5 / spacing)
    ticks = np.arange(samples) / 4.8 + rng.random((channels, 1))
    keys = np.take_along_axis(pam(rng, 2, (channels, int(ticks.max()) + 1)), ticks.astype(int), 1)
    rows = turn(np.cumsum(keys / 8, 1) + rng.random((channels, 1)))
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
        upper = unit(tones * turn((high + low) / 2 * n))
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
    return unit(band((1 + rng.uniform(0.6, 0.95) * total) * turn(swing), 0.56))


def fdm_ssb(rng: Generator, count: int) -> Signal:
    """Carrier-telephone group: single-sideband speech channels on a 4 kHz raster, some inverted whole."""
    channels, width, side = int(rng.integers(4, 13)), rng.uniform(0.2, 0.55), rng.choice([-1, 1])
    spacing = width / channels
    samples = slots(count, 0.5 / spacing)
    rows = np.array([rng.uniform(0.5, 1) * voice(rng, samples, 0.0375, 0.425) for _ in range(channels)])
    edges = np.arange(channels) * spacing - width / 2 + (side < 0) * spacing
    pilot = rng.choice([0, 0.1]) * turn(rng.choice(edges) * np.arange(count))
    return unit(unit(shape(rows, count, lambda u: side * u > 0, edges, 0.5)) + pilot)


def throb(rng: Generator, count: int) -> Signal:
    """Two or three tones of a set keyed at once in soft pulses: Throb, R2 and DTMF signalling."""
    tones, width = int(rng.integers(5, 10)), rng.uniform(0.15, 0.45)
    spacing, n = width / tones, np.arange(count)
    symbol, place = np.divmod(n / (rng.uniform(2, 4) / spacing), 1)
    chosen = rng.random((int(symbol[-1]) + 1, tones)).argsort(1)[symbol.astype(int), : rng.integers(2, 4)]
    keyed = turn((chosen - (tones - 1) / 2) * spacing * n[:, None]).sum(1)
    return unit(keyed * np.sin(np.pi * place) ** rng.uniform(0.5, 2))


def fhss(rng: Generator, count: int) -> Signal:
    """Frequency hopping with phase-keyed data in each short dwell: anti-jam military links."""
    channels, width = int(rng.integers(6, 17)), rng.uniform(0.3, 0.52)
    spacing, dwell, n = width / channels, rng.uniform(60, 220), np.arange(count)
    hop, place = np.divmod(n, dwell)
    tune = rng.choice(raster(channels, spacing), int(hop[-1]) + 1)[hop.astype(int)]
    data = qam(rng, 2, slots(count, rng.uniform(1.3, 1.8) / spacing))
    ramp = np.clip(np.minimum(place, dwell - place) / rng.uniform(2, 8), 0, 1)
    return unit(band(rrc(data if rng.integers(2) else data.real, count, 0.35) * turn(tune * n) * ramp, 0.57))


def link16(rng: Generator, count: int) -> Signal:
    """Link 16 / JTIDS: pulses of 32 MSK chips, half the time on, each on another frequency."""
    chip = rng.uniform(5.5, 8.5)
    pulse, place = np.divmod(np.arange(count) / chip, 65)
    pulse, index = pulse.astype(int), np.minimum(place, 31).astype(int)
    keys = pam(rng, 2, (pulse[-1] + 1, 32))
    phase = (np.cumsum(keys, 1) - keys)[pulse, index] + keys[pulse, index] * (place - index)
    top = int((0.28 - 0.6 / chip) * chip / 0.6)
    tune = rng.integers(-top, top + 1, pulse[-1] + 1)[pulse] * 0.6
    return unit(band((place < 32) * turn(phase / 4 + tune * place + rng.random(pulse[-1] + 1)[pulse]), 0.57))


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


def fbmc(rng: Generator, count: int) -> Signal:
    """Filter-bank multicarrier with offset QAM (Saltzberg's SMT): overlapping pulses and no cyclic prefix."""
    carriers, width, levels = int(rng.integers(8, 49)), rng.uniform(0.2, 0.55), int(rng.choice([2, 4]))
    spacing = width / carriers
    symbols = slots(count, 0.5 / spacing)
    stagger = 1j ** (np.arange(carriers)[:, None] + np.arange(symbols))
    rows = stagger * pam(rng, levels, (carriers, symbols))
    centres = raster(carriers, spacing)
    return unit(shape(rows, count, lambda u: np.cos(np.pi * u), centres, 0.5))


def teds(rng: Generator, count: int) -> Signal:
    """A few separately filtered QAM subcarriers side by side: TETRA TEDS, iDEN M-16QAM, FDMDV."""
    carriers, width, side = int(rng.integers(3, 17)), rng.uniform(0.15, 0.5), int(rng.choice([2, 4, 8]))
    spacing, rolloff = width / carriers, rng.uniform(0.1, 0.3)
    rows = qam(rng, side, (carriers, slots(count, rng.uniform(1.1, 1.3) / spacing)))
    centres = raster(carriers, spacing)
    return unit(shape(rows, count, lambda u: root(u, 0.5, rolloff / 2), centres, 0.7))


def qpr(rng: Generator, count: int) -> Signal:
    """Quadrature partial response, duobinary or modified: 9- and 49-QPR digital microwave radio."""
    symbols = slots(count, 1 / rng.uniform(0.1, 0.55))
    pulse: Response = (lambda u: np.cos(np.pi * u)) if rng.integers(2) else (lambda u: 1j * np.sin(TAU * u))
    return unit(shape(qam(rng, int(rng.choice([2, 4])), symbols), count, pulse, reach=0.5))


def q2psk(rng: Generator, count: int) -> Signal:
    """Quadrature-quadrature PSK (Saha and Birdsall): four bits on two pulse shapes and two carrier phases."""
    width = rng.uniform(0.1, 0.4)
    data = qam(rng, 2, (2, slots(count, 2.4 / width)))
    wave = shape(data[0], count, lambda u: np.sinc(u - 0.5) + np.sinc(u + 0.5))
    wave += shape(data[1], count, lambda u: 1j * (np.sinc(u + 0.5) - np.sinc(u - 0.5)))
    return unit(band(wave, 1.4 * width))


def fqam(rng: Generator, count: int) -> Signal:
    """FQAM: each symbol picks one orthogonal tone and a QAM point on it (cell-edge 5G proposal)."""
    tones, width = int(rng.choice([2, 4, 8])), rng.uniform(0.15, 0.45)
    symbols = slots(count, (tones + 1) / width)
    chosen, data = rng.integers(tones, size=symbols), qam(rng, int(rng.choice([2, 4])), symbols)
    waves = [
        shape(data * (chosen == k), count, lambda u, f=f: np.sinc(u - f))
        for k, f in enumerate(raster(tones, 1))
    ]
    return unit(band(np.sum(waves, 0), 1.25 * width))


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
    subcarrier = turn((np.arange(codes.shape[1]) + 0.5) / 8)
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
        turn(rng.integers(order, size=slots(count, 1 / speed)) / order)
        for order, speed in zip(rng.choice([4, 8], 2), (rate, rate * rng.uniform(0.6, 1)), strict=True)
    ]
    waves = [unit(rrc(row, count, rng.uniform(0.2, 0.35))) for row in rows]
    shift = turn(rng.uniform(-0.05, 0.05) * rate * np.arange(count) + rng.random())
    return unit(np.roll(waves[0], rng.integers(9)) + 10 ** rng.uniform(-0.2, 0) * waves[1] * shift)


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
    return unit(sum((turn(f * np.arange(count) + p) for f, p in lines), np.zeros(count, complex)))


def smps(rng: Generator, count: int) -> Signal:
    """Switched-mode power supply: damped ringing from both edges of every jittered switching cycle."""
    period, top = rng.uniform(50, 160), rng.uniform(0.05, 0.2)
    cycles = np.arange(int(count / period) + 1)
    wave = np.zeros(count, complex)
    for edge, ring in ((0.05, top), (rng.uniform(0.3, 0.7), -top * rng.uniform(0.4, 1))):
        jitter = rng.uniform(0.005, 0.04) * rng.normal(size=len(cycles))
        times = np.clip((cycles + edge + jitter) * period, 0, count - 1).astype(int)
        kicks = np.bincount(times, minlength=count) * rng.uniform(0.6, 1) * turn(rng.random())
        pole = cmath.exp(-1 / (period * rng.uniform(0.1, 0.3)) + 1j * TAU * ring)
        wave += signal.lfilter([1], [1, -pole], kicks)
    return unit(band(wave, rng.uniform(0.45, 0.56)))


def gap_noise(rng: Generator, count: int) -> Signal:
    """Power-line sparking: random impulses of random strength and phase, denser at each mains peak."""
    width = rng.uniform(0.15, 0.5)
    mains = 1 + 0.8 * np.cos(TAU * np.arange(count) / rng.uniform(100, 250))
    hits = (rng.random(count) < width * rng.uniform(0.15, 0.4) * mains) * turn(rng.random(count))
    hits *= rng.lognormal(0, rng.uniform(0.3, 0.8), count)
    return unit(fft.ifft(fft.fft(hits) * np.exp(-((2.58 / width * fft.fftfreq(count)) ** 2))))


def inverter(rng: Generator, count: int) -> Signal:
    """Three-phase motor drive: the space vector of its pulse-width-modulated legs, as radiated at VLF."""
    carrier, n = rng.uniform(0.02, 0.07), np.arange(0, count, 0.5)
    legs = np.arange(3)[:, None] / 3
    duty = rng.uniform(0.4, 0.95) * np.cos(TAU * (carrier / rng.uniform(9, 30) * n - legs + rng.random()))
    switched = np.sign(duty - signal.sawtooth(TAU * carrier * n, rng.choice([0.5, 1.0])))
    return unit(band((turn(legs).T @ switched)[0].reshape(count, 2).mean(1), 0.56))


def noise_keying(rng: Generator, count: int) -> Signal:
    """Noise modulation: bits in the variance of a band-limited noise carrier (covert links, TherCom)."""
    width = rng.uniform(0.12, 0.5)
    noise = rng.normal(size=(2, slots(count, 1 / width)))
    bits = rng.integers(2, size=slots(count, rng.uniform(6, 20) / width))
    power = np.where(bits, 1, 10 ** -rng.uniform(0.7, 1.6))[np.arange(count) * len(bits) // count]
    return unit(band(rrc(noise[0] + 1j * noise[1], count, 0.1) * np.sqrt(power), 0.57))


NEWCOMERS: dict[str, Callable[[Generator, int], Signal]] = {
    "Barker radar": barker,
    "Costas radar": costas,
    "Polytime T2 radar": polytime,
    "MCPC radar": mcpc,
    "Loran-C": loran,
    "8-VSB": vsb_data,
    "Analogue TV": vsb_tv,
    "ISB": isb,
    "C-QUAM": cquam,
    "AM-FM stereo": am_fm,
    "FDM-SSB group": fdm_ssb,
    "VFT": vft,
    "Throb": throb,
    "FHSS": fhss,
    "Link 16": link16,
    "TH-UWB": th_uwb,
    "Hermite PSM": hermite,
    "FBMC-OQAM": fbmc,
    "TEDS": teds,
    "QPR": qpr,
    "Q2PSK": q2psk,
    "FQAM": fqam,
    "CDMA downlink": cdma,
    "CBOC": cboc,
    "AltBOC": altboc,
    "PCM/PSK/PM": pcm_psk_pm,
    "PCMA": pcma,
    "DCSK": dcsk,
    "Ikeda chaos": ikeda,
    "Comb jammer": comb,
    "SMPS": smps,
    "Gap noise": gap_noise,
    "PWM inverter": inverter,
    "Noise keying": noise_keying,
}
