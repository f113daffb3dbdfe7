"""Fitting a head to labels, in a process of its own: a job per line on stdin, a result per line on stdout.

A taught head keeps the families and the open-set detector of the model's own head. It is judged, and its
threshold chosen, on labels that it was not fitted to: windows of one label are too alike to judge by.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.models.fitting import Job
from service.schemas.labels import Confusion, Fitted
from service.storage.labels import LabelStore
from streaming.bundle import Bundle, encoder_sha256, load_bundle
from streaming.bundle_meta import FittedHead
from streaming.embedding import Embedder
from streaming.engine import open_engine
from streaming.errors import InputError, WavetellError
from streaming.head import Floats, Head
from training.heads.fit import SURE, Fit, Identity, fit_live
from training.heads.search import Search

MOST_ROWS = 800  # windows that a fit takes, shared by all labels: well below a second's work
SEARCH = Search(C=(0.1, 1.0, 10.0, 100.0, 1000.0), folds=3)  # half of the paper's grid: somebody waits
FOLDS = 5


@dataclass(frozen=True)
class Lesson:
    """Labelled windows as the encoder sees them."""

    classes: tuple[str, ...]
    rows: NDArray[np.float32]  # (n, outputs)
    truth: NDArray[np.int64]  # (n,), of the classes
    groups: NDArray[np.int64]  # (n,), which label a row is of

    def part(self, chosen: NDArray[np.bool_]) -> "Lesson":
        """Some of the rows."""
        return Lesson(self.classes, self.rows[chosen], self.truth[chosen], self.groups[chosen])


@dataclass(frozen=True)
class Teacher:
    """Fits a head like `base`, the head whose families and open-set detector the new one keeps."""

    bundle: Bundle
    base: Head
    identity: Identity

    def fit(self, lesson: Lesson, search: Search) -> Fit:
        """A head with its own threshold."""
        fit = fit_live(self.bundle, lesson.rows, lesson.truth, self.identity, search)
        return replace(fit, head=inherit(fit.head, self.base, lesson))

    def teach(self, lesson: Lesson) -> tuple[Head, Confusion | None]:
        """The head, and its confusion on labels it has not seen; None where a class has too few labels."""
        fit = self.fit(lesson, SEARCH)
        search = Search(C=(fit.C,), gamma=(fit.gamma_scale,), folds=2)
        unseen = [(lesson.part(test), self.fit(lesson.part(~test), search).head) for test in held_out(lesson)]
        if not unseen:
            return fit.head, None
        sure = np.concatenate([confidence(head, part.rows) for part, head in unseen])
        threshold = min(SURE, float(np.quantile(sure, SEARCH.refuse)))
        tables = [confusion(replace(head, threshold=threshold), part) for part, head in unseen]
        return replace(fit.head, threshold=threshold), added(tables)


def inherit(head: Head, base: Head, lesson: Lesson) -> Head:
    """The head with the families and the open-set detector of the base head.

    A class that is new is a family of its own. The detector was not trained on it and may take it for an
    outlier, so each class has a margin that lets all but a few of its labelled windows pass.
    """
    if base.families:
        families = tuple(base.names.family_of.get(name, name) for name in head.classes)
        head = replace(head, families=families, certain=base.certain)
    if base.outlier_limit is None:
        return head
    odds = lesson.rows[:, -1]
    of_class = [odds[lesson.truth == lesson.classes.index(name)] for name in head.classes]
    highest = np.array([np.quantile(own, 1 - SEARCH.refuse) for own in of_class])
    margin = np.maximum(0, highest - base.outlier_limit)
    return replace(head, outlier_limit=base.outlier_limit, outlier_margin=margin)


def fit(job: Job) -> Fitted:
    """Do one job."""
    started = time.monotonic()
    bundle = load_bundle(job.base)
    like = bundle.heads[job.like]
    lesson, counts = read_lesson(LabelStore(Path(job.labels)), bundle, like)
    if alike(lesson.rows):
        raise InputError("these labels cannot be fitted: all their stretches look the same to the encoder")
    encoder = encoder_sha256(bundle.encoder)
    identity = Identity(job.head, lesson.classes, "live", like.window, like.hop, encoder)
    head, after = Teacher(bundle, bundle.own_head(like), identity).teach(lesson)
    made = FittedHead(bundle.sha256, counts, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    meta = replace(bundle.meta, fitted=bundle.meta.fitted | {job.head: made})
    replace(bundle, heads=bundle.heads | {job.head: head}, meta=meta).save(Path(job.result))
    return Fitted(
        head=job.head,
        model=job.model,
        classes=list(head.classes),
        labels=counts,
        windows=len(lesson.rows),
        before=confusion(bundle.heads.get(job.head, like), lesson),
        after=after,
        seconds=round(time.monotonic() - started, 3),
    )


def read_lesson(store: LabelStore, bundle: Bundle, like: Head) -> tuple[Lesson, dict[str, int]]:
    """Windows of all labels, evenly thinned, and how many labels there are of each class."""
    embedder = Embedder(bundle, open_engine(bundle.encoder, like.hop), like)
    labels = store.list()
    if not labels:
        raise InputError("there are no labels yet; give some with POST /v1/labels")
    each = max(1, MOST_ROWS // len(labels))
    rows = [thin(store.embeddings(label, embedder), each) for label in labels]
    groups = np.repeat(np.arange(len(labels)), [len(part) for part in rows])
    classes = sorted({label.label for label in labels})
    truth = np.array([classes.index(labels[group].label) for group in groups], np.int64)
    counts = Counter(label.label for label in labels)
    return Lesson(tuple(classes), np.concatenate(rows), truth, groups), dict(counts)


def thin(rows: NDArray[np.float32], most: int) -> NDArray[np.float32]:
    """At most this many rows, evenly spread."""
    chosen = np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(int)
    return np.asarray(rows[chosen])


def alike(rows: NDArray[np.float32]) -> bool:
    """Whether the rows differ by no more than the encoder's rounding."""
    return bool(np.all(rows.std(0, dtype=np.float64) <= 1e-4 * np.abs(rows).max(0)))


