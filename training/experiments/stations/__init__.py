"""Do stations name their own real signals better together than alone?

    shipped     the encoder of the model `radio`, as it is
    alone       pretrained on the station's own recordings
    federated   pretrained by all stations, round by round
    pooled      pretrained on all recordings in one place: what nobody may have

Each is a federation, of one station or of all, with the coordinator's store, checks and aggregation and the
station's loop in one process: over HTTP it gives the same bits. All take as many steps, `pooled` with the
batches of all stations together. Each station sets its outputs in closed form by its own frames, and fits its
head to its own few labels.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from streaming.bundle import Bundle, load_bundle
from streaming.errors import ConfigError
from streaming.files import write_whole
from training.experiments.stations.dealing import NAMES, Dealt, deal, link, read_recordings
from training.experiments.stations.judging import Evidence, embed, find_evidence, judge
from training.experiments.stations.report import ARMS
from training.federation.manifest import Terms
from training.federation.simulate import run_stations
from training.federation.station.learner import load_frames, make_manifest
from training.federation.station.lesson import Recordings, Wanted
from training.federation.station.own import make_own
from training.pretraining.recipes import RECIPES, Recipe

LABELS = (5, 10)  # of a family
STEPS = {"smoke": (1, 1), "hour": (10, 40), "night": (10, 600)}  # rounds, and steps of each
RATE = 5e-4  # a quarter of the pretraining's: an encoder that is good already must not be lost
REPLAY = 500  # simulated frames at each station


@dataclass(frozen=True)
class Trial:
    """One way to federate."""

    scale: str = "hour"
    start: str = "radio"  # a model whose encoder is the first, or "" for a new one
    proximal: float = 0.0
    replay: int = REPLAY

    def __post_init__(self) -> None:
        if self.scale not in STEPS:
            raise ConfigError(f"the scale is {self.scale!r}; stations have {', '.join(STEPS)}")

    @property
    def name(self) -> str:
        """What its folder is called."""
        parts = ["stations", self.scale, self.start or "new"]
        parts += [f"replay{self.replay}"] if self.replay else []
        return "-".join([*parts, *([f"proximal{self.proximal:g}"] if self.proximal else [])])

    @property
    def recipe(self) -> Recipe:
        """How stations train."""
        rounds, steps = STEPS[self.scale]
        rate = RATE if self.start else RECIPES["radio"].rate
        recipe = replace(RECIPES["radio"], rounds=rounds, steps=steps, rate=rate)
        return replace(recipe, proximal=self.proximal, replay=self.replay)


@dataclass(frozen=True)
class Place:
    """A seed's stations in a folder."""

    folder: Path
    trial: Trial
    stations: list[Dealt]
    seed: int

    def pretrained(self, name: str, members: dict[str, Path], batch: int) -> Callable[[Path, Path], Bundle]:
        """Run a federation of these stations' folders; the model with a station's own outputs."""
        recipe = replace(self.trial.recipe, batch=batch)
        start = load_bundle(self.trial.start) if self.trial.start else None
        manifest, model = make_manifest("stations", recipe, self.seed, start)
        data = {station: Recordings(folder) for station, folder in members.items()}
        folder = self.folder / name
        run_stations(folder, manifest, model, Terms(quorum=len(data)), data).close()
        newest = folder / "stations" / next(iter(members))  # all stations end with the same model

        def own(recordings: Path, out: Path) -> Bundle:
            make_own(newest, manifest, Wanted(out, "own", Recordings(recordings)))
            return load_bundle(str(out))

        return own


def run_trial(
    trial: Trial, data: Path, folder: Path, seeds: range, say: Callable[[str], None]
) -> dict[str, Any]:
    """Every station of every seed, and what they have in common."""
    recordings = read_recordings(data)
    evidence = find_evidence(recordings)
    rows: list[dict[str, Any]] = []
    for seed in seeds:
        place = Place(folder / f"seed-{seed}", trial, deal(recordings, seed), seed)
        kept = place.folder / "stations.json"
        if not kept.exists():
            write_whole(kept, json.dumps(run_seed(place, evidence, say)).encode())
        rows += json.loads(kept.read_text())
    return summary(rows) | {"stations": rows}


