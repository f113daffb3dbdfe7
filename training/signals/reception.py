"""The receiver: what the air and cheap hardware make of emissions.

    x = echoes(emission) + neighbours + noise
    y = converter(image(gain(floor's shape(x) + spurs)) + DC), sometimes filtered once more before it is saved

`receive` draws the faults of one receiver; `Faults` has the share of receivers with each of them.

>>> one = draw("QPSK", np.random.default_rng(1), samples=8192)
>>> receive(one, np.random.default_rng(2), snr_db=20.0).shape
(8192,)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streaming.block import Samples
from training.signals import faults as fault
from training.signals.classes import NOISE, log_uniform
from training.signals.fading import Fading
from training.signals.phasor import phasor
from training.signals.wide import Emitted, draw

REFERENCE = 1 / 256  # narrowest band, as a part of the rate, that an SNR is stated for


@dataclass(frozen=True)
class Faults:
    """Shares of receivers with a fault."""

    fading: float = 0.4
    beat: float = 0.12  # a steady carrier within the emission's band
    impulses: float = 0.08  # of ignitions and switched supplies
    shape: float = 0.5  # a floor that is not flat
    spurs: float = 0.3
    gain_steps: float = 0.05
    agc: float = 0.12
    saturation: float = 0.12
    image: float = 0.7
    dc: float = 0.6
    converter: float = 0.85  # one whose steps may show
    channel: float = 0.12  # filtered before it was saved: the floor beside it is false
    audio: float = 0.05  # through an SSB receiver's audio; only where the emission lies above zero


IDEAL = Faults(*[0.0] * 13)
TYPICAL = Faults()


def receive(
    emitted: Emitted,
    rng: np.random.Generator,
    snr_db: float,
    neighbours: Sequence[tuple[Emitted, float]] = (),
    faults: Faults = TYPICAL,
) -> Samples:
    """What a receiver delivers: the emission at this SNR in its occupied band, neighbours at theirs.

    The noise has unit power before any gain; `emitted` remains true of what is received.
    """
    x, n = at_level(emitted, snr_db), len(emitted.samples)
    there = emitted.name != NOISE
    if there and rng.random() < faults.fading:
        x = faded(rng, x, emitted)
    if there and rng.random() < faults.beat:
        x = x + beat(rng, emitted, snr_db)
    for other, other_db in neighbours:
        x = x + at_level(other, other_db)
    x = x + rng.standard_normal(2 * n, dtype=np.float32).view(np.complex64) * np.float32(np.sqrt(0.5))
    x = converted(rng, tuned(rng, x, faults), faults)
    lower, upper = emitted.lower_hz / emitted.rate_hz, emitted.upper_hz / emitted.rate_hz
    if there and rng.random() < faults.channel:
        x = fault.through(x, fault.channel(rng, n, lower, upper))
    if there and lower > 0 and rng.random() < faults.audio:
        x = fault.audio(rng, x, lower, upper)
    return np.ascontiguousarray(x, np.complex64)


def tuned(rng: np.random.Generator, x: Samples, faults: Faults) -> Samples:
    """Behind the tuner: clicks, the filter's shape, spurs, gain."""
    if rng.random() < faults.impulses:
        x = x + fault.impulses(rng, len(x))
    if rng.random() < faults.shape:
        x = fault.through(x, fault.floor_shape(rng, len(x)))
    if rng.random() < faults.spurs:
        x = x + fault.spurs(rng, len(x))
    if rng.random() < faults.gain_steps:
        x = x * fault.gain_steps(rng, len(x))
    if rng.random() < faults.agc:
        x = x * fault.pumping(rng, x)
    return x


def converted(rng: np.random.Generator, x: Samples, faults: Faults) -> Samples:
    """Behind the mixer and the converter: level, image, direct current, steps, clipping."""
    saturated = rng.random() < faults.saturation
    x = fault.levelled(x, rng.uniform(-20, 3) if saturated else rng.uniform(8, 36))
    if rng.random() < faults.image:
        x = fault.imaged(x, rng.uniform(-50, -25), rng.random())
    if rng.random() < faults.dc:
        x = x + np.complex64(log_uniform(rng, 1e-3, 3e-2) * np.exp(2j * np.pi * rng.random()))
    if rng.random() < faults.converter:
        return fault.converted(x, int(rng.choice([8, 8, 8, 12, 14, 16])))
    return fault.converted(x, 16) if saturated else x


def at_level(emitted: Emitted, snr_db: float) -> Samples:
    """Scaled for this SNR in the occupied band, over noise of unit power in the whole."""
    width = max((emitted.upper_hz - emitted.lower_hz) / emitted.rate_hz, REFERENCE)
    return emitted.samples * np.float32(np.sqrt(10 ** (snr_db / 10) * width))


def beat(rng: np.random.Generator, emitted: Emitted, snr_db: float) -> Samples:
    """A spur, a leaking oscillator or another sender's carrier, 8 to 30 dB below the emission."""
    width = max((emitted.upper_hz - emitted.lower_hz) / emitted.rate_hz, REFERENCE)
    level = np.float32(np.sqrt(10 ** ((snr_db - rng.uniform(8, 30)) / 10) * width))
    place = rng.uniform(emitted.lower_hz, emitted.upper_hz) / emitted.rate_hz
    return level * phasor(place * np.arange(float(len(emitted.samples))) + rng.random())


def faded(rng: np.random.Generator, x: Samples, emitted: Emitted) -> Samples:
    """Through one to three paths, up to 0.6 of the bandwidth's inverse apart, at the power it had."""
    width = max((emitted.upper_hz - emitted.lower_hz) / emitted.rate_hz, REFERENCE)
    spread = max(1, int(rng.uniform(0, 0.6) / width))
    rician = 10 ** rng.uniform(0.3, 2) if rng.random() < 0.7 else 0.0
    doppler = log_uniform(rng, 1e-3, 1) / len(x)  # up to a fade per excerpt
    out = Fading(int(rng.integers(1, 4)), min(spread, 256), rician, doppler, rng).push(x)
    return out * np.float32(np.sqrt(np.vdot(x, x).real / (np.vdot(out, out).real + 1e-20)))


def draw_neighbours(
    rng: np.random.Generator, emitted: Emitted, classes: Sequence[str]
) -> list[tuple[Emitted, float]]:
    """One to three emissions beside this one, none of them over it, of -5 to 45 dB."""
    out = list[tuple[Emitted, float]]()
    edge = 0.48 * emitted.rate_hz
    for name in rng.choice(list(classes), int(rng.integers(1, 4))):
        other = draw(str(name), rng, emitted.rate_hz, len(emitted.samples), offset_hz=0.0)
        rooms = [
            (-edge - other.lower_hz, emitted.lower_hz - other.upper_hz),
            (emitted.upper_hz - other.lower_hz, edge - other.upper_hz),
        ]
        rooms = [(low, high) for low, high in rooms if low < high]
        if rooms:
            low, high = rooms[int(rng.integers(len(rooms)))]
            out.append((other.moved(float(rng.uniform(low, high))), float(rng.uniform(-5, 45))))
    return out
