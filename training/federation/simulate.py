"""N stations in one process, for experiments: the same code as over HTTP, without sockets."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch

from streaming.errors import ConfigError
from training.federation.codec import Floats
from training.federation.coordinator.rounds import Coordinator
from training.federation.local import LocalExchange
from training.federation.manifest import Manifest, Precision, Terms
from training.federation.station.learner import learn, make_manifest
from training.federation.station.lesson import Data, Lesson, Synthetic
from training.federation.station.loop import Result, Station
from training.pretraining.recipes import Recipe

Change = Callable[[Floats], Floats]


def train_here(data: Data, station: str, folder: Path, manifest: Manifest, generation: int) -> Result:
    """A round's training in this process; `partial` makes a station's of it."""
    learnt = learn(Lesson(folder, manifest, data, station, generation))
    return learnt.examples, learnt.measured()


def simulate(
    folder: Path,
    recipe: Recipe,
    stations: int = 4,
    seed: int = 0,
    frames: int = 140_000,
    terms: Terms | None = None,
    precisions: Sequence[Precision] = ("float32",),
    changes: Mapping[int, Change] | None = None,
    after_round: Callable[[Coordinator], None] = lambda coordinator: None,
) -> Coordinator:
    """Run a federation to its end; a run that was stopped is resumed.

    Stations use the precisions in rotation; ``changes`` says which of them (from 0) tamper with their
    updates.
    """
    if stations < 1:
        raise ConfigError(f"the number of stations is {stations}; it must be at least 1")
    manifest, model = make_manifest("simulation", recipe, seed)
    names = [f"client-{i + 1:0{len(str(stations))}d}" for i in range(stations)]
    data = {name: Synthetic(i, frames) for i, name in enumerate(names)}
    terms = terms or Terms(quorum=stations)
    return run_stations(folder, manifest, model, terms, data, precisions, changes, after_round)


def run_stations(
    folder: Path,
    manifest: Manifest,
    model: Floats,
    terms: Terms,
    data: Mapping[str, Data],
    precisions: Sequence[Precision] = ("float32",),
    changes: Mapping[int, Change] | None = None,
    after_round: Callable[[Coordinator], None] = lambda coordinator: None,
) -> Coordinator:
    """The same for stations with any data, by their names."""
    torch.set_num_threads(1)  # more threads would add in another order, and give other bits
    if (folder / "run.sqlite").exists():
        coordinator = Coordinator(folder)
    else:
        coordinator = Coordinator.create(folder, manifest, terms, model)
    for name in set(data) - set(coordinator.stations.active()):
        coordinator.stations.add(name)
    members = [
        Station(
            LocalExchange(coordinator, name),
            folder / "stations" / name,
            partial(train_here, heard, name),
            precisions[i % len(precisions)],
            (changes or {}).get(i, lambda delta: delta),
        )
        for i, (name, heard) in enumerate(data.items())
    ]
    while not coordinator.finished:
        for member in members:
            member.step()
        after_round(coordinator)
    return coordinator


def flip(delta: Floats) -> Floats:
    """An adversary: the update with its sign changed, and stronger."""
    return {name: -4 * array for name, array in delta.items()}


def noise(delta: Floats) -> Floats:
    """A faulty station: noise, four times as strong as the update."""
    rng = np.random.default_rng(0)
    return {
        name: (4 * np.sqrt(np.mean(array**2)) * rng.standard_normal(array.shape)).astype(np.float32)
        for name, array in delta.items()
    }


ATTACKS: dict[str, Change] = {"flip": flip, "noise": noise}
