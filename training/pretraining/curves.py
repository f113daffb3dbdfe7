"""Curves of a training run, as a table for programs and a picture for people.

One table has a row for every round, client and step with its loss, another a row for every round and client
with its accuracy; the picture shows both.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

History = Sequence[dict[str, Any]]  # a row for every round: round, losses by client, accuracies by client


def write_curves(history: History, stem: Path) -> list[Path]:
    """Write `stem`-loss.csv, `stem`-accuracy.csv and `stem`-curves.png; returns their paths."""
    paths = [stem.with_name(f"{stem.name}-{end}") for end in ("loss.csv", "accuracy.csv", "curves.png")]
    stem.parent.mkdir(parents=True, exist_ok=True)
    with paths[0].open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["round", "client", "step", "loss"])
        for row in history:
            for client, losses in row["losses"].items():
                table.writerows([row["round"], client, i + 1, f"{loss:.6g}"] for i, loss in enumerate(losses))
    with paths[1].open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["round", "client", "accuracy"])
        for row in history:
            table.writerows([row["round"], c, f"{a:.4f}"] for c, a in row.get("accuracies", {}).items())
    draw(history, paths[2])
    return paths


def draw(history: History, path: Path) -> None:
    """Loss by step, smoothed over a fiftieth of the run, and accuracy by round."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.5), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    for client in history[0]["losses"]:
        losses = np.concatenate([row["losses"][client] for row in history])
        width = max(1, len(losses) // 50)
        left.plot(np.convolve(losses, np.ones(width) / width, "valid"), label=client)
    left.set(xlabel="step", ylabel="loss")
    left.legend()
    rounds = [row["round"] for row in history if "accuracies" in row]
    for client in history[0].get("accuracies", {}):
        right.plot(
            rounds,
            [100 * row["accuracies"][client] for row in history if "accuracies" in row],
            "o-",
            label=client,
        )
    right.set(xlabel="round", ylabel="accuracy, %")
    figure.savefig(path, dpi=120)
