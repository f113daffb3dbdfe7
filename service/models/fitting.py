"""Fitting a head to labels, in a process of its own: one job a line on stdin, one result a line on stdout.

The process is started with the first label, so that its imports are done before anybody waits for a fit.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.storage.labels import Label, LabelStore
from streaming.bundle import encoder_sha256, load_bundle
from streaming.bundle_meta import FittedHead
from streaming.embedding import Embedder
from streaming.engine import open_engine
from streaming.errors import InputError, WavetellError
from streaming.head import Head
from training.heads.fit import Fit, Identity, Search, feature_weights, fit_head

MOST_ROWS = 800  # windows that a fit takes, shared by all labels: well below a second's work
SEARCH = Search(C=(0.1, 1.0, 10.0, 100.0, 1000.0), folds=3)  # half of the paper's grid: somebody waits
FOLDS = 5


class Fitter:
    """The process that fits, seen from the service."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def warm(self) -> None:
        """Start the process if it does not run."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "service.models.fitting"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=Path(__file__).parents[2],
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )

    def fit(self, model: str | Path, labels: Path, like: str, name: str, result: Path) -> dict[str, Any]:
        """Fit head `name` with the window and hop of head `like`; `result` is the new bundle's file."""
        job = {"model": str(model), "labels": str(labels), "like": like, "name": name, "result": str(result)}
        with self._lock:
            self.warm()
            process = self._process
            assert process is not None
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        if not line:
            raise WavetellError("the process that fits heads has died")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise InputError(answer["error"])
        return answer

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe:
                    pipe.close()


def fit(job: dict[str, str]) -> dict[str, Any]:
    """Do one job; what the user wants to know of it."""
    began = time.monotonic()
    bundle, store = load_bundle(job["model"]), LabelStore(Path(job["labels"]))
    labels, like = store.list(), bundle.heads[job["like"]]
    rows, groups = gather(labels, store, Embedder(bundle, open_engine(bundle.encoder, like.hop), like))
    classes = sorted({label.label for label in labels})
    truth = np.array([classes.index(labels[group].label) for group in groups], np.int64)
    if alike(rows):
        raise InputError("these labels cannot be fitted: all their stretches look the same to the encoder")
    identity = Identity(
        job["name"], tuple(classes), "live", like.window, like.hop, encoder_sha256(bundle.encoder)
    )
    counting = feature_weights(rows.shape[1]) if bundle.meta.has_features else None
    fitted = fit_head(rows, truth, identity, SEARCH, counting)
    before = bundle.heads.get(job["name"], like)
    counts = dict(Counter(label.label for label in labels))
    answer = {
        "head": job["name"],
        "classes": list(fitted.head.classes),
        "labels": counts,
        "windows": len(rows),
        "before": confusion(classes, truth, before, rows),
        "after": unseen_confusion(classes, truth, groups, rows, identity, fitted, counting),
    }
    made = FittedHead(bundle.sha256, counts, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    meta = replace(bundle.meta, fitted=bundle.meta.fitted | {job["name"]: made})
    heads = bundle.heads | {job["name"]: fitted.head}
    replace(bundle, heads=heads, meta=meta).save(Path(job["result"]))
    return answer | {"seconds": round(time.monotonic() - began, 3)}


def gather(
    labels: list[Label], store: LabelStore, embedder: Embedder
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Embeddings (n, outputs) of all labels, and for each row which label it is of."""
    each = max(1, MOST_ROWS // len(labels))
    rows = [thin(store.embeddings(label, embedder), each) for label in labels]
    groups = np.repeat(np.arange(len(labels)), [len(part) for part in rows])
    return np.concatenate(rows), groups


def thin(rows: NDArray[np.float32], most: int) -> NDArray[np.float32]:
    """At most so many rows, evenly spread."""
    chosen = np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(int)
    return np.asarray(rows[chosen])


def alike(rows: NDArray[np.float32]) -> bool:
    """Whether the rows differ by no more than the encoder's rounding: there is nothing to tell them by."""
    return bool(np.all(rows.std(0, dtype=np.float64) <= 1e-4 * np.abs(rows).max(0)))


def confusion(
    classes: list[str], truth: NDArray[np.int64], head: Head, rows: NDArray[np.float32]
) -> dict[str, dict[str, int]]:
    """Truth -> answer -> windows."""
    chosen, _ = head.answer(rows)
    table: dict[str, dict[str, int]] = {name: {} for name in classes}
    for true, index in zip(truth.tolist(), chosen.tolist(), strict=True):
        answer = head.classes[index] if index >= 0 else "unknown"
        table[classes[true]][answer] = table[classes[true]].get(answer, 0) + 1
    return table


def unseen_confusion(
    classes: list[str],
    truth: NDArray[np.int64],
    groups: NDArray[np.int64],
    rows: NDArray[np.float32],
    identity: Identity,
    fitted: Fit,
    counting: NDArray[np.float64] | None,
) -> dict[str, dict[str, int]] | None:
    """The new head's confusion on labels it has not seen: windows of one label are too alike to judge by.

    None where a class has too few labels to leave some out.
    """
    of_label = [int(truth[np.flatnonzero(groups == group)[0]]) for group in np.unique(groups)]
    if min(Counter(of_label).values()) < 2:
        return None
    fold = np.empty(len(of_label), np.int64)  # labels of each class are dealt out in turn
    for c in set(of_label):
        mine = [i for i, label in enumerate(of_label) if label == c]
        fold[mine] = np.arange(len(mine)) % FOLDS
    search = Search(C=(fitted.C,), gamma=(fitted.gamma_scale,), folds=2)
    table: dict[str, dict[str, int]] = {name: {} for name in classes}
    for left_out in np.unique(fold).tolist():
        test = fold[groups] == left_out
        if len(np.unique(truth[~test])) < len(classes) or alike(rows[~test]):
            continue
        head = fit_head(rows[~test], truth[~test], identity, search, counting).head
        for true, answers in confusion(classes, truth[test], head, rows[test]).items():
            for answer, count in answers.items():
                table[true][answer] = table[true].get(answer, 0) + count
    return table


def main() -> None:
    """Fit until stdin ends."""
    os.nice(5)  # the live engine comes first
    for line in sys.stdin:
        try:
            answer = fit(json.loads(line))
        except WavetellError as error:
            answer = {"error": str(error)}
        except (ValueError, ArithmeticError) as error:  # what the solver says of embeddings it cannot part
            answer = {"error": f"these labels cannot be fitted: {str(error).partition(chr(10))[0]}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
