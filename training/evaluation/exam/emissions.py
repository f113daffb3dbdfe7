"""The emissions that a model finds in a source: what the exam judges. Only `emissions_of` runs the pipeline.

The energy of an emission is its power above the noise times its duration.
"""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass

from streaming.block import Block
from streaming.bundle import Bundle
from streaming.engine import Engine
from streaming.head import Head
from streaming.pipeline import choose_head, open_pipeline
from streaming.prediction import UNKNOWN, Prediction
from streaming.report import Run, by_emission, energy
from training.evaluation.exam.labels import families_of
from training.signals.classes import FAMILIES, NOISE

CARRIER = FAMILIES["carrier"]


@dataclass(frozen=True)
class FoundEmission:
    """What the model reported of one transmitter; a bursty one is one emission with several bursts."""

    begin: int  # samples of the source, [begin, end)
    end: int
    lower_hz: float  # from the source's centre
    upper_hz: float
    snr_db: float | None
    label: str  # a class, a family or UNKNOWN
    family: str | None  # None where the label is UNKNOWN
    probability: float
    probabilities: dict[str, float]
    energy: float
    bursts: tuple[tuple[int, int], ...]  # [begin, end) of each, in order

    @property
    def unknown(self) -> bool:
        """Whether the model refused to name it."""
        return self.label == UNKNOWN

    @property
    def bare_carrier(self) -> bool:
        """Whether it was named as what a steady spur is."""
        return self.family == CARRIER


def emissions_of(bundle: Bundle, engine: Engine, blocks: Iterable[Block]) -> list[FoundEmission]:
    """Every emission that the model's first live head finds; the engine's hop must be that head's.

    What the head calls noise is not an emission.
    """
    head = choose_head(bundle, "", "live")
    predictions: list[Prediction] = []
    rate_hz = 0.0
    with closing(open_pipeline(bundle, head, engine)) as pipeline:
        for block in blocks:
            rate_hz = block.rate_hz
            predictions += pipeline.push(block)
        predictions += pipeline.flush()
    every = [found(of_one, head, rate_hz) for of_one in by_emission(predictions)]
    return [emission for emission in every if emission.label != NOISE]


def found(predictions: list[Prediction], head: Head, rate_hz: float) -> FoundEmission:
    """What was said about one emission; without a front end it fills the band."""
    run = Run(predictions[0])
    bursts: dict[int, int] = {}
    for prediction in predictions[1:]:
        run.add(prediction)
    for one in predictions:
        bursts[one.begin] = max(one.end, bursts.get(one.begin, 0))
    answer = run.report(head.names).prediction
    widest = max(predictions, key=lambda one: one.end - one.start)  # says most about the band
    bandwidth_hz = rate_hz if widest.bandwidth_hz is None else widest.bandwidth_hz
    offset_hz = widest.offset_hz or 0.0
    return FoundEmission(
        begin=min(bursts),
        end=max(bursts.values()),
        lower_hz=offset_hz - bandwidth_hz / 2,
        upper_hz=offset_hz + bandwidth_hz / 2,
        snr_db=widest.snr_db,
        label=answer.label,
        family=answer.family or families_of(head).get(answer.label),
        probability=answer.probability,
        probabilities=dict(zip(head.classes, answer.probabilities.tolist(), strict=True)),
        energy=sum(energy(one) for one in predictions) / rate_hz,
        bursts=tuple(sorted(bursts.items())),
    )
