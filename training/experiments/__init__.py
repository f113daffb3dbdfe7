"""The paper's experiments by name, and how one is run.

>>> [path.name for path in run("complexity", Settings(Path("runs/experiments")))]
['complexity.csv', 'complexity.md']
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from streaming.errors import ConfigError
from training.experiments import complexity, distributions, mobility, rates
from training.experiments.cases import Case, missing
from training.experiments.cells import LIMITS, Cell, cached, commit, machine
from training.experiments.output import Found, write_table
from training.experiments.runner import OnProgress, run_cells
from training.experiments.scale import SCALES, Scale, find_scale
from training.experiments.tables import TABLES, Column, Table, methods_of
from training.methods import METHODS

OTHERS = {
    "complexity": "weights, operations, rounds and bytes of every method",
    "label-distributions": "how Dirichlet(alpha) divides MIGOU's classes",
    "mobility": "speeds, carriers and sample rates as carrier offsets",
    "rates": "three learning rates for every method, judged on validation frames",
}
FEDERATED = {
    "stations": "real recordings at four stations: pretrained alone, federated and pooled",
    "privacy": "accuracy against epsilon with 1,000 simulated stations",
    "inversion": "an attack on updates, without and with protections",
}
FLAGS = {  # of the command, for each setting that may be changed
    "heterogeneity": "--clients {}",
    "unit_power": "--unnormalised",
    "level": "--level {}",
    "proximal": "--proximal {}",
    "activation": "--activation {}",
}
EXPERIMENTS = {name: table.about for name, table in TABLES.items()} | OTHERS


@dataclass(frozen=True)
class Settings:
    """How experiments are run."""

    out: Path
    scale: Scale = SCALES["hour"]
    seeds: int = 1
    first_seed: int = 0
    data: Path = Path("data")
    workers: int = 2
    methods: tuple[str, ...] = ()  # only these; empty: all
    columns: tuple[str, ...] = ()
    changes: tuple[tuple[str, Any], ...] = ()  # to the budget of every column
    case: tuple[tuple[str, Any], ...] = ()  # to the clients of every synthetic column
    report: bool = False  # write tables of the cells that are there, and run nothing
    progress: OnProgress = lambda done, total, cell: None
    say: Callable[[str], None] = print

    def __post_init__(self) -> None:
        if self.seeds < 1 or self.workers < 1 or self.first_seed < 0:
            raise ConfigError("--seeds and --workers must be at least 1, --first-seed at least 0")
        for name in self.methods:
            if name not in METHODS:
                raise ConfigError(f"there is no method {name!r}; there are {', '.join(METHODS)}")

    @property
    def folder(self) -> Path:
        """Where a scale's files are; changed settings have a folder of their own, for tables must not mix."""
        changed = [f"{name}-{value}" for name, value in (*self.case, *self.changes)]
        return self.out / "-".join([self.scale.name, *changed])


def run(name: str, settings: Settings) -> list[Path]:
    """Run one experiment, or all; the files that it wrote."""
    if settings.report and name not in TABLES:
        raise ConfigError(f"--report is for one table; {name} is none")
    if name == "all":
        return run_all(settings)
    if name not in EXPERIMENTS:
        raise ConfigError(f"there is no experiment {name!r}; wavetell experiment --list names them")
    if name == "complexity":
        return complexity.write(settings.folder)
    if name == "mobility":
        return mobility.write(settings.folder)
    if name == "label-distributions":
        return distributions.write(settings.folder, settings.data)
    if name == "rates":
        return rates.write(
            settings.folder, settings.scale, settings.data, settings.workers, settings.progress
        )
    return run_table(changed(TABLES[name], settings), settings)


def run_all(settings: Settings) -> list[Path]:
    """Everything that can be run here; cells of all tables are shared out at once."""
    cells: list[Cell] = []
    for table in TABLES.values():
        cells += table_cells(changed(table, settings), settings)
    run_cells(cells, settings.folder / "cache", settings.workers, settings.progress)
    paths = []
    for name in EXPERIMENTS:
        absent = missing(Case("migou"), settings.data) if name == "label-distributions" else None
        if name in TABLES and not columns_of(TABLES[name], settings):
            absent = missing(TABLES[name].columns[0].case, settings.data)
        if absent is not None:
            settings.say(f"{name}: left out; put {absent.name} into {absent.parent}/")
            continue
        paths += run(name, settings)
    return paths


