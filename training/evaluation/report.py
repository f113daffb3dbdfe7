"""An evaluation as text, JSON, CSV and pictures."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from streaming.bundle_meta import ClientAccuracy, EvaluationRow, SnrPoint
from training.evaluation.evaluate import Row
from training.evaluation.limit import LimitRow

AnyRow = Row | LimitRow


def as_text(rows: Sequence[AnyRow]) -> str:
    """A table: one method per line, one client per column, accuracy in percent."""
    clients = list(rows[0].clients)
    width = max(len(row.name) for row in rows) + 2
    lines = [" " * width + "".join(f"{name:>10}" for name in clients) + "      mean (95 %)   refused"]
    for row in rows:
        mean, half = row.mean
        cells = "".join(f"{100 * row.clients[name].accuracy.share:>10.1f}" for name in clients)
        refused = np.mean([answers.refused for answers in row.clients.values()])
        lines.append(
            f"{row.name:<{width}}{cells}{100 * mean:>10.1f} +- {100 * half:.1f}{100 * refused:>9.1f}"
        )
    return "\n".join(lines)


def as_evaluation(rows: Sequence[AnyRow]) -> dict[str, EvaluationRow]:
    """Everything, for programs and for a bundle."""
    return {
        row.name: EvaluationRow(
            by_snr=tuple(SnrPoint(snr, a.share, a.interval, a.total) for snr, a in row.by_snr()),
            mean=row.mean[0],
            mean_half_width=row.mean[1],
            clients={
                name: ClientAccuracy(a.accuracy.share, a.accuracy.interval, a.accuracy.total, a.refused)
                for name, a in row.clients.items()
            },
            classes=row.classes,
            confusion=row.confusion().tolist(),
        )
        for row in rows
    }


def write_csv(rows: Sequence[AnyRow], folder: Path) -> None:
    """accuracy.csv, snr.csv and confusion.csv."""
    tables: dict[str, list[list[object]]] = {
        "accuracy.csv": [["method", "client", "accuracy", "low", "high", "frames", "refused"]],
        "snr.csv": [["method", "snr_db", "accuracy", "low", "high", "frames"]],
        "confusion.csv": [["method", "truth", "answer", "frames"]],
    }
    for row in rows:
        for name, answers in row.clients.items():
            a = answers.accuracy
            tables["accuracy.csv"].append([row.name, name, a.share, *a.interval, a.total, answers.refused])
        tables["snr.csv"] += [[row.name, snr, a.share, *a.interval, a.total] for snr, a in row.by_snr()]
        for (i, j), count in np.ndenumerate(row.confusion()):
            tables["confusion.csv"].append([row.name, row.classes[i], row.classes[j], int(count)])
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in tables.items():
        with (folder / name).open("w", newline="") as file:
            csv.writer(file).writerows(lines)


def write_pictures(rows: Sequence[AnyRow], folder: Path) -> None:
    """snr.png, accuracy against SNR for every method, and confusion.png of the first one."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for row in rows:
        points = row.by_snr()
        low_high = [a.interval for _, a in points]
        (line,) = axes.plot(
            [snr for snr, _ in points], [100 * a.share for _, a in points], ".-", label=row.name
        )
        axes.fill_between(
            [snr for snr, _ in points],
            [100 * low for low, _ in low_high],
            [100 * high for _, high in low_high],
            color=line.get_color(),
            alpha=0.15,
        )
    axes.set(xlabel="SNR in dB", ylabel="right answers in %", ylim=(0, 101))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(folder / "snr.png", dpi=120, bbox_inches="tight")
    plt.close(figure)

    confusion = rows[0].confusion()
    share = confusion / np.maximum(confusion.sum(1, keepdims=True), 1)
    figure, axes = plt.subplots(figsize=(5, 4.5))
    axes.imshow(share, vmin=0, vmax=1, cmap="Blues")
    for (i, j), value in np.ndenumerate(share):
        axes.text(
            j, i, f"{100 * value:.0f}", ha="center", va="center", color="white" if value > 0.5 else "black"
        )
    axes.set_xticks(range(len(rows[0].classes)), rows[0].classes)
    axes.set_yticks(range(len(rows[0].classes)), rows[0].classes)
    axes.set(xlabel="answer", ylabel="truth", title=f"{rows[0].name}: % of each class")
    figure.savefig(folder / "confusion.png", dpi=120, bbox_inches="tight")
    plt.close(figure)
