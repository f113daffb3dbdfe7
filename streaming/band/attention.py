"""Attention: which questions are answered, and when. What is left out by choice is thinned, and counted.

    credit(t) = min(BURST_S, credit + share dt),    an answer or a judgement costs its price

`share` is the part of a processor that answers may take, without limit where nothing has to keep up. While
there is no credit questions wait, so that many at once do not delay all. First come emissions that were never
answered, which may also run into debt, then those that were passed over most often. What has become old, or
is replaced by a newer question of its emission, is thinned. Time is that of the signal, so what is thinned
does not depend on how the stream is cut into blocks.
"""

import math
from dataclasses import dataclass

from streaming.band.evidence import Question

BURST_S = 0.012  # of the processor that may be saved up, so that several can be answered at once
DEBT_S = 0.024  # that emissions never answered may owe
OLD_S, NEW_OLD_S = 0.03, 0.25  # of signal since its end: then a question no longer waits; one never answered
SAVED_S = BURST_S / 2  # of these that judgements must leave for answers
MOST = 1024  # emissions that are remembered


@dataclass(frozen=True, slots=True)
class Waiting:
    """A question that was not answered at once."""

    question: Question
    end_s: float


class Attention:
    """Questions in, those that are to be answered out."""

    def __init__(self) -> None:
        self.share = math.inf  # of a processor
        self.price_s = self.judged_price_s = 0.0  # of an answer, and of a judgement
        self.answered = self.thinned = 0  # questions
        self.judged = self.unjudged = 0  # suspected changes that were looked at, or left out
        self._credit = 0.0
        self.at_s = -math.inf  # of the stream
        self._passed: dict[int, int] = {}  # how often an emission was passed over since its last answer
        self._waiting: dict[int, Waiting] = {}

    def afford(self, share: float, price_s: float, judged_price_s: float) -> None:
        """From here on answers and judgements may take this share of a processor, at these prices."""
        self.share, self.price_s, self.judged_price_s = share, price_s, judged_price_s

    def advance(self, at_s: float) -> None:
        """The stream is at this second."""
        if math.isfinite(self.share) and math.isfinite(self.at_s):
            self._credit = min(BURST_S, self._credit + self.share * max(0.0, at_s - self.at_s))
        self.at_s = at_s

    def judges(self) -> bool:
        """Whether a suspected change may be judged now."""
        if math.isfinite(self.share):
            if self._credit <= SAVED_S:
                self.unjudged += 1
                return False
            self._credit -= self.judged_price_s
        self.judged += 1
        return True

    def choose(self, questions: list[Question], rate_hz: float) -> list[Question]:
        """Those that are answered now, in the order in which they were raised."""
        if not math.isfinite(self.share):
            return self.choose_all(questions)
        for question in questions:
            self._pass_over(question.emission)
            self._waiting[question.emission] = Waiting(question, question.end / rate_hz)
        while len(self._waiting) > MOST:
            self._pass_over(next(iter(self._waiting)))
        newest_first = reversed(self._waiting)
        order = sorted(newest_first, key=lambda number: -self._passed.get(number, MOST))
        serve = [number for number in order if self._pays(number)]
        chosen = [one.question for number, one in list(self._waiting.items()) if number in serve]
        for question in chosen:
            del self._waiting[question.emission]
            self._answer(question)
        for number, one in list(self._waiting.items()):
            if self.at_s - one.end_s > (OLD_S if number in self._passed else NEW_OLD_S):
                self._pass_over(number)
        return chosen

    def choose_all(self, questions: list[Question]) -> list[Question]:
        """These and those that wait, whatever it costs."""
        chosen = [*(one.question for one in self._waiting.values()), *questions]
        self._waiting = {}
        for question in chosen:
            self._answer(question)
        return chosen

    def _pays(self, number: int) -> bool:
        """Whether there is credit for an answer about this emission; then it is spent."""
        if self._credit <= (0.0 if number in self._passed else -DEBT_S):
            return False
        self._credit -= self.price_s
        return True

    def _answer(self, question: Question) -> None:
        self.answered += 1
        self._passed.pop(question.emission, None)
        self._passed[question.emission] = 0
        if len(self._passed) > MOST:
            del self._passed[next(iter(self._passed))]

    def _pass_over(self, number: int) -> None:
        """What waits of this emission, if anything, is not answered."""
        if self._waiting.pop(number, None):
            self.thinned += 1
            if number in self._passed:
                self._passed[number] += 1
