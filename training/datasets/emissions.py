"""Simulated emissions as the band front end finds them: what the model `radio` is trained on.

    draw (class, settings) -> receive (air, receiver, neighbours) -> Band (boxes with their errors) ->
    evidence

Evidence is that of the track that matches the emission best. Of what fills the band and is therefore not
found, any part of the band is taken. Noise is a class: what a receiver's own noise, shaped by its filters,
makes the front end find, and any part of it. An outlier is a signal of no class. A fifth of the emissions,
and half of the outliers, come from the generator of streams (`training.datasets.narrow`).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from streaming.band.bank import Bank, Channel
from streaming.band.box import Box
from streaming.band.frontend import Band, BandSettings, Piece
from streaming.block import Block, Samples
from streaming.features import MOST, SHORTEST
from training.datasets.narrow import CONDITIONS, on_stream
from training.signals.classes import CLASSES, NOISE, log_uniform
from training.signals.emission import Emission
from training.signals.emitters.waves import occupied
from training.signals.outliers import Outlier, make_outlier
from training.signals.reception import TYPICAL, receive
from training.signals.wide import Emitted, draw

FRONT_END = BandSettings()  # of the model `radio`
OUTLIER = "outlier"
HEARD = tuple(name for name in CLASSES if name != NOISE)
LENGTH = 2**14, 2**18  # samples of a recording, log-uniform
SNR_DB = (0.0, 45.0)
NEIGHBOUR = 0.15  # share of recordings with another emission in the band
PART_OF = 0.3  # share of labelled emissions of which a part is taken
NARROW, NARROW_OUTLIERS = 0.2, 0.5  # share of the generator of streams
CAPTURED = 0.7  # of an emission's power that a box must hold to be an example of its class
WHOLE = 0.5  # of its bandwidth, where its power is not known apart from the noise's
ANY_PART = ("OFDM", OUTLIER)  # of which any part looks alike
FILLED = 0.8  # of the band: an emission that may leave nothing to be told from
# What is on the air more often, and families of one class, are made more often.
OFTEN = (
    *CLASSES,
    *("OFDM", NOISE) * 3,
    *("OOK", "2FSK", "GFSK", "BPSK", "QPSK", "NBFM", "carrier", "chirp"),
    "4FSK",
)
WITHOUT_SPURS = replace(TYPICAL, spurs=0.0)  # a spur is a carrier
NOISE_RATES_HZ = (24e3, 48e3, 250e3, 1e6, 2.4e6)


@dataclass(frozen=True)
class Found:
    """What the front end found of one track, in hertz and samples at the model's rate."""

    samples: Samples
    box: Box
    step: float

    @property
    def energy(self) -> float:
        """Above the noise, in samples of the source."""
        share = 1 - 1 / (1 + 10 ** (self.box.snr_db / 10))
        return float(np.vdot(self.samples, self.samples).real) * self.step * share


def find(x: Samples, rate_hz: float) -> list[Found]:
    """The tracks of a recording, each from where its channel was last chosen."""
    band = Band(FRONT_END)
    tracks: dict[int, list[Piece]] = {}
    for item in [*band.push(Block(x, 0, rate_hz)), *band.flush()]:
        if isinstance(item, Piece):
            if item.begins:
                tracks[item.track] = []
            tracks[item.track].append(item)
    found = [
        Found(np.concatenate([piece.samples for piece in pieces]), pieces[-1].box, pieces[-1].step)
        for pieces in tracks.values()
    ]
    return [one for one in found if len(one.samples) >= SHORTEST]


def make_evidence(name: str, rng: np.random.Generator) -> tuple[Samples, float] | None:
    """The evidence of one emission of this class, or a part of it, with its SNR, dB; None: not found."""
    made = whole_evidence(name, rng)
    if made and rng.random() < PART_OF:
        return part(made[0], rng), made[1]
    return made


def whole_evidence(name: str, rng: np.random.Generator) -> tuple[Samples, float] | None:
    """All evidence of one emission of this class that counts with its SNR, dB; None: it was not found."""
    length = fft.next_fast_len(int(log_uniform(rng, *LENGTH)))
    if name == NOISE:
        return noise_evidence(rng, length)
    if rng.random() < (NARROW_OUTLIERS if name == OUTLIER else NARROW):
        return narrow_evidence(name, rng)
    emitted = outlier(rng, length) if name == OUTLIER else draw(name, rng, samples=length)
    others = [neighbour(rng, emitted)] if rng.random() < NEIGHBOUR else []
    clear = [(o, float(rng.uniform(0, 35))) for o in others if beside(o, emitted)]
    x = receive(emitted, rng, float(rng.uniform(*SNR_DB)), clear)
    edges = emitted.lower_hz, emitted.upper_hz
    matching = [one for one in find(x, emitted.rate_hz) if overlaps(one.box, *edges)]
    if matching and name not in ANY_PART:  # one tone of FSK is OOK: it must not be learnt as FSK
        power = np.square(np.abs(fft.fft(emitted.samples)))
        matching = [one for one in matching if captured(power, emitted.rate_hz, one.box) > CAPTURED]
    if matching:
        return strongest(matching)
    fills = edges[1] - edges[0] > FILLED * emitted.rate_hz
    return any_channel(x, rng) if fills and emitted.bursts == [(0, length)] else None


