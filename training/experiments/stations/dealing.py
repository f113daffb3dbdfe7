"""Real recordings dealt to four stations: whole sources, so that no receiver and no device is at two of them.

Every station hears every second source that it was dealt, without labels but for a few, and is judged on the
others. A source has its rarest family: those of rare families are dealt first, as two of them must meet.
"""

import csv
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np

from streaming.errors import ConfigError
from training.signals.classes import FAMILIES

SETS = ("ota433", "air")
NAMES = ("remotes", "cells", "satellites", "meters")
SHARES = {  # of a family's sources, for each station
    "ASK": (4, 3, 2, 1),
    "FSK": (1, 2, 3, 4),
    "PSK": (1, 0, 1, 0),
    "OFDM": (0, 1, 0, 0),
}
ALIKE = (1, 1, 1, 1)  # of every other family, and of what has no label
SOURCES = ("source_repo", "device")  # columns


@dataclass(frozen=True)
class Recorded:
    """A recording, who made it, and the family of its signal; empty where that is not known."""

    path: Path
    source: str
    family: str


@dataclass(frozen=True)
class Dealt:
    """What one station has."""

    name: str
    heard: tuple[Recorded, ...]
    unseen: tuple[Recorded, ...]

    @property
    def families(self) -> tuple[str, ...]:
        """Those that it hears and is asked for."""
        heard, unseen = ({one.family for one in part} for part in (self.heard, self.unseen))
        return tuple(sorted((heard & unseen) - {""}))


def read_recordings(folder: Path) -> list[Recorded]:
    """Every recording of the sets in a folder; of two with the same samples, the first."""
    found: dict[str, Recorded] = {}
    for name in SETS:
        path = folder / name / "labels.csv"
        if not path.exists():
            raise ConfigError(f"there is no {path}; --data names a folder with {' and '.join(SETS)}")
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                source = next(row[column] for column in SOURCES if column in row)
                recording = path.parent / Path(row["file"]).name
                samples = recording.with_suffix(recording.suffix.replace("meta", "data")).read_bytes()
                family = FAMILIES[row["modulation"]] if row["modulation"] else ""
                one = Recorded(recording, f"{name}/{source}", family)
                found.setdefault(hashlib.sha256(samples).hexdigest(), one)
    return list(found.values())


def deal(recordings: Sequence[Recorded], seed: int) -> list[Dealt]:
    """The stations of this seed."""
    rng = np.random.default_rng([seed, 0])
    of_source: dict[str, set[str]] = {}
    for one in recordings:
        of_source.setdefault(one.source, set()).update({one.family} - {""})
    often = Counter(family for families in of_source.values() for family in families)
    heard: list[set[str]] = [set() for _ in NAMES]
    unseen: list[set[str]] = [set() for _ in NAMES]
    groups: dict[str, list[str]] = {}
    for source, families in sorted(of_source.items()):
        groups.setdefault(min(families, key=lambda family: often[family], default=""), []).append(source)
    for family, sources in sorted(groups.items()):
        shares = SHARES.get(family, ALIKE)
        edges = [round(len(sources) * part / sum(shares)) for part in accumulate(shares, initial=0)]
        order = [sources[i] for i in rng.permutation(len(sources))]
        for i in range(len(NAMES)):
            own = order[edges[i] : edges[i + 1]]
            heard[i] |= set(own[::2] if family in SHARES else own)
            unseen[i] |= set(own[1::2] if family in SHARES else ())
    return [
        Dealt(
            name,
            tuple(one for one in recordings if one.source in heard[i]),
            tuple(one for one in recordings if one.source in unseen[i]),
        )
        for i, name in enumerate(NAMES)
    ]


def link(recordings: Sequence[Recorded], folder: Path) -> Path:
    """A folder with these recordings, as a station has them."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in recordings:
        for path in {one.path, one.path.with_suffix(one.path.suffix.replace("meta", "data"))}:
            target = folder / path.name
            if not target.exists():
                target.symlink_to(path.resolve())
    return folder
