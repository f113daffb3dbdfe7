"""SigMF metadata: what wavetell knows of a stretch of a stream, as other programs read it."""

from collections.abc import Sequence
from typing import Any

import sigmf

from service.live.runs import Run
from streaming.block import Block
from streaming.prediction import utc_text

EXTENSIONS = [{"name": name, "version": "1.0.0", "optional": True} for name in ("wavetell", "signal")]
LABEL_LENGTH = 20  # characters that SigMF allows


def metadata(
    rate_hz: float, captures: Sequence[tuple[int, dict[str, Any]]], annotations: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """A SigMF metadata object for cf32 samples; captures are (sample_start, fields)."""
    info = {
        sigmf.DATATYPE_KEY: "cf32_le",
        sigmf.SAMPLE_RATE_KEY: rate_hz,
        sigmf.RECORDER_KEY: "wavetell",
        sigmf.EXTENSIONS_KEY: EXTENSIONS,
    }
    return {
        "global": info | {sigmf.VERSION_KEY: sigmf.__specification__},
        "captures": [{sigmf.SAMPLE_START_KEY: start} | fields for start, fields in captures],
        "annotations": sorted(annotations, key=lambda note: int(note[sigmf.SAMPLE_START_KEY])),
    }


def capture(block: Block) -> dict[str, Any]:
    """Frequency and time of a capture that begins with this block."""
    fields: dict[str, Any] = {} if block.freq_hz is None else {sigmf.FREQUENCY_KEY: block.freq_hz}
    return fields if block.utc_ns is None else fields | {sigmf.DATETIME_KEY: utc_text(block.utc_ns)}


def annotation(run: Run, first_sample: int, end_sample: int | None = None) -> dict[str, Any]:
    """A run as an annotation, counted from `first_sample` and cut to what lies behind it."""
    start = max(run.start_sample, first_sample)
    end = run.end_sample if end_sample is None else min(run.end_sample, end_sample)
    note: dict[str, Any] = {
        sigmf.SAMPLE_START_KEY: start - first_sample,
        sigmf.SAMPLE_COUNT_KEY: max(0, end - start),
        sigmf.LABEL_KEY: run.label[:LABEL_LENGTH],
        sigmf.GENERATOR_KEY: "wavetell",
        sigmf.UUID_KEY: as_uuid(run.id),
        "signal:detail": {"modulation": run.label},
        "wavetell:probability": round(run.probability, 4),
        "wavetell:probabilities": {name: round(value, 4) for name, value in run.probabilities.items()},
        "wavetell:model_sha256": run.sha256,
    }
    if run.freq_hz is not None:
        note |= {
            sigmf.FREQ_LOWER_EDGE_KEY: run.freq_hz - run.rate_hz / 2,
            sigmf.FREQ_UPPER_EDGE_KEY: run.freq_hz + run.rate_hz / 2,
        }
    return note if run.snr_db is None else note | {"wavetell:snr_db": run.snr_db}


def as_uuid(run_id: str) -> str:
    """Our 24 hex digits in the form that SigMF asks for."""
    digits = run_id.ljust(32, "0")
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))