def narrow_evidence(name: str, rng: np.random.Generator) -> tuple[Samples, float] | None:
    """As `whole_evidence`, of an emission of the generator of streams."""
    modulator = make_outlier(HEARD, rng) if name == OUTLIER else None
    recording = on_stream(Emission(name, CONDITIONS, rng, modulator), rng)
    edges = recording.lower_hz, recording.upper_hz
    least = 0.0 if name in ANY_PART else WHOLE * (edges[1] - edges[0])
    found = find(recording.samples, recording.rate_hz)
    matching = [one for one in found if overlaps(one.box, *edges) and one.box.width >= least]
    return strongest(matching) if matching else None


def strongest(matching: list[Found]) -> tuple[Samples, float]:
    """The evidence of the strongest track, and its SNR, dB."""
    best = max(matching, key=lambda one: one.energy)
    return best.samples[-MOST:], best.box.snr_db


def part(samples: Samples, rng: np.random.Generator) -> Samples:
    """A part of the evidence, from its begin on or from anywhere."""
    if len(samples) <= 2 * SHORTEST:
        return samples
    count = int(log_uniform(rng, max(SHORTEST, min(512, len(samples) // 2)), len(samples)))
    first = int(rng.integers(0, len(samples) - count + 1)) if rng.random() < 0.6 else 0
    return samples[first : first + count]


def any_channel(x: Samples, rng: np.random.Generator) -> tuple[Samples, float] | None:
    """Any part of the band, as if the front end had found something there."""
    size = 1 << int(np.log2(len(x)))
    bank = Bank(size, 1)
    bank.push(x[: size // 2])
    bank.push(x[size // 2 : size])
    width = log_uniform(rng, 0.01, 0.9)
    place = rng.uniform(-0.5 + width / 2, 0.5 - width / 2)
    samples = Channel(bank, place, width, FRONT_END.fraction).read(0)
    return (samples[-MOST:], float(rng.uniform(-6, 3))) if len(samples) >= SHORTEST else None


def neighbour(rng: np.random.Generator, emitted: Emitted) -> Emitted:
    """Another emission in the same band."""
    name = HEARD[int(rng.integers(len(HEARD)))]
    return draw(name, rng, rate_hz=emitted.rate_hz, samples=len(emitted.samples))


def beside(one: Emitted, other: Emitted) -> bool:
    """Whether two emissions do not overlap in frequency."""
    return min(one.upper_hz, other.upper_hz) < max(one.lower_hz, other.lower_hz)


def overlaps(box: Box, lower_hz: float, upper_hz: float) -> bool:
    """Whether a box is of an emission with these edges, for the most part of the narrower one."""
    both = min(box.upper, upper_hz) - max(box.lower, lower_hz)
    return both > 0.3 * min(box.width, max(upper_hz - lower_hz, 1.0))


def captured(power: NDArray[np.float32], rate_hz: float, box: Box) -> float:
    """The share of a spectrum, as of `fft`, that lies within a box, a tenth wider to either side."""
    offset = fft.fftfreq(len(power)) * rate_hz - box.centre
    return float(power[np.abs(offset) <= 0.6 * box.width].sum() / power.sum())


def outlier(rng: np.random.Generator, length: int) -> Emitted:
    """An emission of no class."""
    rate_hz = float(rng.choice(NOISE_RATES_HZ))
    made: Outlier = make_outlier(HEARD, rng)
    x = made.make(length)
    x = x / np.float32(np.sqrt(np.vdot(x, x).real / len(x) + 1e-20))
    lower, upper = occupied(x)
    return Emitted(
        x, OUTLIER, OUTLIER, rate_hz, 0.0, lower * rate_hz, upper * rate_hz, np.nan, [(0, length)], "outlier"
    )


def noise_evidence(rng: np.random.Generator, length: int) -> tuple[Samples, float] | None:
    """A track that noise made, or any part of the band."""
    rate_hz = float(rng.choice(NOISE_RATES_HZ))
    x = receive(draw(NOISE, rng, samples=length, rate_hz=rate_hz), rng, 0.0, faults=WITHOUT_SPURS)
    if rng.random() < 0.3:
        x = channel_filtered(x, rng)
    tracks = find(x, rate_hz)
    if tracks and rng.random() < 0.7:
        one = tracks[int(rng.integers(len(tracks)))]
        return one.samples[-MOST:], one.box.snr_db
    return any_channel(x, rng)


def channel_filtered(x: Samples, rng: np.random.Generator) -> Samples:
    """Noise behind a channel filter, with a slope, over a false floor or digital silence."""
    f = fft.fftfreq(len(x))
    centre, width, edge = rng.uniform(-0.3, 0.3), rng.uniform(0.05, 0.6), rng.uniform(0.002, 0.1)
    slope_db = rng.uniform(-6, 6) * (f - centre) / width
    response = np.clip((width / 2 + edge - np.abs(f - centre)) / edge, 0, 1) * 10 ** (slope_db / 20)
    floor = 10 ** rng.uniform(-4, -1) * float(np.sqrt(np.mean(np.square(np.abs(x))))) * (rng.random() < 0.7)
    white = rng.standard_normal(2 * len(x), np.float32).view(np.complex64)
    return np.asarray(fft.ifft(fft.fft(x) * response) + floor * white, np.complex64)
