"""Held-out emissions: what the model `radio` is judged on, one recording each, and their evidence.

    narrow   2 to 16 samples per symbol at 250 kS/s (`training.datasets.narrow`)
    wide     as wide as the air, through receivers with faults (`training.signals.wide`)

An emission lasts 0.25 s, longer where it would have less than 50 symbols. Its evidence is what the pipeline
has of it when the recording ends: the samples behind the last answer about it.

>>> recording = HeldOut("narrow", ("QPSK",), seed=1).make(0)
>>> samples, snr_db = evidence_of(recording)
>>> abs(snr_db - recording.snr_db) < 2
True
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from streaming.band.evidence import Evidence, Question
from streaming.band.frontend import Band, Piece
from streaming.block import Block, Samples
from training.datasets.emissions import FRONT_END, overlaps
from training.datasets.narrow import CONDITIONS, DURATION_S, Recording, on_stream
from training.signals.emission import Emission
from training.signals.reception import receive
from training.signals.wide import Emitted, draw

SYMBOLS = 50  # at least
MOST = 2**20  # samples of a recording: from 4.2 MS/s on it is shorter
TEST = 1_000_002  # second word of a seed: what the emissions are for

Kind = Literal["narrow", "wide"]


def narrow(name: str, rng: np.random.Generator) -> Recording:
    """An emission of this class with the settings of `training.signals.classes`."""
    return on_stream(Emission(name, CONDITIONS, rng), rng)


def wide(name: str, rng: np.random.Generator) -> Recording:
    """An emission of this class with the settings of `training.signals.emitters`."""
    emitted = long_enough(name, rng)
    while symbols(emitted) < SYMBOLS:  # most of it is pauses
        emitted = long_enough(name, rng)
    snr_db = float(rng.uniform(*CONDITIONS.snr_db))
    x = receive(emitted, rng, snr_db)
    return Recording(x, emitted.rate_hz, snr_db, emitted.lower_hz, emitted.upper_hz)


def long_enough(name: str, rng: np.random.Generator) -> Emitted:
    """An emission of 0.25 s and 50 symbols; drawn twice, since its rates are known only once it is drawn."""
    seed = int(rng.integers(2**63))
    short = draw(name, np.random.default_rng(seed))
    least_s = DURATION_S
    if not np.isnan(short.symbol_rate_hz):
        least_s = max(least_s, 1.2 * SYMBOLS / short.symbol_rate_hz)
    count = min(MOST, round(least_s * short.rate_hz))
    return draw(name, np.random.default_rng(seed), short.rate_hz, count)


def symbols(emitted: Emitted) -> float:
    """How many there are in its bursts; infinite where there is no such thing."""
    on = sum(end - begin for begin, end in emitted.bursts)
    rate_hz = emitted.symbol_rate_hz
    return np.inf if np.isnan(rate_hz) else on / emitted.rate_hz * rate_hz


KINDS: dict[Kind, Callable[[str, np.random.Generator], Recording]] = {"narrow": narrow, "wide": wide}


@dataclass(frozen=True)
class HeldOut:
    """Emissions of these classes in rotation; a process of its own can make each."""

    kind: Kind
    names: tuple[str, ...]
    seed: int
    purpose: int = TEST

    def make(self, i: int) -> Recording:
        """The i-th."""
        rng = np.random.default_rng([self.seed, self.purpose, i])
        return KINDS[self.kind](self.names[i % len(self.names)], rng)


def last_questions(blocks: Iterable[Block]) -> list[Question]:
    """The last question about each emission of a recording."""
    band, evidence, last = Band(FRONT_END), dict[int, Evidence](), dict[int, Question]()
    rate_hz = 0.0
    for block in [*blocks, None]:
        rate_hz = block.rate_hz if block else rate_hz
        for item in band.push(block) if block else band.flush():
            if isinstance(item, Piece):
                one = evidence.setdefault(item.emission, Evidence(item.emission))
                last.update((item.emission, question) for question in one.push(item, rate_hz))
    return list(last.values())


def energy(question: Question) -> float:
    """Power above the noise times duration, in samples of the source."""
    return float(10 ** (question.box.level_db / 10) * len(question.samples) * question.step)


def evidence_of(recording: Recording) -> tuple[Samples, float] | None:
    """The evidence of the emission with its SNR as measured, dB; None where it was not found."""
    block = Block(recording.samples, 0, recording.rate_hz)
    edges = recording.lower_hz, recording.upper_hz
    matching = [question for question in last_questions([block]) if overlaps(question.box, *edges)]
    if not matching:
        return None
    best = max(matching, key=energy)
    return best.samples, best.box.snr_db
