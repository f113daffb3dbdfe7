"""Federated averaging in rounds (the paper's Algorithm 1), in process: clients train side by side in workers.

    theta^t = sum_c |D_c| / |D| theta_c^t

Every client's training is a function of the recipe, its frames, the round's model and the seed, done by one
thread: the result is the same for any number of workers. The run lives in a folder, with one checkpoint for
the global model and one for each client in its round; a run that was killed, at any time, goes on to the same
bits.
"""

import json
import multiprocessing as mp
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from multiprocessing.sharedctypes import SynchronizedArray
from pathlib import Path
from typing import Any

import numpy as np
import torch

from streaming.block import Samples
from streaming.encoder import Encoder
from streaming.errors import InputError
from training.datasets.augment import Level, at_level
from training.datasets.synthetic import Client, make_frames
from training.pretraining.averaging import weighted_mean
from training.pretraining.canonical import settle
from training.pretraining.checkpoint import Arrays, load_checkpoint, save_checkpoint
from training.pretraining.radio import Station, kept_frames
from training.pretraining.recipes import Recipe
from training.pretraining.trainer import Model, Trainer, part

SAVE_EVERY_S = 30.0  # between checkpoints inside a client's round
UNLABELLED = (
    1  # third word of the seed of a client's unlabelled frames; its training draws have the round there
)


@dataclass(frozen=True)
class Job:
    """One client's part in one round."""

    folder: Path
    recipe: Recipe
    client: Client | Station
    number: int  # of the client, from 0
    round: int  # from 1
    seed: int

    @property
    def path(self) -> Path:
        """The client's checkpoint."""
        return self.folder / f"{self.client.name}.safetensors"


@dataclass
class Run:
    """The state of a run between two rounds."""

    folder: Path
    recipe: Recipe
    clients: Sequence[Client | Station]
    seed: int
    arrays: Arrays  # of the global model
    round: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)  # a row for every round

    @property
    def path(self) -> Path:
        """The global model's checkpoint."""
        return self.folder / "global.safetensors"

    def save(self) -> None:
        """Write the checkpoint."""
        state = {
            "identity": identity(self.recipe, self.clients, self.seed),
            "round": self.round,
            "history": self.history,
        }
        save_checkpoint(self.path, self.arrays, state)


def identity(recipe: Recipe, clients: Sequence[Client | Station], seed: int) -> str:
    """What a run is; a checkpoint of another one is refused."""
    return json.dumps(
        {"recipe": asdict(recipe), "clients": [asdict(c) for c in clients], "seed": seed}, sort_keys=True
    )


def open_run(
    folder: Path, recipe: Recipe, clients: Sequence[Client | Station], seed: int, resume: bool
) -> Run:
    """A new run in an empty folder, or the one that was interrupted there."""
    run = Run(folder, recipe, clients, seed, Model(recipe, seed).arrays())
    found = load_checkpoint(run.path)
    if found is None:
        run.save()
        return run
    if not resume:
        raise InputError(
            f"{folder} holds a run already; add --resume to go on with it, or choose another place"
        )
    arrays, state = found
    if state["identity"] != identity(recipe, clients, seed):
        raise InputError(
            f"{folder} holds a run with another recipe, other clients or another seed; choose another place"
        )
    run.arrays, run.round, run.history = arrays, state["round"], state["history"]
    return run


def federate(
    run: Run,
    workers: int = 2,
    progress: Callable[[int], None] = lambda steps: None,
    after_round: Callable[[Run], dict[str, Any]] = lambda run: {},
) -> None:
    """Run all rounds that remain.

    ``progress`` gets the steps that all clients did in the whole run; what ``after_round`` returns joins the
    round's history.
    """
    context = mp.get_context("spawn")
    counters: SynchronizedArray[int] = context.Array("q", len(run.clients))
    with ProcessPoolExecutor(workers, context, _start_worker, (counters,)) as pool:
        while run.round < run.recipe.rounds:
            counters[:] = [0] * len(run.clients)
            jobs = [
                Job(run.folder, run.recipe, client, i, run.round + 1, run.seed)
                for i, client in enumerate(run.clients)
            ]
            report = partial(_report, progress, run.round * run.recipe.steps * len(jobs), counters)
            _wait([pool.submit(train_client, job) for job in jobs], report)
            _close_round(run, jobs)
            run.history[-1] |= after_round(run)
            run.save()


