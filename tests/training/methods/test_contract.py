"""What every method must do, whatever it is."""

from dataclasses import replace

import numpy as np
import pytest

from streaming.errors import ConfigError
from tests.training.methods.small import BUDGET, client, frames, two_clients
from training.methods import METHODS
from training.methods.base import Budget
from training.methods.track import Track
from training.pretraining.recipes import RECIPES

ASKED = frames((2, 2, 2, 2), 77).iq
WITHOUT_TRAINING = ("zero-steps", "untrained", "cumulants", "cumulants-level", "limit", "limit-level-free")
every = pytest.mark.parametrize("name", METHODS)
PRETRAINED = ("simcse", "cssl-tuned", "cssl-frozen", "semiamc", "dae", "fedssl-amc", "wavetell")


def answers(name, clients, seed=0, track=None, budget=BUDGET):
    method = METHODS[name]()
    method.fit(clients, budget, seed, track or Track())
    return [method.predict(i, ASKED) for i in range(len(clients))]


@every
def test_a_method_answers_every_frame_of_every_client_with_a_class(name):
    track = Track()
    for said in answers(name, two_clients(), track=track):
        assert said.shape == (len(ASKED),)
        assert said.dtype == np.int64
        assert set(said) <= set(range(4))
    assert bool(track.curve) == (name not in WITHOUT_TRAINING)
    assert all(np.isfinite(point["loss"]) for point in track.curve)


@every
def test_the_same_seed_gives_the_same_answers(name):
    first, second = (answers(name, two_clients(), seed=4) for _ in range(2))
    assert all((a == b).all() for a, b in zip(first, second, strict=True))


@every
def test_a_client_that_knows_one_class_is_no_obstacle(name):
    clients = [*two_clients(), client("c", (0, 3, 0, 0), 30)]
    assert set(answers(name, clients)[2]) <= set(range(4))


@every
def test_a_method_has_a_title_of_its_own(name):
    assert sum(METHODS[other]().title == METHODS[name]().title for other in METHODS) == 1


@pytest.mark.parametrize("name", PRETRAINED)
def test_a_pretraining_is_done_once_for_every_number_of_labels(name, tmp_path, monkeypatch):
    place = tmp_path / "pretraining.safetensors"
    first = Track(pretraining=place)
    answers(name, two_clients(), track=first)
    assert place.exists()
    kept = place.read_bytes()
    again = Track(pretraining=place)
    answers(name, [client("a", (4, 4, 4, 4), 10), two_clients()[1]], track=again)
    assert place.read_bytes() == kept
    mine = [[p["loss"] for p in t.curve if p["stage"] == "pretraining"] for t in (first, again)]
    assert mine[0] == mine[1]


@pytest.mark.parametrize("name", ["fedavg", "feddyn", "fedrep", "fedah", "dae", "wavetell", "semiamc"])
def test_a_fit_that_was_stopped_goes_on_to_the_same_answers(name, tmp_path, monkeypatch):
    monkeypatch.setattr("training.methods.track.SAVE_EVERY_S", -1.0)  # a checkpoint after every round
    budget = replace(BUDGET, rounds=3, pretrain_rounds=2, tune_epochs=3, recipe_share=1.0)
    short = replace(RECIPES["wavetell"], rounds=3, steps=1, batch=8)
    monkeypatch.setitem(RECIPES, "wavetell", short)
    whole = answers(name, two_clients(), budget=budget)
    track = Track(tmp_path / "training.safetensors", tmp_path / "pretraining.safetensors")
    with monkeypatch.context() as patched:
        stop(patched, after=2 if name not in ("dae", "semiamc") else 4)
        with pytest.raises(KeyboardInterrupt):
            answers(name, two_clients(), track=track, budget=budget)
    again = Track(tmp_path / "training.safetensors", tmp_path / "pretraining.safetensors")
    assert all(
        (a == b).all()
        for a, b in zip(answers(name, two_clients(), track=again, budget=budget), whole, strict=True)
    )


def stop(monkeypatch, after):
    """Interrupt a fit when it has noted this many rounds."""
    note, count = Track.note, iter(range(1000))

    def counted(self, *args):
        if next(count) == after:
            raise KeyboardInterrupt
        note(self, *args)

    monkeypatch.setattr(Track, "note", counted)


def test_the_limit_needs_to_know_what_frames_are_drawn_from():
    unknown = [replace(c, signal=None) for c in two_clients()]
    with pytest.raises(ConfigError, match="synthetic frames only"):
        answers("limit", unknown)


@pytest.mark.parametrize(("name", "value"), [("rounds", 0), ("rate", 0.0), ("recipe_share", 1.5)])
def test_a_budget_is_checked(name, value):
    with pytest.raises(ConfigError, match=f"budget.{name}"):
        Budget(**{name: value})


@pytest.mark.parametrize("name", ["fedavg", "fedssl-amc"])
def test_clients_may_train_with_few_bits(name):
    mixed = zip(two_clients(), ("float16", "int8"), strict=True)
    clients = [replace(c, precision=precision) for c, precision in mixed]
    assert len(answers(name, clients)) == 2
