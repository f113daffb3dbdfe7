"""A station's own part of a round: some steps of self-supervised training on frames that never leave it.

This is what runs in the station's child process; it needs torch, the rest of the exchange does not.
"""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from hardware import open_source
from streaming.block import Samples
from streaming.bundle import Bundle, load_bundle
from streaming.bundle_meta import FederatedRun, Meta, Provenance
from streaming.encoder import Encoder
from streaming.errors import ConfigError, InputError
from training.datasets.augment import at_level
from training.datasets.emissions import FRONT_END, HEARD
from training.datasets.synthetic import paper_clients
from training.federation.codec import Floats
from training.federation.manifest import Manifest
from training.federation.station.lesson import ENDINGS, Data, Learnt, Lesson, Recordings, Synthetic
from training.objectives.describe import DescribeSettings
from training.objectives.halves import HalvesSettings
from training.objectives.triplet import TripletSettings
from training.pretraining.checkpoint import load_checkpoint
from training.pretraining.probe import probe
from training.pretraining.radio import STATIONS, signals, station_frames
from training.pretraining.radio import Station as SimulatedStation
from training.pretraining.recipes import Recipe
from training.pretraining.rounds import is_trained, train_frames, unlabelled_frames
from training.pretraining.trainer import Model

TUNED_FRAME = STATIONS[0].samples
OBJECTIVES = {"triplet": TripletSettings, "halves": HalvesSettings, "describe": DescribeSettings}


