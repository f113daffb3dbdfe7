"""The likelihood limit of a synthetic client: the accuracy that no classifier can beat, and its error.

The best answer is right with the probability of the likeliest class, so the limit is a mean of largest
posteriors (Rao and Blackwell), which scatters far less than right answers that are counted:

    limit = E[max_c p(c | r)]

SNRs are drawn evenly, so many frames from each narrow range, and the same mean with all parameters known,
which costs a thousandth and can be had from very many frames, serves as a control variate: only what the
unknown parameters cost is left to scatter.

>>> limit_of(Signal(snr_db=(5.0, 10.0)), (1, 1, 1, 1), frames=28).share > 0.9
True
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from training.datasets.augment import Level
from training.datasets.synthetic import Client, Signal, make_frames, scaled
from training.evaluation.accuracy import Accuracy, mean_share
from training.evaluation.likelihood import known_posteriors, posteriors
from training.evaluation.quadrature import Real

SEED = 2_024  # one for all tables and documents: a limit is a number, not a draw
TITLES: dict[Level, str] = {"raw": "likelihood limit", "rms": "likelihood limit, level-free"}
Counts = NDArray[np.int64]
FRAMES, FRAMES_CFO = 560, 280  # a client; those with any carrier offset take twenty times as long
RANGES, FEWEST = 20, 14  # of SNR, and frames in one of them
KNOWN = 40  # times as many frames for the control variate


@dataclass(frozen=True)
class Limit:
    """Of one client."""

    ranges: tuple[tuple[float, float, float], ...]  # middle in dB, share, standard error
    confusion: Counts  # (classes, classes) of the frames looked at, truth down, answers across
    refused: float = 0.0  # the best answer is always given

    @property
    def share(self) -> float:
        """Right answers of the best classifier, between 0 and 1."""
        return float(np.mean([share for _, share, _ in self.ranges]))

    @property
    def error(self) -> float:
        """Standard error of the share."""
        return float(np.sqrt(np.sum([error**2 for _, _, error in self.ranges])) / len(self.ranges))

    @property
    def accuracy(self) -> Accuracy:
        """As many right answers as would have to be counted for the same error."""
        return counted(self.share, self.error)


@dataclass(frozen=True)
class LimitRow:
    """The limit of all clients, beside the rows of `training.evaluation.evaluate`."""

    name: str
    classes: tuple[str, ...]
    clients: dict[str, Limit]

    @property
    def mean(self) -> tuple[float, float]:
        """The clients' mean limit, and half the width of its 95 % interval."""
        return mean_share([limit.accuracy for limit in self.clients.values()])

    def by_snr(self) -> list[tuple[float, Accuracy]]:
        """The middle of each range of SNRs in dB, and the mean limit there of the clients that have it."""
        found: dict[float, list[tuple[float, float]]] = {}
        for limit in self.clients.values():
            for middle, share, error in limit.ranges:
                found.setdefault(round(middle, 3), []).append((share, error))
        return [
            (middle, counted(np.mean(parts, 0)[0], float(np.linalg.norm(parts, axis=0)[1]) / len(parts)))
            for middle, parts in sorted(found.items())
        ]

    def confusion(self) -> Counts:
        """Counts over all clients."""
        return np.asarray(np.sum([limit.confusion for limit in self.clients.values()], 0), np.int64)


def limit_row(clients: Sequence[Client], level: Level = "raw", frames: int | None = None) -> LimitRow:
    """The limit where frames keep their level, or where each is divided by its RMS."""
    limits = {  # a seed of its own for each client: their errors must not go the same way
        client.name: limit_of(client.signal, client.labelled, level, frames, SEED + number)
        for number, client in enumerate(clients)
    }
    return LimitRow(TITLES[level], clients[0].signal.classes, limits)


def counted(share: float, error: float) -> Accuracy:
    """The binomial count with this share and standard error."""
    share = min(share, 1.0)
    total = int(np.ceil(share * (1 - share) / max(error, 1e-6) ** 2)) + 1
    return Accuracy(round(share * total), total)


def regression(x: Sequence[Real], y: Sequence[Real]) -> float:
    """The slope of y over x within groups."""
    across = sum(float(((a - a.mean()) * (b - b.mean())).sum()) for a, b in zip(x, y, strict=True))
    along = sum(float(((a - a.mean()) ** 2).sum()) for a in x)
    return across / along if along else 0.0


def word(seed: int, part: int, purpose: int) -> int:
    """The seed of one draw."""
    return int(np.random.SeedSequence([seed, part, purpose]).generate_state(1, np.uint64)[0])


def limit_of(
    signal: Signal,
    priors: Sequence[int],
    level: Level = "raw",
    frames: int | None = None,
    seed: int = SEED,
) -> Limit:
    """The limit over all SNRs of a client, on about so many frames; by default as many as a minute allows."""
    wide = max(band.high - band.low for band in signal.cfo) > 1
    number = frames or (FRAMES_CFO if wide else FRAMES)
    ranges = max(1, min(RANGES, number // FEWEST))
    edges = np.linspace(*signal.snr_db, ranges + 1)
    drawn, known = [], []
    for i, (low, high) in enumerate(pairwise(edges.tolist())):
        narrow = replace(signal, snr_db=(low, high))
        drawn.append(make_frames(narrow, scaled(priors, number // ranges), word(seed, i, 0)))
        many = make_frames(narrow, scaled(priors, KNOWN * number // ranges), word(seed, i, 1))
        known.append(known_posteriors(signal, priors, many).max(1))
    control = [known_posteriors(signal, priors, few).max(1) for few in drawn]
    found = posteriors(signal, priors, np.concatenate([few.iq for few in drawn]), level)
    wanted = np.split(found.max(1), np.cumsum([len(few) for few in drawn])[:-1])
    slope = regression(control, wanted)
    parts = []
    for i in range(ranges):
        left = wanted[i] - slope * control[i]
        variance = left.var(ddof=1) / len(left) + slope**2 * known[i].var() / len(known[i])
        share, middle = left.mean() + slope * known[i].mean(), (edges[i] + edges[i + 1]) / 2
        parts.append((float(middle), float(share), float(np.sqrt(variance))))
    confusion = np.zeros((len(signal.classes),) * 2, np.int64)
    np.add.at(confusion, (np.concatenate([few.label for few in drawn]), found.argmax(1)), 1)
    return Limit(tuple(parts), confusion)
