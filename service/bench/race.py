"""A race on one core: all runners take short turns, round after round, and so meet the same conditions.

Times are CPU time of the whole process: neither other programs nor a library's own threads distort them. A
runner's speed is that of its 10th-percentile turn: faster ones are luck, slower ones were disturbed.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from threadpoolctl import threadpool_limits

TURN_S = 0.02
FEWEST_TURNS = 3


@contextmanager
def one_core() -> Iterator[int]:
    """Stay on one core with one thread, and give the core's number."""
    cores, threads = os.sched_getaffinity(0), torch.get_num_threads()
    core = max(cores)  # interrupts prefer the first
    os.sched_setaffinity(0, {core})
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield core
    finally:
        os.sched_setaffinity(0, cores)
        torch.set_num_threads(threads)


class Runner:
    """Something to be timed: `unit` does a piece of work and returns how much it was."""

    def __init__(self, unit: Callable[[], float]) -> None:
        self.unit = unit
        self.units_s: list[float] = []  # CPU seconds of each unit
        self.turns: list[float] = []  # CPU seconds per amount of work, of each turn
        self.spent_s = 0.0

    def turn(self) -> None:
        """Work for a little while."""
        begin = last = time.process_time()
        amount = 0.0
        while last < begin + TURN_S:
            amount += self.unit()
            now = time.process_time()
            self.units_s.append(now - last)
            last = now
        self.spent_s += last - begin
        self.turns.append((last - begin) / amount)

    @property
    def per_s(self) -> float:
        """Work a second, of the 10th-percentile turn."""
        return 1 / float(np.percentile(self.turns, 10))

    def unit_us(self, percent: float) -> float:
        """A percentile of the time a unit took, in microseconds."""
        return 1e6 * float(np.percentile(self.units_s, percent))


def race(runners: Sequence[Runner], seconds: float) -> None:
    """Turn after turn until each has spent this much CPU time."""
    while waiting := [r for r in runners if r.spent_s < seconds or len(r.turns) < FEWEST_TURNS]:
        for runner in waiting:
            runner.turn()
