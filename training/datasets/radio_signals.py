"""Labelled signals for the model `radio`: one emission each, as the front end gives it to the encoder.

An emission begins after a pause of noise and lasts until the front end has given enough of it. What the front
end does not find, or loses before that, is counted as missed and drawn again.

>>> make_signals(("OOK", "GMSK"), (2, 2), samples=512, conditions=Conditions(), seed=1).iq.shape
(4, 512)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from streaming.agc import normalise
from streaming.band.frontend import Band, Piece
from streaming.block import Block, Samples
from streaming.errors import InputError
from training.datasets.emissions import FRONT_END
from training.datasets.frames import Frames
from training.datasets.narrow import RATE_HZ
from training.progress import Progress
from training.signals.classes import NOISE, check_class
from training.signals.conditions import Conditions
from training.signals.emission import Emission
from training.signals.stream import Part, Stream

PAUSE = (4_096, 16_384)  # samples of noise before an emission
CHUNK = 8_192
LONGEST = 300_000  # samples: what did not give enough by then is missed
TRIES = 20  # emissions in a row that may be missed


@dataclass(frozen=True)
class Signals(Frames):
    """Signals (n, samples) at the model's rate and level, each from its beginning; and what was missed."""

    missed: NDArray[np.int64]  # (n,), emissions of the class that were tried before


def make_signals(
    classes: Sequence[str], counts: Sequence[int], *, samples: int, conditions: Conditions, seed: int
) -> Signals:
    """Signals with these class counts, in random order; the same seed gives the same."""
    for name in classes:
        check_class(name)
    label = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    iq = np.empty((len(label), samples), np.complex64)
    snr_db = np.empty(len(label), np.float32)
    missed = np.zeros(len(label), np.int64)
    with Progress("making signals", len(label)) as progress:
        for i, index in enumerate(label.tolist()):
            draw = partial(Emission, classes[index], conditions)
            iq[i], emission, missed[i] = first_found(draw, samples, conditions, seed, i)
            snr_db[i] = emission.snr_db
            progress.to(i + 1)
    return Signals(iq, label, snr_db, tuple(classes), missed)


def first_found(
    draw: Callable[[np.random.Generator], Emission], samples: int, conditions: Conditions, seed: int, i: int
) -> tuple[Samples, Emission, int]:
    """The i-th signal, the emission that it is of, and how many were missed before."""
    for attempt in range(TRIES):
        emission = draw(np.random.default_rng([seed, i, attempt]))
        found = through(emission, samples, conditions, seed=seed + 7919 * i + attempt)
        if found is not None:
            return found, emission, attempt
    raise InputError(f"{TRIES} emissions of {emission.name} in a row gave no signal")


def through(emission: Emission, samples: int, conditions: Conditions, seed: int) -> Samples | None:
    """The first samples of this emission's longest-lived signal behind the front end."""
    rng = np.random.default_rng([seed, 5])
    pause = int(rng.integers(*PAUSE))
    plan = chain([Part(Emission(NOISE, conditions, rng), pause)], repeat(Part(emission, LONGEST), 1))
    stream, front, index = Stream(plan, conditions, seed), Band(FRONT_END), 0
    held = dict[int, list[Samples]]()
    while len(heard := stream.next(CHUNK)):
        for item in front.push(Block(heard, index, RATE_HZ)):
            if isinstance(item, Piece):
                held[item.track] = [*([] if item.begins else held[item.track]), item.samples]
        index += len(heard)
        for parts in held.values():
            if sum(map(len, parts)) >= samples:
                return normalise(np.concatenate(parts)[:samples])
    return None
