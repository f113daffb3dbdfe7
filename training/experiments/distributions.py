"""How Dirichlet(alpha) divides MIGOU's classes among clients (the paper's Fig. 2 and its appendix)."""

import csv
from pathlib import Path

import numpy as np

from streaming.errors import ConfigError
from training.datasets.partition import dirichlet
from training.experiments.cases import FILES, Case, missing, whole
from training.experiments.tables import ALPHAS

CLIENTS = 4


def write(folder: Path, data: Path, seed: int = 0) -> list[Path]:
    """label-distributions.csv and .png."""
    absent = missing(Case("migou"), data)
    if absent is not None:
        raise ConfigError(f"the set migou is not there; put {absent.name} into {absent.parent}/")
    frames = whole(data / FILES["migou"])
    counts = {
        alpha: np.array(
            [
                np.bincount(frames.label[rows], minlength=len(frames.classes))
                for rows in dirichlet(frames.label, CLIENTS, alpha, seed)
            ]
        )
        for alpha in ALPHAS
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "label-distributions.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["alpha", "client", *frames.classes])
        for alpha, table in counts.items():
            out.writerows([alpha, client + 1, *row] for client, row in enumerate(table.tolist()))
    draw(counts, frames.classes, path.with_suffix(".png"))
    return [path, path.with_suffix(".png")]


def draw(
    counts: dict[float, np.ndarray[tuple[int, ...], np.dtype[np.int64]]], classes: tuple[str, ...], path: Path
) -> None:
    """A stacked bar for each client, one plot for each alpha."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3 * len(counts), 4), layout="constrained")
    for axes, (alpha, table) in zip(figure.subplots(1, len(counts)), counts.items(), strict=True):
        below = np.zeros(len(table))
        for c, name in enumerate(classes):
            axes.bar(range(1, len(table) + 1), table[:, c], bottom=below, label=name)
            below += table[:, c]
        axes.set(title=f"alpha {alpha}", xlabel="client", ylabel="frames")
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", fontsize=7)
    figure.savefig(path, dpi=110)
