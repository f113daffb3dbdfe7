"""Emissions as files: CSV, JSON lines, SigMF annotations."""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal

from service.live.emissions import EmissionRow
from service.schemas.emissions import StreamEmission
from service.storage import sigmf

Format = Literal["csv", "jsonl", "sigmf"]
# format -> media type and the file's ending
FORMATS: dict[Format, tuple[str, str]] = {
    "csv": ("text/csv", "csv"),
    "jsonl": ("application/x-ndjson", "jsonl"),
    "sigmf": ("application/sigmf+json", "sigmf-meta"),
}
LEFT_OUT = {"type", "nearest"}  # of a CSV's columns


def write(form: Format, rows: Iterable[EmissionRow]) -> Iterator[str]:
    """The file, some of it at a time."""
    return {"csv": write_csv, "jsonl": write_lines, "sigmf": write_sigmf}[form](rows)


def write_lines(rows: Iterable[EmissionRow]) -> Iterator[str]:
    """One JSON object per line, as REST describes an emission."""
    for row in rows:
        yield row.describe().model_dump_json(by_alias=True) + "\n"


def write_csv(rows: Iterable[EmissionRow]) -> Iterator[str]:
    """A line of names, then one line per emission."""
    fields = StreamEmission.model_fields.items()
    names = [field.serialization_alias or name for name, field in fields if name not in LEFT_OUT]
    described = (row.describe().model_dump(by_alias=True) for row in rows)
    for values in chain([names], ([each[name] for name in names] for each in described)):
        line = io.StringIO()
        csv.writer(line).writerow(values)
        yield line.getvalue()


def write_sigmf(rows: Iterable[EmissionRow]) -> Iterator[str]:
    """Annotations of the emissions since the stream was last created: before, samples are counted anew."""
    found = list(rows)
    newest = max((row.from_ns, lifetime(row)) for row in found)[1] if found else ""
    kept = sorted((row for row in found if lifetime(row) == newest), key=lambda row: row.start_sample)
    first, rate_hz = (kept[0].start_sample, kept[0].rate_hz) if kept else (0, 1.0)
    notes = [sigmf.emission_note(row, first, row.end_sample) for row in kept]
    made = sigmf.metadata(rate_hz, sigmf.captures(kept), notes)
    yield made.model_dump_json(by_alias=True, exclude_none=True)


def lifetime(row: EmissionRow) -> str:
    """The part of an emission's identity that changes when its stream is created again."""
    return row.id.rpartition("-")[0]