def finished(run: Run, frames: int) -> Encoder:
    """The encoder as it stands; where the recipe says so, outputs set from this many frames per client."""
    model = Model(run.recipe, run.seed)
    model.load(run.arrays)
    if run.recipe.canonical is not None:
        parts = (
            (client.name, unlabelled_frames(client, i, run.seed, run.recipe.level, run.folder)[:frames])
            for i, client in enumerate(run.clients)
        )
        settle(model.encoder, parts, run.recipe.canonical)
    return model.encoder


def _report(progress: Callable[[int], None], before: int, counters: "SynchronizedArray[int]") -> None:
    progress(before + sum(counters[:]))


def _wait(futures: list["Future[None]"], report: Callable[[], None]) -> None:
    while not all(future.done() for future in futures):
        report()
        time.sleep(0.2)
    for future in futures:
        future.result()
    report()


def _close_round(run: Run, jobs: Sequence[Job]) -> None:
    """Average the clients' models into the next global one."""
    updates, losses = {}, {}
    for job in jobs:
        found = load_checkpoint(job.path)
        if found is None:
            raise InputError(f"{job.path} is gone; the round cannot be closed")
        updates[job.client.name] = (part(found[0], "model/"), sum(job.client.unlabelled))
        losses[job.client.name] = found[0]["losses"].tolist()
    run.arrays = weighted_mean(updates)
    run.round += 1
    run.history.append({"round": run.round, "losses": losses})


_counters: "SynchronizedArray[int] | None" = None


def _start_worker(counters: "SynchronizedArray[int]") -> None:
    global _counters  # noqa: PLW0603 - a pool hands shared memory to its workers only this way
    _counters = counters
    torch.set_num_threads(1)  # more threads would add in another order, and give other bits
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A run that is killed takes its workers along: without this they would wait for work indefinitely."""
    parent = mp.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@lru_cache(maxsize=4)
def unlabelled_frames(
    client: Client | Station, number: int, seed: int, level: Level, folder: Path | None = None
) -> Samples:
    """The client's unlabelled frames, made once; the same seed gives the same frames."""
    words = np.random.SeedSequence([seed, number, UNLABELLED]).generate_state(1, np.uint64)
    if isinstance(client, Station):
        return at_level(kept_frames(client, int(words[0]), folder), level)
    return at_level(make_frames(client.signal, client.unlabelled, int(words[0])).iq, level)


def train_client(job: Job) -> None:
    """One client's round, from its checkpoint where there is one, to the checkpoint of the finished round."""
    recipe = job.recipe
    if is_trained(job.path, recipe, job.round):
        _count(job, recipe.steps)
        return
    base = load_checkpoint(job.folder / "global.safetensors")
    if base is None:
        raise InputError(f"{job.folder} has no global model")
    frames = unlabelled_frames(job.client, job.number, job.seed, recipe.level, job.folder)
    seed = (job.seed, job.number, 1 + job.round)
    train_frames(job.path, recipe, frames, base[0], seed, job.round, partial(_count, job))


def is_trained(path: Path, recipe: Recipe, round_number: int) -> bool:
    """Whether the checkpoint holds this round, finished."""
    found = load_checkpoint(path)
    return found is not None and (found[1]["round"], found[1]["step"]) == (round_number, recipe.steps)


def train_frames(
    path: Path,
    recipe: Recipe,
    frames: Samples,
    base: Arrays,
    seed: tuple[int, ...],
    round_number: int,
    report: Callable[[int], None],
) -> None:
    """A round on these frames, from the checkpoint where there is one; `report` gets the steps."""
    found = load_checkpoint(path)
    trainer = Trainer(recipe, frames, base, seed, (round_number - 1) / recipe.rounds)
    if found is not None and found[1]["round"] == round_number:
        trainer.restore(*found)
    elif found is not None and recipe.keep_moments:
        trainer.restore_moments(part(found[0], "adam/"))
    saved = time.monotonic()
    while trainer.step_number < recipe.steps:
        trainer.step()
        report(trainer.step_number)
        if time.monotonic() - saved > SAVE_EVERY_S and trainer.step_number < recipe.steps:
            trainer.save(path, round_number)
            saved = time.monotonic()
    trainer.save(path, round_number)


def _count(job: Job, steps: int) -> None:
    if _counters is not None:
        _counters[job.number] = steps
