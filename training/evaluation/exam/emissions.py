"""The emissions that a model finds in a source: what the exam judges. Only `emissions_of` runs the pipeline.

The energy of an emission is relative to the noise density: E / N0 = duration x bandwidth x SNR.
"""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass

from streaming.block import Block
from streaming.bundle import Bundle
from streaming.engine import Engine
from streaming.head import Head
from streaming.pipeline import LivePipeline, choose_head
from streaming.prediction import NO_SIGNAL, UNKNOWN, Prediction
from streaming.report import Run
from training.evaluation.exam.labels import families_of
from training.signals.classes import FAMILIES

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
    """Every emission that the model's first live head finds; the engine's hop must be that head's."""
    head = choose_head(bundle, "", "live")
    runs: dict[int, Run] = {}  # by where the signal began
    rate_hz = 0.0
    with closing(LivePipeline(bundle, head, engine)) as pipeline:
        for block in blocks:
            rate_hz = block.rate_hz
            collect(runs, pipeline.push(block))
        collect(runs, pipeline.flush())
    return [found(run.report(head.names).prediction, head, rate_hz) for run in runs.values()]


def collect(runs: dict[int, Run], predictions: Iterable[Prediction]) -> None:
    """Add predictions to the signals that they are of."""
    for prediction in predictions:
        if prediction.begin in runs:
            runs[prediction.begin].add(prediction)
        elif prediction.label != NO_SIGNAL:
            runs[prediction.begin] = Run(prediction)


def found(answer: Prediction, head: Head, rate_hz: float) -> FoundEmission:
    """The answer over a signal; without a front end it fills the band."""
    bandwidth_hz = rate_hz if answer.bandwidth_hz is None else answer.bandwidth_hz
    offset_hz = answer.offset_hz or 0.0
    snr = 1.0 if answer.snr_db is None else 10 ** (answer.snr_db / 10)
    return FoundEmission(
        begin=answer.begin,
        end=answer.end,
        lower_hz=offset_hz - bandwidth_hz / 2,
        upper_hz=offset_hz + bandwidth_hz / 2,
        snr_db=answer.snr_db,
        label=answer.label,
        family=answer.family or families_of(head).get(answer.label),
        probability=answer.probability,
        probabilities=dict(zip(head.classes, answer.probabilities.tolist(), strict=True)),
        energy=(answer.end - answer.begin) / rate_hz * bandwidth_hz * snr,
        bursts=((answer.begin, answer.end),),
    )