def run_seed(place: Place, evidence: Evidence, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """One seed's stations with every arm."""
    folder, batch = place.folder, place.trial.recipe.batch
    heard = {one.name: link(one.heard, folder / "recordings" / one.name) for one in place.stations}
    every = tuple(recorded for one in place.stations for recorded in one.heard)
    everything = {"all": link(every, folder / "recordings" / "all")}
    federated = place.pretrained("federated", heard, batch)
    say(f"seed {place.seed}: federated")
    pooled = place.pretrained("pooled", everything, batch * len(NAMES))
    say(f"seed {place.seed}: pooled")
    rows = []
    for number, one in enumerate(place.stations):
        alone = place.pretrained(f"alone-{one.name}", {one.name: heard[one.name]}, batch)
        row: dict[str, Any] = {"seed": place.seed, "station": one.name, "families": one.families}
        row |= {"heard": len(one.heard), "unseen": len(one.unseen)}
        row |= {"unseen_sources": len({recorded.source for recorded in one.unseen})}
        frames = load_frames(Recordings(heard[one.name]), place.seed, place.trial.recipe)
        row["frames"] = len(frames) - place.trial.replay
        bundles = {"shipped": load_bundle("radio")} | {
            arm: make(heard[one.name], folder / f"{arm}.safetensors")
            for arm, make in (("alone", alone), ("federated", federated), ("pooled", pooled))
        }
        row |= judged(bundles, evidence, one, len(NAMES) * place.seed + number)
        rows.append(row)
        say(f"seed {place.seed}: {one.name} {row['encoder']['5']}")
    for name in ("federated", "pooled", "recordings", *(f"alone-{one.name}" for one in place.stations)):
        shutil.rmtree(folder / name)
    return rows


def judged(bundles: dict[str, Bundle], evidence: Evidence, one: Dealt, seed: int) -> dict[str, Any]:
    """Accuracies by labels and arm: of the encoder by itself, and with the shipped projection beside it."""
    found: dict[str, Any] = {kind: {str(each): {} for each in LABELS} for kind in ("encoder", "model")}
    for arm, bundle in bundles.items():
        rows = embed(bundle, evidence, one.heard + one.unseen)
        for each in LABELS:
            found["encoder"][str(each)][arm] = judge(bundle, rows, one, each, seed, projected=False)
            found["model"][str(each)][arm] = judge(bundle, rows, one, each, seed, projected=True)
    return found


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over stations and seeds, and what federating gains, in points; the first labels' on top."""
    found = {
        kind: {
            str(each): {arm: round(mean_percent(rows, kind, each, arm), 2) for arm in ARMS}
            | gain(rows, kind, each)
            for each in LABELS
        }
        for kind in ("encoder", "model")
    }
    first = found["encoder"][str(LABELS[0])]
    tops = ("gain_points", "gain_low", "gain_high", "worst_station_points")
    return {name: first[name] for name in tops} | found


def mean_percent(rows: list[dict[str, Any]], kind: str, each: int, arm: str) -> float:
    """An arm's accuracy, the plain mean."""
    return float(100 * np.mean([row[kind][str(each)][arm] for row in rows]))


def gain(rows: list[dict[str, Any]], kind: str, each: int) -> dict[str, float]:
    """Federated minus alone: mean, Student's 95 % interval over stations and seeds, and the worst of them."""
    of = [row[kind][str(each)] for row in rows]
    points = 100 * np.array([one["federated"] - one["alone"] for one in of])
    count = len(points)
    half = float(student.ppf(0.975, count - 1) * points.std(ddof=1) / np.sqrt(count)) if count > 1 else 0.0
    mean = float(points.mean())
    return {
        "gain_points": round(mean, 2),
        "gain_low": round(mean - half, 2),
        "gain_high": round(mean + half, 2),
        "worst_station_points": round(float(points.min()), 2),
    }