def held_out(lesson: Lesson) -> list[NDArray[np.bool_]]:
    """Rows to leave out in each fold: whole labels, of each class in turn; none where a class has too few."""
    of_label = [int(lesson.truth[np.flatnonzero(lesson.groups == g)[0]]) for g in np.unique(lesson.groups)]
    if min(Counter(of_label).values()) < 2:
        return []
    fold = np.empty(len(of_label), np.int64)
    for c in set(of_label):
        mine = [i for i, label in enumerate(of_label) if label == c]
        fold[mine] = np.arange(len(mine)) % FOLDS
    tests = [fold[lesson.groups] == f for f in np.unique(fold).tolist()]
    everything = len(lesson.classes)
    return [t for t in tests if len(np.unique(lesson.truth[~t])) == everything and not alike(lesson.rows[~t])]


def confidence(head: Head, rows: NDArray[np.float32]) -> Floats:
    """What is held against the head's threshold, (n,)."""
    return head.names.confidence(head.probabilities(rows))


def confusion(head: Head, lesson: Lesson) -> Confusion:
    """Truth -> answer -> windows."""
    chosen, _ = head.answer(lesson.rows)
    table: Confusion = {name: {} for name in lesson.classes}
    for true, index in zip(lesson.truth.tolist(), chosen.tolist(), strict=True):
        answer = head.classes[index] if index >= 0 else "unknown"
        table[lesson.classes[true]][answer] = table[lesson.classes[true]].get(answer, 0) + 1
    return table


def added(tables: Sequence[Confusion]) -> Confusion:
    """The sum of confusions of the same classes."""
    return {name: dict(sum((Counter(table[name]) for table in tables), Counter())) for name in tables[0]}


def main() -> None:
    """Fit until stdin ends."""
    os.nice(5)  # the live engine comes first
    for line in sys.stdin:
        try:
            answer = fit(Job(**json.loads(line))).model_dump_json()
        except WavetellError as error:
            answer = json.dumps({"error": str(error)})
        except (ValueError, ArithmeticError) as error:  # what the solver says of embeddings it cannot part
            reason = str(error).partition("\n")[0]
            answer = json.dumps({"error": f"these labels cannot be fitted: {reason}"})
        print(answer, flush=True)


if __name__ == "__main__":
    main()
