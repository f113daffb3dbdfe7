"""The pipeline of one band: every emission found, followed and named.

    Block -> Band.push() -> Evidence.push() -> EmissionEmbedder.push() -> Head.name_all() -> Prediction

Each emission has its own evidence. Of the questions that a tick of the front end raises, those that get
attention are answered together, so the result does not depend on how the stream is cut into blocks.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count

import numpy as np

from streaming.band.attention import Attention
from streaming.band.embedding import EmissionEmbedder
from streaming.band.emissions import Book, Emission
from streaming.band.evidence import Evidence, Question
from streaming.band.frontend import Band, BandSettings, Item, Piece, Silence
from streaming.block import Block, Samples, check_samples
from streaming.bundle import Bundle
from streaming.engine import Engine
from streaming.head import Head
from streaming.no_signal import Silences
from streaming.prediction import Prediction
from streaming.projection import Rows

MOST_EMISSIONS = 1024  # whose evidence is kept
STAGES = ("front end", "evidence", "judge", "embedding", "head", "reports")


class BandPipeline:
    """Blocks of one stream in; predictions of every emission, and of silences, out."""

    def __init__(self, bundle: Bundle, head: Head, engine: Engine) -> None:
        assert isinstance(bundle.meta.front_end, BandSettings)
        self.head, self.engine = head, engine
        self.band = Band(bundle.meta.front_end)
        self.embedder = EmissionEmbedder(bundle, engine, head.window)
        self.silences = Silences(len(head.classes))
        self.book = Book(head.names)
        self.attention = Attention()
        self.stages = dict.fromkeys(STAGES, 0.0)  # CPU seconds
        self._evidence: dict[int, Evidence] = {}
        self._block: Block | None = None  # the newest

    @property
    def next(self) -> int | None:
        """Index of the sample that should come next."""
        return self.band.next

    @property
    def skipped(self) -> int:
        """Samples before gaps and ends that were too few to judge."""
        return self.band.skipped

    @property
    def emission(self) -> int:
        """The number of the newest emission; what is found from here on is counted on from what is set."""
        return self.band.emitters.emissions

    @emission.setter
    def emission(self, number: int) -> None:
        self.band.emitters.emissions = number

    def push(self, block: Block) -> list[Prediction]:
        """The predictions that these samples complete."""
        check_samples(block.samples)
        return self.advance(block)

    def advance(self, block: Block) -> list[Prediction]:
        """What `push` gives, of samples that were checked."""
        found: list[Prediction] = []
        before = self._block
        if before and (block.freq_hz, block.rate_hz) != (before.freq_hz, before.rate_hz):
            found = self._answer_all(self.band.retune(), before)
            self._evidence.clear()
            self.book.end_all(before)
        self._block = block
        ticks = self.band.ticks(block)
        while True:
            with self._timed("front end"):
                items = next(ticks, None)
            if items is None:
                return found
            found += self._answer(items, block)

    def flush(self) -> list[Prediction]:
        """The predictions of what is left, as the stream ends."""
        if self._block is None:
            return []
        found = self._answer_all(self.band.flush(), self._block) + self.silences.end(self._block)
        self.book.end_all(self._block)
        return found

    def changes(self, interval_s: float) -> list[Emission]:
        """Emissions that began, changed or ended since it was last asked; updates at most each interval."""
        return self.book.take(self._block, self.next or 0, interval_s) if self._block else []

    def use(self, head: Head) -> None:
        """Answer with another head of the same window and hop, from the next question on."""
        self.head, self.silences.nothing = head, np.zeros(len(head.classes))
        self.book.names = head.names

    def take_over(self, old: "BandPipeline") -> None:
        """Go on for a pipeline that heard the same: its emissions keep their numbers, and what is known."""
        numbers, more = self.book.match(old.book), count(old.emission + 1)
        numbers = {n: numbers.get(n) or next(more) for n in range(1, self.emission + 1)}
        self.emission = next(more) - 1
        self.band.renumber(numbers)
        self._evidence = {numbers[n]: evidence for n, evidence in self._evidence.items()}
        for number, evidence in self._evidence.items():
            evidence.emission = number
        self.book, old.book = old.book, self.book
        self.attention, self.stages = old.attention, old.stages
        self.book.names = self.head.names

    def close(self) -> None:
        """Give the engine's states back."""
        self.embedder.close()

    def _answer(self, items: list[Item], block: Block) -> list[Prediction]:
        """What a tick gives: silences, and answers to the questions that get attention."""
        self.attention.advance(self.band.at_s)
        found, questions = self._hear(items, block)
        return self._named(found, self.attention.choose(questions, block.rate_hz), block)

    def _answer_all(self, items: list[Item], block: Block) -> list[Prediction]:
        """What is left gives, as the stream ends or goes on elsewhere."""
        found, questions = self._hear(items, block)
        return self._named(found, self.attention.choose_all(questions), block)

    def _hear(self, items: list[Item], block: Block) -> tuple[list[Prediction], list[Question]]:
        found, questions = list[Prediction](), list[Question]()
        with self._timed("evidence"):
            for item in items:
                if isinstance(item, Silence):
                    found += self.silences.push(block, item)
                    continue
                if item.begins:
                    found += self.silences.end(block)
                self.book.hear(item, block)
                questions += self._follow(item, block.rate_hz)
        return found, questions

    def _named(self, found: list[Prediction], questions: list[Question], block: Block) -> list[Prediction]:
        """Predictions that need no head, and those of questions, in the order of time."""
        if questions:
            with self._timed("embedding"):
                rows = self.embedder.push([(question.samples, question.box.snr_db) for question in questions])
            with self._timed("head"):
                found += self.predict(questions, rows, block)
        found.sort(key=lambda prediction: prediction.end)
        for prediction in found:
            self.book.answer(prediction)
            evidence = self._evidence.get(prediction.emission or 0)
            if evidence:
                evidence.answer(prediction)
        return found

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        began = time.thread_time()
        yield
        self.stages[stage] += time.thread_time() - began

    def _follow(self, piece: Piece, rate_hz: float) -> list[Question]:
        """What a piece asks of its emission's evidence; that of the one heard longest ago makes room."""
        evidence = self._evidence.pop(piece.emission, None)
        if evidence is None:
            evidence = Evidence(piece.emission, self._judge)
            piece = piece if piece.begins else replace(piece, begins="signal")
        self._evidence[piece.emission] = evidence
        if len(self._evidence) > MOST_EMISSIONS:
            del self._evidence[next(iter(self._evidence))]
        return evidence.push(piece, rate_hz)

    def _judge(self, samples: Samples, snr_db: float) -> tuple[str, float] | None:
        """The likeliest family of some samples, or class of a head without families, and its probability."""
        if not self.attention.judges():
            return None
        began = time.thread_time()
        names = self.head.names
        probabilities = self.head.probabilities(self.embedder.push([(samples, snr_db)]))[0]
        known: tuple[str, ...] = names.classes
        if names.families:
            known, probabilities = names.known_families, names.family_probabilities(probabilities)
        spent_s = time.thread_time() - began
        self.stages["judge"] += spent_s
        self.stages["evidence"] -= spent_s  # which asked
        return known[int(probabilities.argmax())], float(probabilities.max())

    def predict(self, questions: list[Question], rows: Rows, block: Block) -> list[Prediction]:
        """What the head says."""
        outputs = len(self.head.mean)  # behind them are the odds of an outlier
        named = zip(questions, rows[:, :outputs], *self.head.name_all(rows), strict=True)
        return [
            Prediction(
                start=round(question.start),
                end=round(question.end),
                label=name.label,
                probability=name.probability,
                probabilities=row,
                past=question.begins or "warm",
                utc_ns=block.utc_at(round(question.start)),
                clock=block.clock,
                begin=round(question.begin),
                snr_db=question.box.snr_db,
                level_db=question.box.level_db,
                bandwidth_hz=question.box.width,
                offset_hz=question.box.centre,
                family=name.family,
                emission=question.emission,
                centre_hz=None if block.freq_hz is None else block.freq_hz + question.box.centre,
                embedding=embedding,
            )
            for question, embedding, name, row in named
        ]
