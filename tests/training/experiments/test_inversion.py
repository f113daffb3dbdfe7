"""The attack guesses what a station hears from its update, and by chance only behind a protection."""

import pytest
from scipy.stats import binom

from training.experiments.inversion import Attack, run_attack

ATTACK = Attack(own=160, targets=80)


@pytest.fixture(scope="module")
def guessed():
    return run_attack(ATTACK)


def by_chance(probability):
    """Right guesses out of all that a blind guess exceeds in so few cases."""
    return binom.isf(probability, ATTACK.targets, 1 / 4)


def test_an_update_by_itself_tells_what_a_station_mostly_hears(guessed):
    assert guessed["update"].right > by_chance(1e-9)


@pytest.mark.parametrize("view", ["masked", "private"])
def test_a_protected_one_does_not(guessed, view):
    assert guessed[view].right <= by_chance(1e-4)
