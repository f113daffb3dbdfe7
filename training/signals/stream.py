"""A stream: emissions in turn, through one receiver, with the truth about each.

>>> stream = Stream(in_turn(["QPSK", "noise", "GMSK"], 5_000, Conditions(), seed=1), Conditions(), seed=1)
>>> stream.next(12_000).shape, [(label.name, label.start, label.count) for label in stream.labels]
((12000,), [('QPSK', 0, 5000), ('noise', 5000, 5000), ('GMSK', 10000, 5000)])
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from streaming.block import Samples
from streaming.errors import ConfigError, InputError
from training.signals.classes import NOISE, check_class, log_uniform
from training.signals.conditions import Conditions
from training.signals.emission import SEGMENT, Emission
from training.signals.receiver import Receiver

RAMP = 16  # samples over which an emission begins and ends
SPUR = "spur"  # label of a tone that the receiver itself makes


@dataclass(frozen=True)
class Part:
    """An emission on the air for so many samples; the same emission may come back in a later part."""

    emission: Emission
    samples: int


@dataclass(frozen=True)
class Label:
    """The truth about samples [start, start + count); frequencies are in cycles per sample."""

    name: str
    start: int
    count: int
    snr_db: float  # in the occupied bandwidth; NaN for noise
    symbol_rate: float  # NaN where there are no symbols
    offset: float  # of the occupied band's centre
    bandwidth: float  # occupied, 99 %
    emission: int | None = None  # labels of one transmitter share it
    bursts: Sequence[tuple[int, int]] = ()  # begin and end of each, where it pauses


class Stream:
    """Endless if its plan is; `next` gives what the receiver hears, `labels` what was sent so far."""

    def __init__(
        self, plan: Iterator[Part], conditions: Conditions, seed: int, level: float | None = None
    ) -> None:
        """`level` is the strongest power to come, over the noise's; by default what the conditions allow."""
        strongest = 10 ** (conditions.snr_db[1] / 10) * 0.3
        rng = np.random.default_rng([seed, 1])
        self.receiver = Receiver(conditions, 1 + (strongest if level is None else level), rng)
        self.plan, self.labels = plan, list[Label]()
        self.part: Part | None = None
        self.done = 0  # samples of the part
        self.made = 0  # samples of the stream, asked for or not
        self.rest = np.empty(0, np.complex64)

    def next(self, count: int) -> Samples:
        """The next samples; fewer where the plan ends."""
        if count < 0:
            raise InputError(f"{count} samples were asked for; it must be at least 0")
        parts, have = [self.rest], len(self.rest)
        while have < count:
            segment = self._segment()
            if not len(segment):
                break
            parts.append(segment)
            have += len(segment)
        whole = np.concatenate(parts)
        self.rest = whole[count:]
        return whole[:count]

    def _segment(self) -> Samples:
        """Always SEGMENT samples, but for the last: the result does not depend on how much is asked for."""
        pieces, have = list[Samples](), 0
        while have < SEGMENT:
            if self.part is None or self.done == self.part.samples:
                self.part = next(self.plan, None)
                self.done = 0
                if self.part is None:
                    break
                self.labels.append(self._label(self.part, self.made + have))
            take = min(SEGMENT - have, self.part.samples - self.done)
            pieces.append(ramped(self.part.emission.next(take), self.done, self.part.samples))
            self.done += take
            have += take
        self.made += have
        return self.receiver.push(np.concatenate(pieces)) if have else self.rest[:0]

    def _label(self, part: Part, start: int) -> Label:
        e = part.emission
        return Label(e.name, start, part.samples, e.snr_db, e.symbol_rate, e.offset, e.bandwidth)


def ramped(x: Samples, done: int, total: int) -> Samples:
    """A stretch of a part, its first and last samples faded in and out: a hard switch would be a click."""
    ramp = min(RAMP, total // 2)
    if done >= ramp and done + len(x) <= total - ramp:
        return x
    at = done + np.arange(len(x))
    edge = np.clip((np.minimum(at, total - 1 - at) + 0.5) / ramp, 0, 1)
    return (x * np.sin(edge * np.pi / 2)).astype(np.complex64)


def in_turn(classes: Sequence[str], samples: int, conditions: Conditions, seed: int) -> Iterator[Part]:
    """Each class once, for so many samples."""
    if samples < 1:
        raise ConfigError(f"samples is {samples}; it must be at least 1")
    for name in classes:
        check_class(name)
    return (
        Part(Emission(name, conditions, np.random.default_rng([seed, 2, i])), samples)
        for i, name in enumerate(classes)
    )


def at_random(
    classes: Sequence[str],
    samples: tuple[int, int],
    conditions: Conditions,
    seed: int,
    bursts: float = 0.5,
) -> Iterator[Part]:
    """Endless: a class drawn evenly, for log-uniform(samples) samples, in one piece or in bursts.

    Bursts of one transmitter come with pauses of noise between them; otherwise one class follows the other at
    once, or after a pause.
    """
    for name in classes:
        check_class(name)
    rng = np.random.default_rng([seed, 3])
    silence = Emission(NOISE, conditions, rng)
    while True:
        emission = Emission(str(rng.choice(list(classes))), conditions, rng.spawn(1)[0])
        total = int(log_uniform(rng, *samples))
        times = int(rng.integers(2, 9)) if rng.random() < bursts else 1
        for _ in range(times):
            yield Part(emission, max(1, total // times))
            if times > 1:
                yield Part(silence, max(1, int(total / times * rng.uniform(0.2, 2))))
        if rng.random() < 0.5:
            yield Part(silence, int(log_uniform(rng, *samples)))
