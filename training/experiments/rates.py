"""The same small tuning for every method: three learning rates, one seed, short runs, validation frames.

The seed is one that no table uses. PMSGD chooses its own rates, and wavetell's recipe has its own: neither is
tried here.
"""

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from training.experiments.cases import Case
from training.experiments.cells import Cell, run_cell
from training.experiments.runner import OnProgress, run_cells
from training.experiments.scale import RATES, Scale
from training.experiments.summary import summarise
from training.experiments.tables import LEARNT
from training.methods import METHODS

SEED = 1_000
OWN = ("pmsgd", "wavetell", "wavetell-level")  # choose or bring their own
SHORT = {"rounds": 2, "pretrain_rounds": 3, "pretrain_steps": 3, "tune_epochs": 2}  # at every scale


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
    for name, rate in chosen([(cell.method, cell.budget.rate, s.mean) for cell, s in rows]).items():
        mine = [f"{s.mean:.1f}" for cell, s in rows if cell.method == name]
        lines.append(f"| {METHODS[name]().title} | " + " | ".join(mine) + f" | {rate:g} |")
    paths[1].write_text("\n".join(lines) + "\n")
    return paths


def chosen(trials: Sequence[tuple[str, float, float]]) -> dict[str, float]:
    """The best rate of each method, from (method, rate, accuracy); on a tie the first."""
    best: dict[str, tuple[float, float]] = {}
    for name, rate, accuracy in trials:
        if name not in best or accuracy > best[name][1]:
            best[name] = rate, accuracy
    return {name: rate for name, (rate, _) in best.items()}
