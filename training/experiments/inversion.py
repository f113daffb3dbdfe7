"""What an update tells of a station: an attack that guesses the class a station mostly hears.

The attacker knows everything but the station's recordings: the model, the recipe, and how to simulate. It
makes updates of stations of its own, of which it knows what they heard, fits a ridge classifier to them as it
would see them, and applies it to what it sees of others.

    update    a station's update: a coordinator's view, also with noise that the coordinator adds itself
    masked    the same behind SecAgg+: what the coordinator stores of one station
    sum       of several stations, the target among them: SecAgg+'s coordinator, and all who get the models
    private   the sum of clipped updates with Gaussian noise
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import RidgeClassifierCV

from training.datasets.augment import at_level
from training.datasets.synthetic import CLASSES, Signal, make_frames
from training.evaluation.accuracy import Accuracy
from training.experiments.privacy import RECIPE
from training.federation.privacy import noise_for
from training.federation.station.learner import make_manifest
from training.pretraining.trainer import Trainer

Updates = NDArray[np.float32]  # (stations, values)
View = Callable[[Updates, np.random.Generator], Updates]
SIGNAL = Signal(snr_db=(0.0, 10.0))  # clearer than the paper's: in the attacker's favour
MOSTLY = 0.85  # of a station's frames are of one class
STEPS = 4
MODULUS = 2**32  # of SecAgg+'s vectors
FINE = 2**21  # its steps in a difference of 1


@dataclass(frozen=True)
class Attack:
    """How many stations the attacker makes, how many it attacks, and who hides among whom."""

    own: int = 240
    targets: int = 120
    together: int = 20  # stations in a sum
    frames: int = 128
    epsilon: float = 8.0
    delta: float = 1e-5
    rounds: int = 10  # that the epsilon is for
    seed: int = 0


def make_updates(attack: Attack) -> tuple[Updates, NDArray[np.int64]]:
    """The updates of all stations from one model, and the class that each mostly hears."""
    torch.set_num_threads(1)
    _, base = make_manifest("inversion", RECIPE, attack.seed)
    rng = np.random.default_rng(attack.seed)
    mostly = rng.integers(len(CLASSES), size=attack.own + attack.targets)
    rows = []
    for number, best in enumerate(mostly.tolist()):
        counts = [round(attack.frames * (1 - MOSTLY) / (len(CLASSES) - 1))] * len(CLASSES)
        counts[best] += attack.frames - sum(counts)
        frames = at_level(make_frames(SIGNAL, counts, attack.seed * 10_000 + number).iq, RECIPE.level)
        trainer = Trainer(RECIPE, frames, base, (attack.seed, number))
        for _ in range(STEPS):
            trainer.step()
        trained = trainer.model.arrays()
        rows.append(np.concatenate([(trained[name] - base[name]).ravel() for name in sorted(base)]))
    return np.stack(rows), mostly


def views(attack: Attack, updates: Updates) -> dict[str, View]:
    """What each update becomes before the attacker sees it."""
    clip = float(np.median(np.linalg.norm(updates, axis=1)))
    noise = clip * noise_for(attack.epsilon, attack.delta, attack.rounds)

    def masked(rows: Updates, rng: np.random.Generator) -> Updates:
        quantised = np.rint(rows * FINE).astype(np.int64)
        hidden = (quantised + rng.integers(MODULUS, size=rows.shape)) % MODULUS
        return np.asarray(hidden / MODULUS, np.float32)

    def summed(rows: Updates, rng: np.random.Generator) -> Updates:
        others = rng.integers(len(updates), size=(len(rows), attack.together - 1))
        return np.stack([row + updates[chosen].sum(0) for row, chosen in zip(rows, others, strict=True)])

    def private(rows: Updates, rng: np.random.Generator) -> Updates:
        total = summed(rows, rng)  # clipping makes them no larger
        return np.asarray(total + noise * rng.standard_normal(total.shape, np.float32), np.float32)

    return {"update": lambda rows, rng: rows, "masked": masked, "sum": summed, "private": private}


def run_attack(attack: Attack) -> dict[str, Accuracy]:
    """Right guesses of what a station mostly hears, by what the attacker sees."""
    updates, mostly = make_updates(attack)
    found: dict[str, Accuracy] = {}
    for name, view in views(attack, updates).items():
        rng = np.random.default_rng([attack.seed, 1])
        seen = view(updates, rng)
        own, target = seen[: attack.own], seen[attack.own :]
        mean, scale = own.mean(0), own.std(0) + 1e-12
        classifier = RidgeClassifierCV(alphas=np.logspace(1, 7, 7))
        classifier.fit((own - mean) / scale, mostly[: attack.own])
        said = classifier.predict((target - mean) / scale)
        found[name] = Accuracy.of(said == mostly[attack.own :])
    return found
