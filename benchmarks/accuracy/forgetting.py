"""Changes of modulation that the front end cannot see, and the ways to forget the signal before them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from streaming.block import Block, Samples
from streaming.bundle import Bundle
from streaming.changes import Changes
from streaming.engine import Engine, Hops
from streaming.features import Features
from streaming.frontend import FrontEndSettings
from streaming.head import Head
from streaming.intake import Stretch, open_intake
from streaming.window import Window
from training.datasets.synthetic import constellation
from training.signals.classes import FAMILIES
from training.signals.conditions import Conditions
from training.signals.emission import Emission
from training.signals.stream import Part, Stream

RATE_HZ = 250e3
BEFORE, AFTER = 10_240, 8_192  # samples at the model's rate
RELAY = 4  # windows after which a state is old enough to take over

Labels = NDArray[np.int64]  # (hops,), of the window that ends with each hop; -1 where there is no answer


@dataclass(frozen=True)
class Trial:
    """A signal at the model's rate and level; `change` is where the other class begins."""

    names: tuple[str, str]
    samples: Samples
    change: float
    step: float  # source samples to one
    rate_hz: float


@dataclass(frozen=True)
class Heard:
    """A stretch of a signal, and what the encoder made of its hops."""

    samples: Samples
    hops: Hops

    def part(self, first: int, last: int | None = None) -> "Heard":
        """From one hop to another."""
        maximum, total = self.hops
        each = len(self.samples) // len(total)
        end = None if last is None else last * each
        return Heard(self.samples[first * each : end], Hops(maximum[first:last], total[first:last]))


def through(bundle: Bundle, x: Samples, change: int, names: tuple[str, str], rate_hz: float) -> Trial | None:
    """What the intake makes of it; None where the front end saw the change itself, or no signal."""
    intake = open_intake(bundle.meta.front_end)
    items = [*intake.push(Block(x, 0, rate_hz)), *intake.flush()]
    signals: list[list[Stretch]] = []
    for item in items:
        if isinstance(item, Stretch):
            if item.begins:
                signals.append([])
            signals[-1].append(item)
    for parts in signals:
        first, samples = parts[0], np.concatenate([part.samples for part in parts])
        at = (change - first.start) / first.step
        if at > BEFORE // 2 and len(samples) - at > AFTER // 2:
            return Trial(names, samples, at, first.step, rate_hz)
    return None


def on_the_air(bundle: Bundle, names: tuple[str, str], snr_db: float, seed: int) -> Trial | None:
    """Both classes with the same pulse, symbol rate and level, through receiver and front end."""
    conditions = Conditions(snr_db=(snr_db, snr_db), offset=0.0, multipath=0.0, imbalance_db=0.0, dc=0.0)
    first, second = (Emission(name, conditions, np.random.default_rng([seed, 7])) for name in names)
    second.scale *= np.sqrt(first.power / second.power)
    silence = Emission("noise", conditions, np.random.default_rng([seed, 8]))
    assert isinstance(bundle.meta.front_end, FrontEndSettings)
    step = bundle.meta.front_end.fraction / first.bandwidth
    before, after = round(BEFORE * step), round(AFTER * step)
    plan = [Part(silence, 50_000), Part(first, before), Part(second, after), Part(silence, 20_000)]
    x = Stream(iter(plan), conditions, seed).next(sum(part.samples for part in plan))
    return through(bundle, x, 50_000 + before, names, RATE_HZ)


def on_paper(bundle: Bundle, names: tuple[str, str], snr_db: float, seed: int) -> Trial | None:
    """The paper's signal: one sample per symbol, a small offset, noise."""
    rng = np.random.default_rng([seed, 9])
    symbols = [
        rng.choice(constellation(name), count) for name, count in zip(names, (BEFORE, AFTER), strict=True)
    ]
    phase = rng.uniform(0, 1 / 32) + 1e-4 * np.arange(BEFORE + AFTER)
    noise = rng.standard_normal((BEFORE + AFTER, 2)) @ [1, 1j] * np.sqrt(10 ** (-snr_db / 10) / 2)
    x = (np.concatenate(symbols) * np.exp(2j * np.pi * phase) + noise).astype(np.complex64)
    return through(bundle, x, BEFORE, names, RATE_HZ)


