"""The same small tuning for every method: three learning rates, one seed, short runs, validation frames.

The seed is one that no table uses. A rate other than the paper's is taken only where it gains more than the
error of the comparison, so that noise chooses nothing. PMSGD chooses its own rates, and wavetell's recipe has
its own: neither is tried here.
"""

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from training.experiments.cases import Case
from training.experiments.cells import Cell, run_cell
from training.experiments.runner import OnProgress, run_cells
from training.experiments.scale import PAPER_RATE, RATES, Scale
from training.experiments.summary import summarise
from training.experiments.tables import LEARNT
from training.methods import METHODS

SEED = 1_000
OWN = ("pmsgd", "wavetell", "wavetell-level")  # choose or bring their own
SHORT = {"rounds": 2, "pretrain_rounds": 3, "pretrain_steps": 30, "tune_epochs": 2}  # at every scale


def cells(scale: Scale, data: Path) -> list[Cell]:
    """One trial for every method and rate."""
    budget = scale.budget
    short = {name: min(most, getattr(budget, name)) for name, most in SHORT.items()}
    shorter = replace(scale, budget=replace(budget, **short), validation=min(scale.test, 1_000), look=100)
    names = [name for name in LEARNT if name not in OWN]
    return [
        Cell(name, Case(), SEED, shorter, data, (("rate", rate),), trial=True)
        for name in names
        for rate in RATES
    ]


def write(folder: Path, scale: Scale, data: Path, workers: int, progress: OnProgress) -> list[Path]:
    """rates.csv and rates.md."""
    trials = cells(scale, data)
    run_cells(trials, folder / "cache", workers, progress)
    rows = [(cell, summarise([run_cell(cell, folder / "cache")])) for cell in trials]
    paths = [folder / "rates.csv", folder / "rates.md"]
    with paths[0].open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["method", "rate", "validation_accuracy", "half_width_95"])
        out.writerows([cell.method, cell.budget.rate, f"{s.mean:.2f}", f"{s.half:.2f}"] for cell, s in rows)
    lines = [
        f"# Learning rates: validation accuracy after short runs, scale `{scale.name}`, seed {SEED}",
        "",
        "| method | " + " | ".join(f"{rate:g}" for rate in RATES) + " | chosen |",
        "|---" * (2 + len(RATES)) + "|",
    ]
    trials_of = [(cell.method, cell.budget.rate, s.mean, s.half) for cell, s in rows]
    for name, rate in chosen(trials_of).items():
        mine = [f"{s.mean:.1f}" for cell, s in rows if cell.method == name]
        lines.append(f"| {METHODS[name]().title} | " + " | ".join(mine) + f" | {rate:g} |")
    paths[1].write_text("\n".join(lines) + "\n")
    return paths


def chosen(trials: Sequence[tuple[str, float, float, float]]) -> dict[str, float]:
    """The rate of each method, from (method, rate, accuracy, half the 95 % interval).

    The best where it is better than the paper's by more than both errors together, else the paper's.
    """
    found: dict[str, float] = {}
    for name in dict.fromkeys(trial[0] for trial in trials):
        mine = {rate: (accuracy, half) for trial, rate, accuracy, half in trials if trial == name}
        best, paper = max(mine, key=lambda rate: mine[rate][0]), mine[PAPER_RATE]
        gain, error = mine[best][0] - paper[0], float(np.hypot(mine[best][1], paper[1]))
        found[name] = best if gain > error else PAPER_RATE
    return found
