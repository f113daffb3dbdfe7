"""`wavetell experiment all --scale smoke`: every method and every table, in one go, on two cores."""

import csv
import os
import subprocess
import sys

import pytest

from tests.require import ROOT
from tests.training.experiments.sets import write_deepsig, write_migou
from training.experiments import EXPERIMENTS
from training.experiments.tables import TABLES, methods_of
from training.methods import METHODS


def wavetell(*arguments):
    command = [sys.executable, "-m", "service.cli", "experiment", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ)


@pytest.mark.timeout(3_600)  # some 4 CPU minutes; the machine may be busy
def test_everything_runs(tmp_path):
    write_migou(tmp_path)
    write_deepsig(tmp_path)
    done = wavetell("all", "--scale", "smoke", "--data", tmp_path, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr[-2_000:]
    folder = tmp_path / "out" / "smoke"
    for name, table in TABLES.items():
        with (folder / f"{name}.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == sum(len(methods_of(table, column)) for column in table.columns), name
        assert all(0 <= float(row["ours"]) <= 100 for row in rows)
        assert (folder / f"{name}.md").exists()
    for name in (
        "complexity.md",
        "mobility.md",
        "rates.md",
        "label-distributions.png",
        "accuracy-curves.png",
    ):
        assert (folder / name).exists()
    assert (folder / "snr-2.8k-labels-snr.png").exists()
    assert (folder / "confusion-14.0k-labels.png").exists()
    titles = {METHODS[name]().title for name in METHODS}
    with (folder / "accuracy.csv").open() as file:
        assert {row["method"] for row in csv.DictReader(file)} == titles
    assert "cells" in done.stderr  # progress with an estimate
    assert "min left" in done.stderr
    again = wavetell("accuracy", "--scale", "smoke", "--data", tmp_path, "--out", tmp_path / "out")
    assert again.returncode == 0
    assert "cells" not in again.stderr  # all of them were there


def test_the_experiments_are_listed():
    done = wavetell("--list")
    assert done.returncode == 0
    assert all(name in done.stdout for name in (*EXPERIMENTS, *METHODS))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "there is no experiment 'nothing'"),
        ([], "name an experiment"),
        (["labels", "--methods", "magic"], "there is no method 'magic'"),
        (["labels", "--scale", "day"], "there is no scale 'day'"),
        (["clusters", "--data", "nowhere"], "migou_dataset_19.08_400000x128.pkl; put it into nowhere/"),
    ],
)
def test_a_users_error_is_one_line(arguments, message):
    done = wavetell(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
