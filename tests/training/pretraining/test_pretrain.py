"""One client's training: the proximal term by hand, the schedule, and restoring bit for bit."""

import io
from dataclasses import replace

import numpy as np
import pytest
import torch

from streaming.encoder import iq
from streaming.errors import ConfigError
from streaming.shape import EncoderShape
from training.objectives.halves import HalvesSettings
from training.objectives.triplet import TripletSettings
from training.pretraining.checkpoint import load_checkpoint
from training.pretraining.initialisation import Initialisation, redraw
from training.pretraining.recipes import RECIPES, Recipe, find_recipe
from training.pretraining.trainer import Model, Trainer, proximal
from training.progress import Progress

SMALL = EncoderShape(channels=4, depth=2, reduced=6, outputs=8)
TRIPLET = Recipe(TripletSettings(negatives=2), shape=SMALL, rounds=1, steps=4, batch=5)
HALVES = Recipe(HalvesSettings(own=1.0), shape=SMALL, rounds=2, steps=4, batch=6, schedule="cosine")


@pytest.fixture
def frames():
    rng = np.random.default_rng(0)
    return (rng.standard_normal((40, 16)) + 1j * rng.standard_normal((40, 16))).astype(np.complex64)


def test_proximal_gradient_is_mu_times_the_distance():
    theta = [torch.nn.Parameter(torch.tensor([1.0, -2.0])), torch.nn.Parameter(torch.tensor([[0.5]]))]
    base = [torch.tensor([0.0, 1.0]), torch.tensor([[2.0]])]
    loss = proximal(theta, base, mu=0.3)
    assert loss.item() == pytest.approx(0.3 / 2 * (1 + 9 + 2.25))  # squared, not the norm itself
    loss.backward()
    assert theta[0].grad.tolist() == pytest.approx([0.3, -0.9])
    assert theta[1].grad.item() == pytest.approx(-0.45)


def test_a_strong_proximal_term_keeps_a_client_near(frames):
    def moved(mu):
        recipe = replace(TRIPLET, proximal=mu)
        trainer = Trainer(recipe, frames, Model(recipe, 0).arrays(), (0,))
        for _ in range(20):
            trainer.step()
        pairs = zip(trainer.model.parameters(), trainer.base, strict=True)
        return sum((p - b).square().sum().item() for p, b in pairs)

    assert moved(1e3) < 0.5 * moved(0.0)


@pytest.mark.parametrize("recipe", [TRIPLET, HALVES])
def test_a_restored_trainer_goes_on_bit_for_bit(recipe, frames, tmp_path):
    base = Model(recipe, 1).arrays()
    whole, first = (Trainer(recipe, frames, base, (4, 2)) for _ in range(2))
    losses = [whole.step() for _ in range(4)]
    first.step()
    first.step()
    first.save(tmp_path / "c.safetensors", round_number=1)
    again = Trainer(recipe, frames, base, (9, 9))
    again.restore(*load_checkpoint(tmp_path / "c.safetensors"))
    again.step()
    again.step()
    assert again.losses == losses
    assert all(
        np.array_equal(a, b)
        for a, b in zip(whole.model.arrays().values(), again.model.arrays().values(), strict=True)
    )


def test_training_lowers_the_loss(frames):
    recipe = replace(HALVES, steps=60, rounds=1, batch=16)
    trainer = Trainer(recipe, frames, Model(recipe, 0).arrays(), (0,))
    losses = [trainer.step() for _ in range(60)]
    assert np.mean(losses[-10:]) < np.mean(losses[:10])


def test_cosine_schedule_spans_the_whole_run():
    recipe = replace(HALVES, rate=2e-3)
    assert [recipe.rate_at(s) for s in (0.0, 0.5, 1.0)] == pytest.approx([2e-3, 1e-3, 0.0])
    assert replace(recipe, schedule="constant").rate_at(0.9) == 2e-3


def test_paper_recipe_is_the_papers():
    recipe = RECIPES["paper"]
    assert (recipe.rounds, recipe.steps, recipe.batch, recipe.rate) == (10, 15_000, 50, 1e-3)
    assert (recipe.objective, recipe.shape) == (
        TripletSettings(negatives=10, mean_negatives=False),
        EncoderShape(),
    )
    with pytest.raises(ConfigError, match="there is no recipe 'x'; expected paper or wavetell"):
        find_recipe("x")


def test_focused_start_sees_the_present_and_keeps_the_variance():
    torch.manual_seed(0)
    wide = replace(SMALL, channels=200)
    usual, focused = (
        Model(replace(TRIPLET, shape=wide), 0),
        Model(replace(TRIPLET, shape=wide, initialisation=Initialisation(past=0.1)), 0),
    )
    a, b = (model.encoder.blocks[1].conv1.weight().detach() for model in (usual, focused))  # (k, C_in, C_out)
    assert b.std() == pytest.approx(a.std().item(), rel=0.05)
    assert b[0].std() / b[2].std() == pytest.approx(0.1, rel=0.05)
    redraw(usual.encoder, Initialisation(), 0)
    assert torch.allclose(usual.encoder.blocks[1].conv1.weight(), a)
    x = iq(np.ones((2, 5), np.complex64))
    assert torch.isfinite(focused.encoder(x)).all()


def test_progress_is_lines_where_there_is_no_terminal():
    out = io.StringIO()
    with Progress("work", total=4, every_s=0.0, file=out) as progress:
        progress.to(2)
        progress.to(4, loss=0.25)
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("work: 2/4")
    assert lines[-1] == "work: 4/4, loss 0.25"
