"""wavetell's own recipe on the same encoder (docs/pretraining.md), with local SVMs.

It is taken as it is: `recipe_share` shortens its rounds where time is short, nothing else changes.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from streaming.encoder import Encoder
from training.methods.base import Budget, ClientFrames
from training.methods.pretrained import EncoderSvm, pretrain_recipe
from training.methods.track import Track
from training.pretraining.recipes import RECIPES, Recipe


class Wavetell(EncoderSvm):
    """The recipe `wavetell`."""

    title: ClassVar[str] = "wavetell"

    def pretrain(self, clients: Sequence[ClientFrames], budget: Budget, seed: int, track: Track) -> Encoder:
        """As the recipe says."""
        recipe = shortened(RECIPES["wavetell"], budget.recipe_share)
        return pretrain_recipe(replace(recipe, level=budget.level), clients, seed, track)


def shortened(recipe: Recipe, share: float) -> Recipe:
    """The recipe with this share of its steps, rounds first."""
    rounds = max(1, round(recipe.rounds * share))
    steps = (
        recipe.steps if recipe.rounds * share >= 1 else max(1, round(recipe.steps * recipe.rounds * share))
    )
    return replace(recipe, rounds=rounds, steps=steps)
