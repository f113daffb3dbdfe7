"""Recordings with one label each: `labels.csv` beside them, and one decision per recording.

labels.csv has the columns `file` and `modulation`, and where known `family`, `snr_db` or `snr_estimate_db`,
`source`, `source_repo` or `device` (who made the recording; without it each recording is a source of its
own), `grade` and `sample_rate_hz` (needed where the file itself does not say it). Rows without a modulation
are counted and left out.

The decision is the emission with the most energy over the noise that is not a bare carrier (a steady spur),
unless there is nothing else. A recording of `noise` is right where nothing is found.
"""

import csv
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streaming.errors import ConfigError, FormatError
from training.evaluation.accuracy import Accuracy, with_intervals
from training.evaluation.exam.emissions import FoundEmission
from training.evaluation.exam.labels import Truth, read_label
from training.evaluation.exam.sets import NOT_KNOWN, Recording, grouped, snr_range
from training.signals.classes import NOISE

NOTHING = "nothing found"
SNR_COLUMNS = ("snr_db", "snr_estimate_db")
SOURCE_COLUMNS = ("source", "source_repo", "device")


@dataclass(frozen=True)
class LabelledRecording(Recording):
    """A row of labels.csv."""

    truth: Truth
    snr_db: float | None = None
    grade: str | None = None


def read_labels(folder: Path, families: Mapping[str, str]) -> tuple[list[LabelledRecording], int]:
    """The labelled recordings, and how many rows have no label."""
    path = folder / "labels.csv"
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            columns = list(reader.fieldnames or [])
            rows = [{name: (row[name] or "").strip() for name in columns} for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path} is not a CSV file in UTF-8: {error}") from None
    if not {"file", "modulation"} <= set(columns):
        there = ", ".join(columns) or "(none)"
        raise FormatError(f"{path} has the columns {there}; it must have file and modulation")
    labelled = [row for row in rows if row["modulation"]]
    if not labelled:
        raise FormatError(f"{path} has {len(rows)} rows and none with a modulation")
    return [read_row(folder, row, families) for row in labelled], len(rows) - len(labelled)


def read_row(folder: Path, row: Mapping[str, str], families: Mapping[str, str]) -> LabelledRecording:
    """One row with a modulation."""
    file = folder / row["file"]
    if not file.is_file():
        raise ConfigError(f"{folder / 'labels.csv'} names {row['file']!r}; there is no such file")
    truth = read_label(row["modulation"], families)
    if row.get("family"):
        truth = Truth(truth.label, read_label(row["family"]).family)
    rate_hz = number(row, "sample_rate_hz")
    return LabelledRecording(
        file=row["file"],
        address=f"file:{file.absolute()}" + (f"?rate={rate_hz}" if rate_hz is not None else ""),
        source=next((row[name] for name in SOURCE_COLUMNS if row.get(name)), row["file"]),
        truth=truth,
        snr_db=next((number(row, name) for name in SNR_COLUMNS if row.get(name)), None),
        grade=row.get("grade") or None,
    )


def number(row: Mapping[str, str], column: str) -> float | None:
    """A cell as a number; None where it is empty or the column is missing."""
    try:
        return float(row[column]) if row.get(column) else None
    except ValueError:
        raise FormatError(
            f"labels.csv: {column} of {row['file']} is {row[column]!r}; it must be a number"
        ) from None


@dataclass(frozen=True)
class Decision:
    """What was answered for one recording, beside the truth."""

    recording: LabelledRecording
    emission: FoundEmission | None  # None: nothing was found
    cpu_s: float

    @property
    def answer(self) -> str:
        """The label that was given."""
        return self.emission.label if self.emission else NOTHING

    @property
    def family(self) -> str | None:
        """The family that was given; silence is the family of noise."""
        return self.emission.family if self.emission else NOISE

    @property
    def family_right(self) -> bool:
        """Whether the family is the true one."""
        return self.family == self.recording.truth.family

    @property
    def class_right(self) -> bool:
        """Whether the class is the true one."""
        truth = self.recording.truth.label
        return truth == (self.emission.label if self.emission else NOISE)

    @property
    def missed(self) -> bool:
        """Whether nothing was found where there is something."""
        return self.emission is None and self.recording.truth.family != NOISE


def decide(emissions: Sequence[FoundEmission]) -> FoundEmission | None:
    """The emission that speaks for the recording."""
    return max(emissions, key=lambda e: (not e.bare_carrier, e.energy), default=None)


def scores(decisions: Sequence[Decision]) -> dict[str, Any]:
    """Shares of right and missing answers; those of classes among recordings whose class is known."""
    classed = [d.class_right for d in decisions if d.recording.truth.label is not None]
    total = len(decisions)
    return {"recordings": total, "with_class": len(classed)} | with_intervals(
        {
            "family_right": Accuracy(sum(d.family_right for d in decisions), total),
            "class_right": Accuracy(sum(classed), len(classed)),
            "unknown": Accuracy(sum(d.emission is not None and d.emission.unknown for d in decisions), total),
            "nothing_found": Accuracy(sum(d.missed for d in decisions), total),
        }
    )


def summary(decisions: Sequence[Decision], unlabelled: int) -> dict[str, Any]:
    """All figures, as JSON."""

    def by(key: Callable[[Decision], str]) -> dict[str, Any]:
        return {name: scores(group) for name, group in grouped(decisions, key).items()}

    graded = any(d.recording.grade for d in decisions)
    confusion = grouped(decisions, lambda d: d.recording.truth.label or d.recording.truth.family)
    return (
        scores(decisions)
        | {
            "unlabelled": unlabelled,
            "cpu_seconds": round(sum(d.cpu_s for d in decisions), 3),
            "by_family": by(lambda d: d.recording.truth.family),
            "by_snr": by(lambda d: snr_range(d.recording.snr_db)),
            "by_source": by(lambda d: d.recording.source),
        }
        | ({"by_grade": by(lambda d: d.recording.grade or NOT_KNOWN)} if graded else {})
        | {
            "confusion": {
                truth: dict(Counter(d.answer for d in group).most_common())
                for truth, group in confusion.items()
            }
        }
    )


def line(decision: Decision) -> dict[str, Any]:
    """One recording, as JSON."""
    recording, emission = decision.recording, decision.emission
    found: dict[str, Any] = dict.fromkeys(("probability", "snr_db", "bandwidth_hz", "offset_hz"))
    if emission:
        found = {
            "probability": round(emission.probability, 4),
            "snr_db": None if emission.snr_db is None else round(emission.snr_db, 1),
            "bandwidth_hz": round(emission.upper_hz - emission.lower_hz),
            "offset_hz": round((emission.upper_hz + emission.lower_hz) / 2),
        }
    return {
        "file": recording.file,
        "source": recording.source,
        "truth": recording.truth.label or recording.truth.family,
        "family": recording.truth.family,
        "label": decision.answer,
        "answered_family": emission.family if emission else None,
        **found,
        "cpu_seconds": round(decision.cpu_s, 3),
    }
