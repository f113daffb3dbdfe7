"""Runs the cells of tables: those that are not there yet, several side by side, each in one thread.

Cells that share a pretraining are run by one worker, one after the other, so that it is done once.
"""

import multiprocessing as mp
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

from training.experiments.cells import Cell, cached, digest, run_cell

OnProgress = Callable[[int, int, Cell | None], None]  # cells done, cells in all, the one done last


def run_cells(cells: Sequence[Cell], cache: Path, workers: int, progress: OnProgress) -> None:
    """Run what is missing."""
    unique = list({cell.key: cell for cell in cells}.values())
    left = [cell for cell in unique if cached(cell, cache) is None]
    done = len(unique) - len(left)
    progress(done, len(unique), None)
    if not left:
        return
    if workers == 1:
        for cell in left:
            quiet(cell, cache)
            done += 1
            progress(done, len(unique), cell)
        return
    with ProcessPoolExecutor(workers, mp.get_context("spawn"), start_worker) as pool:
        running = {pool.submit(run_group, group, cache): group for group in grouped(left)}
        pending: set[Future[None]] = set(running)
        while pending:
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                future.result()
                done += len(running[future])
                progress(done, len(unique), running[future][-1])


def grouped(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells that share a pretraining, together."""
    groups: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[digest(cell.pretraining())].append(cell)
    return list(groups.values())


def start_worker() -> None:
    """One thread per worker; its small progress bars would only disturb the large one."""
    import torch

    torch.set_num_threads(1)
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for the life of the worker


def run_group(cells: Sequence[Cell], cache: Path) -> None:
    """In a worker."""
    for cell in cells:
        run_cell(cell, cache)


def quiet(cell: Cell, cache: Path) -> dict[str, Any]:
    """In this process, without the small progress bars."""
    import contextlib

    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
            return run_cell(cell, cache)
    finally:
        torch.set_num_threads(threads)
