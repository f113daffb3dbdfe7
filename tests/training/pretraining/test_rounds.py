"""Federated averaging against numpy, and runs that are killed against runs that are not."""

import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from streaming.errors import InputError
from streaming.shape import EncoderShape
from tests.require import ROOT
from training.datasets.synthetic import paper_clients
from training.objectives.halves import HalvesSettings
from training.pretraining.averaging import weighted_mean
from training.pretraining.checkpoint import load_checkpoint
from training.pretraining.curves import write_curves
from training.pretraining.probe import probe
from training.pretraining.recipes import Recipe
from training.pretraining.rounds import Run, federate, open_run

SMALL = EncoderShape(channels=4, depth=2, reduced=6, outputs=8)
RECIPE = Recipe(
    HalvesSettings(other=0.5),
    shape=SMALL,
    rounds=2,
    steps=20,
    batch=8,
    schedule="cosine",
    proximal=0.1,
    keep_moments=True,
)
CLIENTS = paper_clients(unlabelled=280)

CHILD = """
import sys
from pathlib import Path
import training.pretraining.rounds as rounds
from tests.training.pretraining.test_rounds import CLIENTS, RECIPE
rounds.SAVE_EVERY_S = 0.0  # after every step, so that kills meet every state
if __name__ == "__main__":
    run = rounds.open_run(Path(sys.argv[1]), RECIPE, CLIENTS, 5, resume=True)
    rounds.federate(run, workers=2, progress=lambda steps: print(steps, flush=True))
"""


def same(a, b):
    return a.keys() == b.keys() and all(a[name].tobytes() == b[name].tobytes() for name in a)


def test_mean_is_weighted_by_samples_and_summed_in_order_of_names():
    rng = np.random.default_rng(0)
    parts = {
        name: ({"w": rng.normal(size=(3, 2)).astype(np.float32)}, n)
        for name, n in (("b", 1), ("a", 3), ("c", 4))
    }
    expected = np.zeros((3, 2))
    for name in ("a", "b", "c"):
        expected = expected + parts[name][1] * parts[name][0]["w"].astype(np.float64)
    found = weighted_mean(parts)["w"]
    assert found.dtype == np.float32
    assert np.array_equal(found, (expected / 8).astype(np.float32))
    assert same(weighted_mean(parts), weighted_mean(dict(reversed(parts.items()))))


def test_a_round_is_the_mean_of_what_the_clients_trained(tmp_path):
    run = open_run(tmp_path, replace(RECIPE, rounds=1), CLIENTS[:3], 5, resume=False)
    federate(run, workers=1)
    trained = [load_checkpoint(tmp_path / f"client-{i}.safetensors")[0] for i in (1, 2, 3)]
    for name, array in run.arrays.items():
        mean = sum(t[f"model/{name}"].astype(np.float64) for t in trained) / 3  # as many samples each
        assert np.allclose(array, mean, rtol=1e-6, atol=1e-8)


def test_a_run_killed_again_and_again_ends_with_the_same_bits_for_any_workers(tmp_path):
    whole = open_run(tmp_path / "whole", RECIPE, CLIENTS, 5, resume=False)
    federate(whole, workers=1)
    assert [row["round"] for row in whole.history] == [1, 2]
    script = tmp_path / "child.py"  # workers import their main module: it must be a file
    script.write_text(CHILD)
    kills, code = 0, None
    targets = (10, 100)  # steps of 160: inside the first and the second round
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    while code != 0:
        child = subprocess.Popen(
            [sys.executable, str(script), str(tmp_path / "killed")],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
        )
        if kills < len(targets):
            while int(child.stdout.readline()) < targets[kills]:
                pass
            os.kill(child.pid, signal.SIGKILL)
            kills += 1
        child.communicate()
        code = child.returncode
        assert code in (0, -signal.SIGKILL)
    killed = open_run(tmp_path / "killed", RECIPE, CLIENTS, 5, resume=True)
    assert kills == len(targets)
    assert killed.round == whole.round == 2
    assert same(killed.arrays, whole.arrays)
    assert killed.history == whole.history


def test_another_run_in_the_same_place_is_refused(tmp_path):
    open_run(tmp_path, RECIPE, CLIENTS, 5, resume=False)
    with pytest.raises(InputError, match="holds a run already; add --resume"):
        open_run(tmp_path, RECIPE, CLIENTS, 5, resume=False)
    with pytest.raises(InputError, match="another recipe, other clients or another seed"):
        open_run(tmp_path, RECIPE, CLIENTS, 6, resume=True)


def test_curves_hold_every_step_and_every_round(tmp_path):
    history = [
        {"round": r, "losses": {"a": [1.0, 0.5], "b": [2.0, 1.5]}, "accuracies": {"a": 0.5, "b": 0.25}}
        for r in (1, 2)
    ]
    loss, accuracy, picture = write_curves(history, tmp_path / "run")
    assert loss.read_text().splitlines()[:3] == ["round,client,step,loss", "1,a,1,1", "1,a,2,0.5"]
    assert len(loss.read_text().splitlines()) == 1 + 8
    assert accuracy.read_text().splitlines()[-1] == "2,b,0.2500"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_probe_is_repeatable(tmp_path):
    run: Run = open_run(tmp_path, RECIPE, CLIENTS, 5, resume=False)
    from training.pretraining.trainer import Model

    torch.set_num_threads(1)
    model = Model(RECIPE, 5)
    model.load(run.arrays)
    first = probe(model.encoder, CLIENTS[:1], 5, "rms")
    assert first == probe(model.encoder, CLIENTS[:1], 5, "rms")
    assert 0.3 < first["client-1"] <= 1