def run_table(table: Table, settings: Settings) -> list[Path]:
    """Run the cells that are missing, then write the table."""
    columns = columns_of(table, settings)
    for column in table.columns:
        absent = missing(column.case, settings.data)
        if absent is not None:
            what = f"{table.name}, column {column.title}"
            message = f"{what}: needs {absent.name}; put it into {absent.parent}/"
            if not columns:
                raise ConfigError(message)
            settings.say(message)
    started = time.monotonic()
    if not settings.report:
        run_cells(
            table_cells(table, settings), settings.folder / "cache", settings.workers, settings.progress
        )
    found: Found = {}
    for column in columns:
        for method in chosen_methods(table, column, settings):
            cells = [cell_of(method, column, seed, settings) for seed in seeds(method, settings)]
            results = [cached(cell, settings.folder / "cache") for cell in cells]
            there = [result for result in results if result is not None]
            if there:
                found[method, column.title] = there
    if not found:
        raise ConfigError(f"no cell of {table.name} has been run at this scale yet")
    return write_table(table, found, settings.folder, heading(table, settings, started, found))


def heading(table: Table, settings: Settings, started: float, found: Found) -> list[str]:
    """Command, seeds, commit, machine and time."""
    results = [result for cells in found.values() for result in cells]
    cpu = sum(result["cpu_seconds"] for result in results)
    commits = sorted({result["commit"] for result in results})
    last = f"{settings.first_seed}–{settings.first_seed + settings.seeds - 1}"
    return [
        f"`{command(table.name, settings)}`",
        "",
        f"Scale `{settings.scale.name}`: {settings.scale.about}.",
        "",
        f"Seeds {last}; commit of the cells {', '.join(commits) or commit()}; {machine()}; "
        f"{cpu / 60:.1f} CPU minutes for all cells, {time.monotonic() - started:.0f} s in this call.",
        "",
        "In percent; ± is half the 95 % interval that the number of test frames gives, sd the deviation of "
        "the seeds' means.",
    ]


def command(name: str, settings: Settings) -> str:
    """The command that writes the same table."""
    parts = [f"wavetell experiment {name} --scale {settings.scale.name} --seeds {settings.seeds}"]
    if settings.first_seed:
        parts.append(f"--first-seed {settings.first_seed}")
    if settings.methods:
        parts.append(f"--methods {','.join(settings.methods)}")
    if settings.columns:
        parts.append(f"--columns '{','.join(settings.columns)}'")
    parts += [FLAGS[name].format(value) for name, value in (*settings.case, *settings.changes)]
    return " ".join(parts)


def changed(table: Table, settings: Settings) -> Table:
    """The table with the changes that were asked for; a column's own come first."""
    columns = [
        replace(
            column,
            case=column.case if column.case.measured else replace(column.case, **dict(settings.case)),
            changes=tuple((dict(settings.changes) | dict(column.changes)).items()),
        )
        for column in table.columns
    ]
    return replace(table, columns=tuple(columns))


def table_cells(table: Table, settings: Settings) -> list[Cell]:
    """Every cell of a table that can be run here."""
    return [
        cell_of(method, column, seed, settings)
        for column in columns_of(table, settings)
        for method in chosen_methods(table, column, settings)
        for seed in seeds(method, settings)
    ]


def cell_of(method: str, column: Column, seed: int, settings: Settings) -> Cell:
    """One cell of a table."""
    return Cell(method, column.case, seed, settings.scale, settings.data, column.changes)


def columns_of(table: Table, settings: Settings) -> list[Column]:
    """The columns whose data is there and that were asked for."""
    return [
        column
        for column in table.columns
        if missing(column.case, settings.data) is None
        and (not settings.columns or column.title in settings.columns)
    ]


def chosen_methods(table: Table, column: Column, settings: Settings) -> tuple[str, ...]:
    """The methods of a column that were asked for."""
    return tuple(
        name for name in methods_of(table, column) if not settings.methods or name in settings.methods
    )


def seeds(method: str, settings: Settings) -> range:
    """The seeds, one after the other; a limit has none."""
    if method in LIMITS:
        return range(1)
    return range(settings.first_seed, settings.first_seed + settings.seeds)


__all__ = ["EXPERIMENTS", "FEDERATED", "Settings", "find_scale", "run"]
