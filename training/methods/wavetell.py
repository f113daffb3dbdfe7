"""wavetell's own recipe on the same encoder (docs/pretraining.md), with local SVMs, and its controls.

It is taken as it is: `recipe_share` shortens its rounds where time is short, nothing else changes. Without
any step its focused initialisation, mean pooling and canonical outputs are left: what training adds is the
difference to that.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from streaming.encoder import Encoder
from training.datasets.augment import at_level
from training.methods.base import Budget, ClientFrames
from training.methods.pretrained import EncoderSvm, adapted, pretrain_recipe, settled
from training.methods.track import Track
from training.pretraining.recipes import RECIPES, Recipe
from training.pretraining.trainer import Model


class Wavetell(EncoderSvm):
    """The recipe `wavetell`."""

    title: ClassVar[str] = "wavetell"

    def pretrain(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> Encoder:
        """As the recipe says."""
        recipe = shortened(RECIPES["wavetell"], budget.recipe_share)
        return pretrain_recipe(adapted(recipe, budget), clients, seed, track)


class WavetellLevel(Wavetell):
    """The same encoder, and machines that see the level."""

    title: ClassVar[str] = "wavetell, SVMs see the level"
    sees_level: ClassVar[bool] = True


class ZeroSteps(EncoderSvm):
    """The recipe without a single step."""

    title: ClassVar[str] = "zero steps: focused initialisation, mean pooling, canonical outputs + SVM"

    def pretrain(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> Encoder:
        """The initialisation and the last step."""
        recipe = adapted(RECIPES["wavetell"], budget)
        frames = [at_level(client.unlabelled.iq, recipe.level) for client in clients]
        return settled(Model(recipe, seed).encoder, recipe, frames)


def shortened(recipe: Recipe, share: float) -> Recipe:
    """The recipe with this share of its steps, rounds first."""
    rounds = max(1, round(recipe.rounds * share))
    steps = (
        recipe.steps if recipe.rounds * share >= 1 else max(1, round(recipe.steps * recipe.rounds * share))
    )
    return replace(recipe, rounds=rounds, steps=steps)
