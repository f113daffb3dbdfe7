"""Why a model answers as it does: what it saw of the strongest emission of a recording.

    said for the class   log odds of the class against its rival, minus the same without a group of features
    symbol rate          the strongest line of the power's or the phase increment's spectrum

A group is left out by setting its features to the mean of the training emissions.
"""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from streaming.band.evidence import Question
from streaming.band.pipeline import BandPipeline
from streaming.block import Block, Samples
from streaming.bundle import Bundle
from streaming.engine import Engine
from streaming.errors import ConfigError, InputError
from streaming.features import describe
from streaming.features.groups import groups
from streaming.head import Head
from streaming.pipeline import choose_head
from streaming.prediction import Prediction
from streaming.report import by_emission

LOWEST_RATE = 1 / 2_000  # symbols per sample that are looked for
CLEAR_DB = 12.0  # a line this far above the median is a symbol clock


@dataclass(frozen=True)
class SymbolRate:
    """A line at the symbol rate, and how far it stands out."""

    rate_hz: float
    strength_db: float

    @property
    def clear(self) -> bool:
        """Whether it is more than noise makes."""
        return self.strength_db >= CLEAR_DB


@dataclass(frozen=True)
class Explanation:
    """What is known about one emission."""

    prediction: Prediction
    probabilities: dict[str, float]  # the likeliest first
    symbol_rate: SymbolRate
    rival: str  # the second class
    reasons: dict[str, float]  # what spoke for the class against its rival, in log odds; the strongest first
    nearest: dict[str, int]  # classes of the nearest vectors that the head keeps
    outlier_odds: float  # log odds; unknown above `outlier_limit`
    outlier_limit: float
    samples: Samples = field(repr=False)  # its evidence
    rate_hz: float = 0.0  # of them


class Listener(BandPipeline):
    """A pipeline that also keeps the newest question of each emission."""

    def __init__(self, bundle: Bundle, head: Head, engine: Engine) -> None:
        super().__init__(bundle, head, engine)
        self.questions: dict[int, tuple[Question, Prediction]] = {}

    def predict(self, questions: list[Question], rows: NDArray[np.float32], block: Block) -> list[Prediction]:
        """Answer, and remember what was asked."""
        found = super().predict(questions, rows, block)
        for question, prediction in zip(questions, found, strict=True):
            self.questions[question.emission] = question, prediction
        return found


def explain(
    bundle: Bundle, engine: Engine, blocks: Iterable[Block], emission: int | None = None
) -> Explanation:
    """The emission with the most energy, or the one of this number."""
    if bundle.projection is None:
        raise ConfigError(
            f"model {bundle.name} has no features; explain needs a model for the air, such as radio"
        )
    head = choose_head(bundle, "", "live")
    predictions: list[Prediction] = []
    with closing(Listener(bundle, head, engine)) as pipeline:
        for block in blocks:
            predictions += pipeline.push(block)
            rate_hz = block.rate_hz
        predictions += pipeline.flush()
        heard = [of_one[0].emission or 0 for of_one in by_emission(predictions)]
        if not heard:
            raise InputError("no emission was found")
        chosen = heard[0] if emission is None else emission
        if chosen not in pipeline.questions:
            raise InputError(f"there is no emission {chosen}; there are {', '.join(map(str, sorted(heard)))}")
        question, prediction = pipeline.questions[chosen]
        row = pipeline.embedder.push([(question.samples, question.box.snr_db)])
    return explained(bundle, head, prediction, question, row, rate_hz / question.step)


def explained(
    bundle: Bundle,
    head: Head,
    prediction: Prediction,
    question: Question,
    row: NDArray[np.float32],
    model_hz: float,
) -> Explanation:
    """All about one embedding."""
    order = np.argsort(-prediction.probabilities)
    best, second = int(order[0]), int(order[1])
    likely = {head.classes[i]: float(prediction.probabilities[i]) for i in order.tolist()}
    return Explanation(
        prediction,
        likely,
        symbol_rate(question.samples, model_hz),
        head.classes[second],
        reasons(bundle, head, question, row, best, second),
        nearest(head, row),
        float(row[0, -1]),
        head.outlier_limit if head.outlier_limit is not None else np.inf,
        question.samples,
        model_hz,
    )


def reasons(
    bundle: Bundle, head: Head, question: Question, row: NDArray[np.float32], best: int, second: int
) -> dict[str, float]:
    """What each group of features adds to the log odds of the best class against the second."""
    assert bundle.projection is not None
    features = describe(question.samples, question.box.snr_db)
    about = groups()
    without = np.tile(features, (len(about), 1))
    for place, changed in zip(about.values(), without, strict=True):
        changed[place] = bundle.projection.mean[place]
    encoded = np.tile(row[:, : bundle.encoder.shape.outputs], (len(about), 1))
    rows = np.concatenate([row, np.concatenate([encoded, bundle.projection.push(without)], 1)])
    p = np.log(head.probabilities(rows) + 1e-12)
    odds = p[:, best] - p[:, second]
    lost = dict(zip(about, (odds[0] - odds[1:]).tolist(), strict=True))
    return dict(sorted(lost.items(), key=lambda item: -abs(item[1])))


def nearest(head: Head, row: NDArray[np.float32], count: int = 10) -> dict[str, int]:
    """The classes of the vectors nearest to an embedding, among those that the head keeps."""
    z = (row[0, : len(head.mean)] - head.mean) / head.scale
    distance = np.square(head.vectors.astype(np.float64) - z).sum(1)
    of = np.repeat(np.arange(len(head.classes)), head.counts)
    names = [head.classes[i] for i in of[np.argsort(distance)[:count]].tolist()]
    return {name: names.count(name) for name in dict.fromkeys(names)}


def symbol_rate(x: Samples, rate_hz: float) -> SymbolRate:
    """The strongest line of the power's and the phase increment's spectrum."""
    steps = x[1:] * x[:-1].conj()
    frequency = np.angle(steps * np.conj(steps.mean() + 1e-20)) * np.minimum(np.abs(steps), 2)
    best = SymbolRate(0.0, -np.inf)
    for series in (np.square(np.abs(x[1:])), frequency, np.abs(np.diff(frequency, prepend=0.0))):
        power = np.square(np.abs(fft.rfft((series - series.mean()) * np.hanning(len(series)))))
        first = max(4, int(LOWEST_RATE * len(series)))
        at = first + int(power[first:].argmax())
        near = power[max(first, at - 200) : at + 200]
        strength_db = 10 * float(np.log10(power[at] / (np.median(near) + 1e-30)))
        if strength_db > best.strength_db:
            best = SymbolRate(at / len(series) * rate_hz, strength_db)
    return best
