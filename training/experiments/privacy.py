"""What differential privacy costs: accuracy against epsilon, with many simulated stations.

Every station is one of the paper's clients with few frames of its own; in each round all of them train some
steps from the same model, and the coordinator's `private_model` makes the next. The clip is the median norm
of the first round's updates without noise: a federation would set it from such a trial on public frames.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from streaming.shape import EncoderShape
from training.datasets.augment import at_level
from training.datasets.synthetic import make_frames, paper_clients
from training.federation.codec import Floats
from training.federation.privacy import epsilon_after, noise_for, norm, private_model
from training.federation.station.learner import accuracy, make_manifest
from training.objectives.halves import HalvesSettings
from training.pretraining.recipes import Recipe
from training.pretraining.trainer import Trainer

EPSILONS = (math.inf, 8.0, 4.0, 2.0, 1.0)
RECIPE = Recipe(  # a small encoder: a station's step takes milliseconds
    HalvesSettings(hidden=64, projection=32),
    shape=EncoderShape(channels=16, depth=5, reduced=48, outputs=96, pooling="max+mean"),
    rounds=6,
    steps=1,
    batch=32,
    rate=5e-3,
)


@dataclass(frozen=True)
class Crowd:
    """Many stations with few frames each."""

    stations: int = 1_000
    frames: int = 64  # a station
    seed: int = 0
    recipe: Recipe = RECIPE

    def updates(self, model: Floats, generation: int) -> Iterator[Floats]:
        """Each station's difference after its training in this round."""
        clients = paper_clients(unlabelled=self.frames)
        for number in range(self.stations):
            client = clients[number % len(clients)]
            made = make_frames(client.signal, client.unlabelled, self.seed * self.stations + number)
            frames = at_level(made.iq, self.recipe.level)
            done = (generation - 1) / self.recipe.rounds
            trainer = Trainer(self.recipe, frames, model, (self.seed, number, generation), done)
            for _ in range(self.recipe.steps):
                trainer.step()
            trained = trainer.model.arrays()
            yield {name: trained[name] - model[name] for name in model}


def measure(
    crowd: Crowd, delta: float, say: Callable[[str], None], epsilons: Sequence[float] = EPSILONS
) -> list[dict[str, float]]:
    """For each epsilon the accuracy in percent after all rounds, and the noise that it took."""
    torch.set_num_threads(1)
    rounds = crowd.recipe.rounds
    manifest, start = make_manifest("privacy", crowd.recipe, crowd.seed)
    rows: list[dict[str, float]] = [{"epsilon": 0.0, "accuracy": 100 * accuracy(manifest, start)}]
    say(f"untrained: {rows[0]['accuracy']:.1f} %")
    first = replace(crowd, stations=min(crowd.stations, 50))
    clip = float(np.median([norm(update) for update in first.updates(start, 1)]))
    for epsilon in epsilons:
        noise = 0.0 if math.isinf(epsilon) else noise_for(epsilon, delta, rounds)
        rng, model = np.random.default_rng([crowd.seed, 1]), start
        for generation in range(1, rounds + 1):
            model = private_model(model, crowd.updates(model, generation), clip, noise, rng)
        found = {
            "epsilon": epsilon,
            "noise": noise,
            "clip": clip,
            "accuracy": 100 * accuracy(manifest, model),
        }
        found["spent"] = epsilon_after(noise, delta, rounds) if noise else math.inf
        rows.append(found)
        say(f"epsilon {epsilon:g}: {found['accuracy']:.1f} %, noise multiplier {noise:.2f}")
    return rows