def learn(lesson: Lesson, report: Callable[[int], None] = lambda steps: None) -> Learnt:
    """Train for a round, from the checkpoint where there is one, to the checkpoint of the finished round."""
    recipe, seed = recipe_from_json(lesson.manifest.recipe, lesson.manifest.rounds), lesson.manifest.seed
    frames = load_frames(lesson.data, seed, recipe)
    base = load_checkpoint(base_path(lesson.folder))
    if base is None:
        raise InputError(f"{lesson.folder} has no global model")
    path, generation = trained_path(lesson.folder), lesson.generation
    if not is_trained(path, recipe, generation):
        number = lesson.data.number if isinstance(lesson.data, Synthetic) else own_number(lesson.station)
        train_frames(path, recipe, frames, base[0], (seed, number, 1 + generation), generation, report)
    found = load_checkpoint(path)
    assert found is not None
    losses = found[0]["losses"]
    share = None
    if lesson.probe and isinstance(lesson.data, Synthetic):
        client = paper_clients()[lesson.data.number % 4]
        share = probe(load_encoder(lesson.manifest, base[0]), [client], seed, recipe.level)[client.name]
    return Learnt(len(frames), float(losses[-max(1, len(losses) // 10) :].mean()), share)


@lru_cache(maxsize=8)
def load_frames(data: Data, seed: int, recipe: Recipe) -> Samples:
    """The station's frames (n, N), made or read once."""
    if isinstance(data, Synthetic):
        client = paper_clients(unlabelled=data.frames)[data.number % 4]
        return unlabelled_frames(client, data.number, seed, recipe.level)
    frames = at_level(read_frames(data, behind_front_end(recipe)), recipe.level)
    return np.concatenate([frames, replayed(data, seed, recipe)]) if recipe.replay else frames


def replayed(data: Recordings, seed: int, recipe: Recipe) -> Samples:
    """Simulated frames of every class, others at each station: they hold what its own band lacks."""
    everything = SimulatedStation("replay", HEARD, frames=recipe.replay)
    return at_level(station_frames(everything, seed + own_number(str(data.folder))), recipe.level)


def behind_front_end(recipe: Recipe) -> bool:
    """Whether the encoder is for signals as the front end finds them."""
    return isinstance(recipe.objective, DescribeSettings)


def read_frames(data: Recordings, tuned: bool) -> Samples:
    """(n, N), of the signals that the front end finds or of the samples as they are."""
    parts, found = [], 0
    length = TUNED_FRAME if tuned else data.frame
    for path in sorted(path for path in data.folder.rglob("*") if path.name.endswith(ENDINGS)):
        with open_source(f"file:{path}") as source:
            blocks = source.blocks()
            for samples in signals(blocks) if tuned else (block.samples for block in blocks):
                count = min(len(samples) // length, data.most - found)
                parts.append(samples[: count * length].reshape(count, length))
                found += count
    if not found:
        what = "recording with a signal of" if tuned else "recording with"
        raise InputError(f"{data.folder} holds no {what} {length:,} samples ({', '.join(ENDINGS)})")
    return np.concatenate(parts)


def base_path(folder: Path) -> Path:
    """The checkpoint of the model that the round starts from."""
    return folder / "global.safetensors"


def trained_path(folder: Path) -> Path:
    """The checkpoint of the station's training."""
    return folder / "trained.safetensors"


def own_number(station: str) -> int:
    """What makes a station's draws its own."""
    return int.from_bytes(hashlib.sha256(station.encode()).digest()[:4], "little")


def make_manifest(
    run: str, recipe: Recipe, seed: int, start: Bundle | None = None
) -> tuple[Manifest, Floats]:
    """What a run with this recipe agrees on, and its first model; `start` gives the encoder."""
    drawn = Model(recipe, seed)
    if start is not None:
        if start.encoder.shape != recipe.shape:
            raise ConfigError(f"the encoder of {start.name} has another shape than the recipe's")
        drawn.encoder.load_state_dict(Encoder.of(start.encoder).state_dict())
    model = drawn.arrays()
    shapes = {name: array.shape for name, array in sorted(model.items())}
    return Manifest(run, shapes, recipe_to_json(recipe), recipe.rounds, seed), model


def load_encoder(manifest: Manifest, arrays: Floats) -> Encoder:
    """The encoder in a federated model."""
    model = Model(recipe_from_json(manifest.recipe, manifest.rounds), manifest.seed)
    model.load(dict(arrays))
    return model.encoder


def accuracy(manifest: Manifest, arrays: Floats) -> float:
    """The share of right answers that a model allows, the plain mean over the paper's clients."""
    level = recipe_from_json(manifest.recipe, manifest.rounds).level
    shares = probe(load_encoder(manifest, arrays), paper_clients(), manifest.seed, level)
    return sum(shares.values()) / len(shares)


def make_bundle(manifest: Manifest, arrays: Floats, name: str) -> Bundle:
    """A federated model as a bundle without heads; one for radios has the shipped model's projection."""
    recipe = recipe_from_json(manifest.recipe, manifest.rounds)
    provenance = Provenance(federation=FederatedRun(manifest.run, manifest.rounds, manifest.seed))
    bundle = Bundle(load_encoder(manifest, arrays), meta=Meta(provenance=provenance), name=name)
    if behind_front_end(recipe):
        meta = replace(bundle.meta, front_end=FRONT_END)
        bundle = replace(bundle, meta=meta, projection=load_bundle("radio").projection)
    return bundle


def recipe_to_json(recipe: Recipe) -> dict[str, Any]:
    """A recipe as it travels; the number of rounds is the manifest's."""
    content = asdict(recipe)
    name = next(name for name, kind in OBJECTIVES.items() if isinstance(recipe.objective, kind))
    del content["rounds"]
    return content | {"objective": {"name": name} | content["objective"]}


def recipe_from_json(content: dict[str, Any], rounds: int) -> Recipe:
    """The recipe that `recipe_to_json` described."""
    try:
        given = dict(content["objective"])
        kind = OBJECTIVES[given.pop("name")]
        recipe: Recipe = build(Recipe, content | {"objective": build(kind, given), "rounds": rounds or 1})
        return recipe
    except (TypeError, KeyError, ValueError) as error:
        raise InputError(f"this wavetell does not know the federation's recipe ({error})") from None


def build(kind: type[Any], content: dict[str, Any]) -> Any:  # noqa: ANN401 - of that type
    """A dataclass from its JSON form, and those inside it."""
    hints = get_type_hints(kind)
    inner = {name: hints[name] for name in content if is_dataclass(hints[name])}
    return kind(**content | {name: build(type_, content[name]) for name, type_ in inner.items()})
