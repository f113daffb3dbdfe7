"""SigMF metadata: what wavetell knows of a stretch of a stream, as other programs read it."""

from collections.abc import Sequence

import sigmf

from service.live.emissions import EmissionRow
from service.live.runs import Run
from service.schemas.sigmf import Annotation, Capture, Detail, Extension, Global, Metadata
from streaming.block import Block
from streaming.prediction import utc_text

EXTENSIONS = [Extension(name=name) for name in ("wavetell", "signal")]
LABEL_LENGTH = 20  # characters that SigMF allows


def metadata(rate_hz: float, captures: list[Capture], annotations: Sequence[Annotation]) -> Metadata:
    """A SigMF metadata object for cf32 samples."""
    return Metadata(
        global_=Global(
            datatype="cf32_le",
            sample_rate=rate_hz,
            recorder="wavetell",
            extensions=EXTENSIONS,
            version=sigmf.__specification__,
        ),
        captures=captures,
        annotations=sorted(annotations, key=lambda note: note.sample_start),
    )


def capture(block: Block) -> Capture:
    """A capture that begins with this block."""
    utc = None if block.utc_ns is None else utc_text(block.utc_ns)
    return Capture(frequency=block.freq_hz, datetime=utc)


def captures(runs: Sequence[Run] | Sequence[EmissionRow]) -> list[Capture]:
    """One capture per frequency of these runs or emissions; samples are counted from the first one's."""
    found: list[Capture] = []
    for run in runs:
        if not found or found[-1].frequency != run.freq_hz:
            found.append(
                Capture(
                    sample_start=run.start_sample - runs[0].start_sample,
                    global_index=run.start_sample,
                    frequency=run.freq_hz,
                    datetime=utc_text(run.from_ns),
                )
            )
    return found or [Capture()]


def annotation(run: Run, first_sample: int, end_sample: int | None = None) -> Annotation:
    """A run as an annotation, counted from `first_sample` and cut to what lies behind it."""
    start = max(run.start_sample, first_sample)
    end = run.end_sample if end_sample is None else min(run.end_sample, end_sample)
    lower, upper = edges(run.bandwidth_hz, run.offset_hz if run.freq_hz is None else run.centre_hz)
    if lower is None and run.freq_hz is not None:  # not measured: somewhere in the band
        lower, upper = edges(run.rate_hz, run.freq_hz)
    return Annotation(
        sample_start=start - first_sample,
        sample_count=max(0, end - start),
        freq_lower_edge=lower,
        freq_upper_edge=upper,
        label=run.label[:LABEL_LENGTH],
        uuid=as_uuid(run.id),
        detail=Detail(modulation=run.label),
        probability=round(run.probability, 4),
        probabilities={name: round(value, 4) for name, value in run.probabilities.items()},
        model_sha256=run.sha256,
        family=run.family,
        emission=run.emission,
        snr_db=run.snr_db,
    )


def emission_note(row: EmissionRow, first_sample: int, end_sample: int) -> Annotation:
    """An emission as an annotation of samples [first_sample, end_sample), counted from the first."""
    start = max(row.start_sample, first_sample)
    return Annotation(
        sample_start=start - first_sample,
        sample_count=max(0, min(row.end_sample, end_sample) - start),
        freq_lower_edge=row.lower_hz,
        freq_upper_edge=row.upper_hz,
        label=row.label[:LABEL_LENGTH],
        detail=Detail(modulation=row.label),
        probability=round(row.probability, 4),
        model_sha256=row.sha256,
        family=row.family,
        emission=row.id,
        snr_db=round(row.snr_db, 1),
    )


def edges(bandwidth_hz: float | None, middle_hz: float | None) -> tuple[float | None, float | None]:
    """Lower and upper edge; at RF where the middle is, relative to baseband where nobody knows the frequency.

    >>> edges(200e3, 100e6)
    (99900000.0, 100100000.0)
    """
    if bandwidth_hz is None or middle_hz is None:
        return None, None
    return middle_hz - bandwidth_hz / 2, middle_hz + bandwidth_hz / 2


def as_uuid(run_id: str) -> str:
    """Our 24 hex digits in the form that SigMF asks for."""
    digits = run_id.ljust(32, "0")
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))
