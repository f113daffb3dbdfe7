"""Attention: which questions are answered. What is left out by choice is thinned, and counted.

    credit(t) = min(1 s of budget, credit + budget dt),    an answer costs 1

The budget is in answers per second of signal, without limit while the processor keeps up. A new emission may
run into debt, one that was named before may not: under load, those that are known well are answered less
often. Time is that of the signal, so what is thinned does not depend on how the stream is cut into blocks.
"""

import math

from streaming.band.evidence import Question

FULL, EMPTY = 0.25, 0.05  # of a queue: above, there is too much work; below, there is room for more
LESS, MORE = 0.7, 1.05  # times the budget, each `STEP_S`
STEP_S = 0.05
LEAST, MOST = 2.0, 10_000.0  # answers per second; above, there is no limit
DEBT_S = 1.0  # of budget, and at least so many answers:
DEBT = 8.0


class Attention:
    """Questions in, those that are to be answered out."""

    def __init__(self) -> None:
        self.budget = math.inf  # answers per second
        self.answered = self.thinned = 0
        self._credit = 0.0
        self._rate = 0.0  # answers per second lately
        self._at = 0.0  # seconds
        self._adapted = -math.inf

    def choose(self, questions: list[Question], rate_hz: float) -> list[Question]:
        """Those that the budget allows."""
        chosen = [question for question in questions if self._allows(question, question.end / rate_hz)]
        self.answered += len(chosen)
        self.thinned += len(questions) - len(chosen)
        return chosen

    def _allows(self, question: Question, at_s: float) -> bool:
        passed = max(0.0, at_s - self._at)
        self._at = max(self._at, at_s)
        self._rate *= math.exp(-passed)
        if math.isfinite(self.budget):
            self._credit = min(max(1.0, self.budget), self._credit + passed * self.budget)
            least = -max(DEBT, DEBT_S * self.budget) if question.begins else 0.0
            if self._credit - 1 < least:
                return False
            self._credit -= 1
        self._rate += 1
        return True

    def adapt(self, fullness: float, now_s: float) -> None:
        """Follow the queue of a stream at this second of it: 1 where it is full and samples will be lost."""
        if now_s - self._adapted < STEP_S:
            return
        self._adapted = now_s
        if fullness > FULL:
            self.set_budget(max(LEAST, min(self.budget, self._rate) * LESS))
        elif fullness < EMPTY and math.isfinite(self.budget):
            self.set_budget(self.budget * MORE)

    def set_budget(self, answers_per_s: float) -> None:
        """So many answers per second from here on."""
        if not math.isfinite(self.budget):
            self._credit = 0.0
        self.budget = answers_per_s if answers_per_s < MOST else math.inf
