"""A table as CSV and Markdown, its figures as pictures, its learning curves as both."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from training.datasets.augment import Level
from training.experiments.cells import LIMITS
from training.experiments.summary import Result, Summary, by_snr, confusion, summarise
from training.experiments.tables import Column, Table, is_raw, level_of
from training.methods import METHODS

Found = dict[tuple[str, str], list[Result]]  # method, column title -> a cell for each seed


def write_table(table: Table, found: Found, folder: Path, head: Sequence[str]) -> list[Path]:
    """Write all files of a table that was run; `head` says how."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{table.name}.csv", folder / f"{table.name}.md"]
    write_csv(table, found, paths[0])
    text = markdown(table, found)
    paths[1].write_text(
        f"# {table.about[0].upper()}{table.about[1:]}\n\n" + "\n".join(head) + f"\n\n{text}\n"
    )
    for column in table.columns:
        stem = f"{table.name}-{column.title.replace(' ', '-')}"
        mine = {name: found[name, column.title] for name in table.methods if (name, column.title) in found}
        if mine and "snr" in table.figures:
            paths.append(draw_snr(mine, column.title, folder / f"{stem}-snr.png"))
        if mine and "confusion" in table.figures:
            paths.append(draw_confusion(mine, folder / f"{stem}.png"))
    paths += write_curves(table, found, folder)
    return paths


def published(table: Table, method: str, column: int) -> float | None:
    """The paper's number."""
    numbers = table.published.get(method)
    return None if numbers is None else numbers[column]


def limit_of(found: Found, column: Column, level: Level) -> Summary | None:
    """The column's limit for methods that see the frames at this level."""
    name = next(name for name, of in LIMITS.items() if of == level)
    cells = found.get((name, column.title))
    return summarise(cells, column.client) if cells else None


def write_csv(table: Table, found: Found, path: Path) -> None:
    """A line for every method and column."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(
            ["method", "column", "paper", "ours", "half_width_95", "seed_sd", "seeds", "test_frames", "limit"]
        )
        for i, column in enumerate(table.columns):
            for name in table.methods:
                if (name, column.title) in found:
                    s = summarise(found[name, column.title], column.client)
                    limit = limit_of(found, column, level_of(name, column))
                    numbers = [f"{value:.2f}" for value in (s.mean, s.half, s.spread)]
                    above = "" if limit is None else f"{limit.mean:.2f}"
                    paper = published(table, name, i)
                    quoted = "" if paper is None else paper
                    out.writerow(
                        [METHODS[name]().title, column.title, quoted, *numbers, s.seeds, s.frames, above]
                    )


def markdown(table: Table, found: Found) -> str:
    """Two columns for each of the table's: the paper's number, and ours with its interval."""
    shown = [
        (i, column)
        for i, column in enumerate(table.columns)
        if any((name, column.title) in found for name in table.methods)
    ]
    heads = []
    for _, column in shown:
        limit = limit_of(found, column, "raw" if is_raw(column) else "rms")
        above = "" if limit is None else f" (limit {limit.mean:.1f} ± {limit.half:.1f})"
        heads += [f"{column.title}: paper", f"ours{above}"]
    lines = ["| method | " + " | ".join(heads) + " |", "|---" * (1 + len(heads)) + "|"]
    for name in table.methods:
        cells = []
        for i, column in shown:
            paper = published(table, name, i)
            cells.append("–" if paper is None else f"{paper:.1f}")
            cells.append(shown_as(found.get((name, column.title)), column))
        if any(cell != "–" for cell in cells[1::2]):
            lines.append(f"| {METHODS[name]().title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def shown_as(cells: list[Result] | None, column: Column) -> str:
    """Our number: mean, half the interval, and the seeds' deviation where there are several."""
    if not cells:
        return "–"
    s = summarise(cells, column.client)
    return f"{s.mean:.1f} ± {s.half:.1f}" + (f" (sd {s.spread:.1f})" if s.seeds > 1 else "")


def write_curves(table: Table, found: Found, folder: Path) -> list[Path]:
    """Learning curves of the first seed: loss and validation accuracy by round."""
    rows = [
        [METHODS[name]().title, title, p["stage"], p["round"], p["loss"], p.get("accuracy", "")]
        for (name, title), cells in found.items()
        for p in cells[0]["curve"]
    ]
    if not rows:
        return []
    path = folder / f"{table.name}-curves.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["method", "column", "stage", "round", "loss", "validation_accuracy"])
        out.writerows(rows)
    picture = path.with_suffix(".png")
    draw_curves(rows, picture)
    return [path, picture]


def draw_curves(rows: Sequence[Sequence[object]], path: Path) -> None:
    """Validation accuracy by round; one line for a method, in the table's first column."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 4.5), layout="constrained")
    axes = dict(zip(("pretraining", "training"), figure.subplots(1, 2), strict=True))
    for plot in axes.values():
        plot.set_prop_cycle(color=colormaps["tab20"](range(20)))  # more methods than the usual ten colours
    for title in dict.fromkeys(row[0] for row in rows):
        first = next(row[1] for row in rows if row[0] == title)
        for stage, plot in axes.items():
            points = [
                (float(str(row[3])), 100 * float(str(row[5])))
                for row in rows
                if (row[0], row[1], row[2]) == (title, first, stage) and row[5] != ""
            ]
            if points:
                plot.plot(*zip(*points, strict=True), ".-", label=str(title))
    for stage, plot in axes.items():
        plot.set(xlabel=f"round of {stage}", ylabel="right on validation frames, %")
        plot.grid(alpha=0.3)
        if plot.lines:
            plot.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=110)


def draw_snr(cells: dict[str, list[Result]], title: str, path: Path) -> Path:
    """Accuracy against SNR, one line per method."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5.5), layout="constrained")
    axes = figure.subplots()
    for number, (name, results) in enumerate(cells.items()):
        points = by_snr(results)
        if points:
            style = "k--" if name in LIMITS else ".-" if number < 10 else ".:"
            axes.plot(
                [snr for snr, _ in points],
                [100 * accuracy.share for _, accuracy in points],
                style,
                label=METHODS[name]().title,
            )
    axes.set(xlabel="SNR in dB", ylabel="right answers in %", ylim=(0, 101), title=title)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, ncols=2)
    figure.savefig(path, dpi=110)
    return path


def draw_confusion(cells: dict[str, list[Result]], path: Path) -> Path:
    """A matrix for each method, in percent of each true class."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(cells), 4), layout="constrained")
    for axes, (name, results) in zip(
        np.atleast_1d(figure.subplots(1, len(cells))), cells.items(), strict=True
    ):
        counts, classes = confusion(results), results[0]["result"]["classes"]
        share = counts / np.maximum(counts.sum(1, keepdims=True), 1)
        axes.imshow(share, vmin=0, vmax=1, cmap="Blues")
        for (i, j), value in np.ndenumerate(share):
            axes.text(
                j,
                i,
                f"{100 * value:.0f}",
                ha="center",
                va="center",
                color="white" if value > 0.5 else "black",
            )
        axes.set_xticks(range(len(classes)), classes)
        axes.set_yticks(range(len(classes)), classes)
        axes.set(xlabel="answer", ylabel="truth", title=METHODS[name]().title)
    figure.savefig(path, dpi=110)
    return path
