"""Training beside the live pipeline: in a child process of low priority, restarted where it dies."""

import logging
import multiprocessing as mp
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from pathlib import Path

from streaming.errors import InputError
from training.federation.manifest import Manifest
from training.federation.station.judging import Verdict, judge
from training.federation.station.lesson import Data, Learnt, Lesson, Wanted
from training.federation.station.loop import Result

log = logging.getLogger(__name__)
NICE = 15  # the live pipeline comes first
TRIES = 3  # a child that dies every time has a reason


class Background:
    """Trains a station's rounds in a child process, which keeps the frames between rounds."""

    def __init__(self, data: Data, station: str, probe: bool = False, nice: int = NICE) -> None:
        self.data, self.station, self.probe, self.nice = data, station, probe, nice
        self._pool = start(nice)

    def __call__(self, folder: Path, manifest: Manifest, generation: int) -> Result:
        """One round; where the child was killed, a new one resumes from its checkpoint."""
        lesson = Lesson(folder, manifest, self.data, self.station, generation, self.probe)
        for _ in range(TRIES):
            try:
                learnt = self._pool.submit(learn_there, lesson).result()
                return learnt.examples, learnt.measured()
            except BrokenProcessPool:
                log.warning("the training was killed; it resumes from its checkpoint")
                self._pool = start(self.nice)
        raise InputError(f"the training was killed {TRIES} times")

    def make_own(self, folder: Path, manifest: Manifest, wanted: Wanted) -> None:
        """Write the newest global model as a bundle with the station's own head, at the same low priority."""
        self._pool.submit(make_there, folder, manifest, wanted).result()

    def judge(self, folder: Path, manifest: Manifest, wanted: Wanted) -> Verdict:
        """Judge the newest global model by the station's own labels, at the same low priority."""
        return self._pool.submit(judge, folder, manifest, wanted).result()

    def close(self) -> None:
        """End the child."""
        self._pool.shutdown(cancel_futures=True)


def start(nice: int) -> ProcessPoolExecutor:
    """A child that waits for work."""
    return ProcessPoolExecutor(1, mp.get_context("spawn"), be_modest, (nice,))


def be_modest(nice: int) -> None:
    """Low priority, and an end with the station's."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    os.nice(nice)


def end_with_parent() -> None:
    """A station that is killed leaves no child behind: its successor starts its own."""
    parent = mp.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def learn_there(lesson: Lesson) -> Learnt:
    """In the child: the parent, which stays beside the live pipeline, never loads torch."""
    import torch

    from training.federation.station.learner import learn

    torch.set_num_threads(1)  # more would add in another order, and give other bits
    return learn(lesson)


def make_there(folder: Path, manifest: Manifest, wanted: Wanted) -> None:
    """In the child, too."""
    from training.federation.station.own import make_own

    make_own(folder, manifest, wanted)
