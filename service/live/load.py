"""Load: how much of the engine's time there is for answers, and what an answer costs.

    share = (BUSY - everything else) / streams,    less while blocks come late

of a second of the engine thread, measured over the last steps. Everything else, the front end above all, must
be done or samples are lost; so answers get what is left, and of an engine that hardly keeps up only `LEAST`.
A recording that is read as fast as it goes waits, so its answers have no limit and its work does not count.
"""

import time
from collections import deque
from collections.abc import Collection
from typing import NamedTuple

from streaming.band.pipeline import BandPipeline

RECENT_S = 10.0  # what the real-time factor is taken over
STEP_S = 0.1  # between two looks at the load
BUSY = 0.8  # of the engine's time that may be used: the rest is for readers, requests and what comes at once
LEAST = 0.02  # share of a stream
LATE_S = 0.06  # from a block's arrival to its answers: later, there is too much work
LESS, MORE = 0.8, 1.2  # times the share, each step
FIRST = 0.2  # share of a stream that begins: all that is there is found at once then
PRICE_S = 0.004  # of an answer, as long as none was given
SMOOTH = 0.3  # part of a mean that is the newest step's


class Spent(NamedTuple):
    """Processor time of a pipeline, and what it went into."""

    answers_s: float = 0.0
    judge_s: float = 0.0
    answered: float = 0
    judged: float = 0

    @classmethod
    def by(cls, pipeline: BandPipeline) -> "Spent":
        """So far."""
        stages, attention = pipeline.stages, pipeline.attention
        return cls(
            stages["embedding"] + stages["head"], stages["judge"], attention.answered, attention.judged
        )

    def since(self, before: "Spent") -> "Spent":
        """What was added."""
        return Spent(*(now - then for now, then in zip(self, before, strict=True)))


class Price:
    """What one of a kind costs, in the mean of late."""

    def __init__(self) -> None:
        self.seconds = PRICE_S

    def add(self, seconds: float, count: float) -> None:
        """So many took so long."""
        if count:
            self.seconds += SMOOTH * (seconds / count - self.seconds)


class Load:
    """Belongs to the engine thread, but for `real_time_factor`."""

    def __init__(self) -> None:
        self._recent: deque[tuple[float, float, float]] = deque()  # when, seconds of signal, seconds of work
        self.began = self._looked = time.monotonic()
        self._worked_s = self._late_s = 0.0  # since then: work that cannot wait, and the latest block
        self._spent: dict[BandPipeline, Spent] = {}  # so far
        self._other = 0.0  # share of all other work
        self._answer, self._judgement = Price(), Price()
        self._part = 1.0  # of what is left that is given to answers

    @property
    def real_time_factor(self) -> float:
        """Seconds of signal processed per second of work, lately; below 1 samples must be dropped."""
        recent = list(self._recent)
        worked = sum(work for _, _, work in recent)
        return sum(signal for _, signal, _ in recent) / worked if worked else 0.0

    def add(self, signal_s: float, work_s: float) -> None:
        """So much signal of every stream was processed."""
        now = time.monotonic()
        self._recent.append((now, signal_s, work_s))
        while self._recent[0][0] < now - RECENT_S:
            self._recent.popleft()

    def work(self, seconds: float, late_s: float) -> None:
        """So much time was spent on streams that cannot wait; their newest answers are so late."""
        self._worked_s += seconds
        self._late_s = max(self._late_s, late_s)

    def adapt(self, live: Collection[BandPipeline], now: float) -> None:
        """Give these pipelines, of streams that cannot wait, their share for the next step."""
        passed_s = now - self._looked
        if passed_s < STEP_S:
            return
        spent, self._spent = self._spent, {pipeline: Spent.by(pipeline) for pipeline in live}
        newest = [now.since(spent.get(pipeline, Spent())) for pipeline, now in self._spent.items()]
        self._answer.add(sum(one.answers_s for one in newest), sum(one.answered for one in newest))
        self._judgement.add(sum(one.judge_s for one in newest), sum(one.judged for one in newest))
        other_s = self._worked_s - sum(one.answers_s + one.judge_s for one in newest)
        self._other += SMOOTH * (other_s / passed_s - self._other)
        self._part = max(LEAST, self._part * LESS) if self._late_s > LATE_S else min(1.0, self._part * MORE)
        self._looked, self._worked_s, self._late_s = now, 0.0, 0.0
        for pipeline in live:
            self.give(pipeline, self._part * (BUSY - self._other) / len(live))

    def give(self, pipeline: BandPipeline, share: float = FIRST) -> None:
        """A share for the answers of a pipeline; the first one before anything is measured."""
        pipeline.attention.afford(max(LEAST, share), self._answer.seconds, self._judgement.seconds)
