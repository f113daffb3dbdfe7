"""Heads from labelled recordings, each stretch as a model's front end finds it."""

import logging
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streaming.bundle import Bundle, encoder_sha256
from streaming.embedding import Embedder
from streaming.engine import open_engine
from streaming.errors import ConfigError, InputError
from streaming.head import Head
from training.datasets import open_stretches
from training.datasets.partition import label_budget
from training.heads.fit import Fit, Identity, fit_live
from training.heads.search import Search
from training.signals.classes import NOISE

log = logging.getLogger(__name__)


Labelled = list[tuple[str, NDArray[np.float32]]]  # label and embeddings (n, entries) of each stretch


def fit_recordings(
    bundle: Bundle, like: Head, folder: str | Path, name: str, search: Search, most: int | None = None
) -> Fit:
    """A head for the same windows as another, from at most `most` labelled stretches of a folder."""
    return fit_labelled(bundle, like, embed_recordings(bundle, like, folder), name, search, most)


def embed_recordings(bundle: Bundle, like: Head, folder: str | Path) -> Labelled:
    """Every labelled stretch of a folder in which there is a signal."""
    embedder = Embedder(bundle, open_engine(bundle.encoder, like.hop), like)
    found: Labelled = []
    for number, stretch in enumerate(open_stretches(folder), 1):
        if stretch.label == NOISE:  # the front end reports noise, not the head
            continue
        if stretch.rate_hz is None:
            raise ConfigError(f"{folder} has a recording without a sample rate")
        past = min(stretch.start, embedder.past)
        heard = stretch.recording[stretch.start - past : stretch.end]
        try:
            found.append((stretch.label, embedder.embed(heard, past, stretch.rate_hz)))
        except InputError as error:
            log.warning("label %d, %s, is left out: %s", number, stretch.label, error)
    if not found:
        raise ConfigError(f"{folder} has no labelled stretch with a signal")
    return found


def fit_labelled(
    bundle: Bundle, like: Head, found: Labelled, name: str, search: Search, most: int | None = None
) -> Fit:
    """A head from embeddings of labelled stretches."""
    classes = tuple(sorted({label for label, _ in found}))
    labels = np.repeat([classes.index(label) for label, _ in found], [len(rows) for _, rows in found])
    rows = np.concatenate([rows for _, rows in found])
    if most:
        keep = label_budget(labels, most, search.seed)
        labels, rows = labels[keep], rows[keep]
    identity = Identity(name, classes, "live", like.window, like.hop, encoder_sha256(bundle.encoder))
    fit = fit_live(bundle, rows, labels, identity, search)
    return replace(fit, head=replace(fit.head, outlier_limit=like.outlier_limit))


def held_out_accuracy(bundle: Bundle, like: Head, found: Labelled, search: Search) -> float:
    """Share of right classes, each half of the stretches by a head of the other; stretches count alike."""
    seen: Counter[str] = Counter()
    halves: tuple[Labelled, Labelled] = ([], [])
    for label, rows in found:
        halves[seen[label] % 2].append((label, rows))
        seen[label] += 1
    right: list[float] = []
    for fitted, tested in (halves, halves[::-1]):
        if len({label for label, _ in fitted}) < 2:
            raise ConfigError("the labels must have two stretches of each of two classes at least")
        head = fit_labelled(bundle, like, fitted, "held-out", search).head
        for label, rows in tested:
            said = head.probabilities(rows).argmax(1)
            right.append(float(np.mean([head.classes[i] == label for i in said])))
    return float(np.mean(right))
