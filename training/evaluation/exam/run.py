"""The exam from beginning to end: read a folder, listen to it, score, give lines to print.

Each line is text or, with `as_json`, one object: a line per recording where each has one label, and last the
summary.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from streaming.errors import ConfigError
from streaming.pipeline import choose_head
from training.evaluation.exam import box_scores, recordings, report
from training.evaluation.exam.boxes import read_boxes
from training.evaluation.exam.labels import families_of
from training.evaluation.exam.recordings import Decision, decide, read_labels
from training.evaluation.exam.sets import Half, Heard, R, half, listen_to, opened
from training.progress import Progress


def judge_labels(
    model: str, folder: Path, sources: Half | None, workers: int, as_json: bool
) -> Iterator[str]:
    """Recordings with one label each."""
    bundle, _ = opened(model)
    labelled, unlabelled = read_labels(folder, families_of(choose_head(bundle, "", "live")))
    decisions: list[Decision] = []
    for recording, heard in listened(model, labelled, sources, workers):
        decisions.append(Decision(recording, decide(heard.emissions), heard.cpu_s))
        if as_json:
            yield json.dumps(recordings.line(decisions[-1]))
    summary = recordings.summary(decisions, unlabelled)
    about = {"model": bundle.name, "sha256": bundle.sha256}
    yield json.dumps(about | summary) if as_json else report.recordings_text(summary)


def judge_boxes(model: str, folder: Path, sources: Half | None, workers: int, as_json: bool) -> Iterator[str]:
    """Recordings with annotated boxes."""
    bundle, _ = opened(model)
    boxed = read_boxes(folder, families_of(choose_head(bundle, "", "live")))
    results: list[box_scores.Outcome] = []
    cpu_s, left_out, count = 0.0, 0, 0
    for recording, heard in listened(model, boxed, sources, workers):
        results += box_scores.outcomes(recording.boxes, heard.emissions, recording.narrowest_hz)
        cpu_s, left_out, count = cpu_s + heard.cpu_s, left_out + recording.left_out, count + 1
    summary = box_scores.summary(results, count, left_out, cpu_s)
    about = {"model": bundle.name, "sha256": bundle.sha256}
    yield json.dumps(about | summary) if as_json else report.boxes_text(summary)


def listened(
    model: str, recordings: list[R], sources: Half | None, workers: int
) -> Iterator[tuple[R, Heard]]:
    """Each recording of the chosen sources, with what was found in it."""
    chosen = half(recordings, sources) if sources else recordings
    if not chosen:
        raise ConfigError(f"there is one source; --sources {sources} leaves nothing")
    with Progress("listening", len(chosen)) as progress:
        heard = listen_to(model, chosen, workers)
        for done, pair in enumerate(zip(chosen, heard, strict=True), 1):
            progress.to(done)
            yield pair