class Follower:
    """A model and the ways it may forget."""

    def __init__(self, bundle: Bundle, head: Head, engine: Engine) -> None:
        self.bundle, self.head, self.engine = bundle, head, engine
        self.hop, self.full = head.hop, head.window // head.hop
        self.group = np.arange(len(head.classes))  # of each class: answers within one are the same

    def by_family(self) -> None:
        """Count an answer as right where its family is."""
        families = [FAMILIES.get(name, name) for name in self.head.classes]
        self.group = np.array([families.index(family) for family in families])

    def encode(self, pieces: Sequence[Samples]) -> list[Heard]:
        """Each from an empty state, without an incomplete last hop."""
        pieces = [piece[: len(piece) // self.hop * self.hop] for piece in pieces]
        streams = [self.engine.stream() for _ in pieces]
        hops = self.engine.push(list(zip(streams, pieces, strict=True)))
        for stream in streams:
            stream.close()
        return [Heard(*pair) for pair in zip(pieces, hops, strict=True)]

    def labels(self, heard: Heard, growing: bool) -> Labels:
        """The class of each hop's window since the hops began; none before it is full, unless it may grow."""
        window = Window(self.bundle.encoder, self.hop, self.head.window)
        rows = window.push(heard.hops)
        if self.bundle.meta.has_features:
            features = Features(self.hop, self.head.window)
            rows = np.concatenate([rows, features.push(heard.samples)], 1)
        chosen = self.head.answer(rows)[0]
        found = np.where(chosen >= 0, self.group[chosen], -1)
        if not growing:
            found[: self.full - 1] = -1
        return found

    def changes(self, heard: Heard) -> list[int]:
        """The hops, counted from 1, at which the pipeline's detector says so."""
        return [1 + row for row in Changes(self.hop).push(heard.hops.total / self.hop)]


def as_is(model: Follower, trial: Trial, heard: Heard) -> Labels:
    """Nothing is forgotten."""
    return model.labels(heard, growing=False)


def cut(model: Follower, heard: Heard, at: Sequence[int]) -> Labels:
    """The window emptied at these hops; what is left of it grows again."""
    edges = [0, *at, len(heard.hops.total)]
    return np.concatenate([model.labels(heard.part(a, b), growing=a > 0) for a, b in pairwise(edges)])


def known_window(model: Follower, trial: Trial, heard: Heard) -> Labels:
    """The window emptied at the change."""
    return cut(model, heard, [round(trial.change / model.hop)])


def known_both(model: Follower, trial: Trial, heard: Heard) -> Labels:
    """Encoder and window emptied at the change."""
    at = round(trial.change / model.hop)
    (fresh,) = model.encode([trial.samples[at * model.hop :]])
    return np.concatenate([model.labels(heard, False)[:at], model.labels(fresh, True)])


def found_window(model: Follower, trial: Trial, heard: Heard) -> Labels:
    """The window emptied but for the newest hops, once a change is found."""
    labels, recent = model.labels(heard, False), Changes(model.hop).recent
    for at in model.changes(heard):
        labels[at - 1 :] = model.labels(heard.part(at - recent), True)[recent - 1 :]
    return labels


def found_both(model: Follower, trial: Trial, heard: Heard) -> Labels:
    """Encoder and window emptied once a change is found, and given the newest hops again."""
    labels, recent = model.labels(heard, False), Changes(model.hop).recent
    for at in model.changes(heard):
        (fresh,) = model.encode([trial.samples[(at - recent) * model.hop :]])
        labels[at - 1 :] = model.labels(fresh, True)[recent - 1 :]
    return labels


def relay(model: Follower, trial: Trial, heard: Heard) -> Labels:
    """A fresh state each RELAY windows; each answers from its RELAY-th window to its 2 RELAY-th."""
    labels, span = model.labels(heard, False), RELAY * model.full
    starts = list(range(span, len(labels) - span, span))
    ends = [(start + 2 * span) * model.hop for start in starts]
    pieces = [trial.samples[s * model.hop : e] for s, e in zip(starts, ends, strict=True)]
    for start, fresh in zip(starts, model.encode(pieces) if pieces else [], strict=True):
        late = model.labels(fresh, True)[span:]
        labels[start + span : start + span + len(late)] = late
    return labels


WAYS: dict[str, Callable[[Follower, Trial, Heard], Labels]] = {
    "nothing forgotten": as_is,
    "known, window": known_window,
    "known, encoder and window": known_both,
    "found, window": found_window,
    "found, encoder and window": found_both,
    "relay": relay,
}
