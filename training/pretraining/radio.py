"""The stations that the model `radio` is pretrained by, and what each of them hears.

A station's unlabelled frames are cut from what the front end finds of the emissions it hears: receivers with
their faults, bursts, wrong bandwidths and missed beginnings included. No label is looked at.

>>> from dataclasses import replace
>>> station_frames(replace(STATIONS[0], frames=4), seed=1).shape
(4, 2048)
"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

import numpy as np

from streaming.agc import normalise
from streaming.band.frontend import Band, Piece
from streaming.block import Block, Samples
from streaming.errors import ConfigError
from streaming.files import write_whole
from training.datasets.emissions import FRONT_END, HEARD, whole_evidence
from training.signals.classes import FAMILIES, check_class

FRAMES_A_SIGNAL = 2  # at most: many signals teach more than many frames of one


@dataclass(frozen=True)
class Station:
    """A receiver at one place: mostly its own classes, and some of all."""

    name: str
    own: tuple[str, ...]
    share: float = 0.7  # of the emissions that are of its own classes
    frames: int = 6_000
    samples: int = 2_048  # a frame

    def __post_init__(self) -> None:
        for name in self.own:
            check_class(name)
        if not 0 <= self.share <= 1 or self.frames < 1 or self.samples < 2:
            raise ConfigError(
                f"station {self.name}: share {self.share}, frames {self.frames}, samples {self.samples}; "
                "expected 0 to 1, at least 1 and at least 2"
            )

    @property
    def unlabelled(self) -> tuple[int, ...]:
        """Its frames, as the weight of its update counts them."""
        return (self.frames,)


def of_families(*families: str) -> tuple[str, ...]:
    """The classes of these families."""
    return tuple(name for name in HEARD if FAMILIES[name] in families)


STATIONS = (
    Station("ism", of_families("ASK", "FSK", "chirp", "carrier")),
    Station("links", of_families("PSK", "QAM")),
    Station("voice", of_families("AM", "FM", "carrier", "FSK")),
    Station("broadband", of_families("QAM", "OFDM", "chirp", "PSK", "FM")),
)


def station_frames(station: Station, seed: int) -> Samples:
    """The station's unlabelled frames (frames, samples) at unit power; the same seed gives the same."""
    out = np.empty((station.frames, station.samples), np.complex64)
    names, have = mixture(station), 0
    for number in count():
        rng = np.random.default_rng([seed, number])
        made = whole_evidence(names[int(rng.integers(len(names)))], rng)
        signal = normalise(made[0]) if made else out[0, :0]
        cut = min(len(signal) // station.samples, FRAMES_A_SIGNAL, station.frames - have)
        out[have : have + cut] = signal[-cut * station.samples :].reshape(cut, -1) if cut else 0
        have += cut
        if have == station.frames:
            break
    return np.asarray(out[np.random.default_rng([seed, 4]).permutation(len(out))])


def kept_frames(station: Station, seed: int, folder: Path | None) -> Samples:
    """The station's unlabelled frames, made once and kept in the run's folder."""
    if folder is None:
        return station_frames(station, seed)
    path = folder / f"{station.name}-frames.npy"
    if not path.exists():
        raw = io.BytesIO()
        np.save(raw, station_frames(station, seed))
        write_whole(path, raw.getvalue())
    return np.asarray(np.load(path, allow_pickle=False))


def mixture(station: Station, size: int = 1_000) -> list[str]:
    """Class names, each as often as the station hears it in this many emissions."""
    own = [station.own[i % len(station.own)] for i in range(round(station.share * size))]
    return own + [HEARD[i % len(HEARD)] for i in range(size - len(own))]


def signals(blocks: Iterable[Block]) -> Iterator[Samples]:
    """What the front end finds in a stream: the samples of one track after the other, at unit power."""
    band, held = Band(FRONT_END), dict[int, list[Samples]]()
    for block in chain(blocks, [None]):
        for item in band.flush() if block is None else band.push(block):
            if not isinstance(item, Piece):
                continue
            if item.begins:
                held[item.track] = []
            held[item.track].append(item.samples)
            if item.ends and len(samples := np.concatenate(held.pop(item.track))):
                yield normalise(samples)
