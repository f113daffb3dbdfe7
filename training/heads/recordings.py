"""Heads from labelled recordings, each stretch as a model's front end finds it."""

import logging
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


def fit_recordings(
    bundle: Bundle, like: Head, folder: str | Path, name: str, search: Search, most: int | None = None
) -> Fit:
    """A head for the same windows as another, from at most `most` labelled stretches of a folder."""
    embedder = Embedder(bundle, open_engine(bundle.encoder, like.hop), like)
    found: list[tuple[str, NDArray[np.float32]]] = []
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
    classes = tuple(sorted({label for label, _ in found}))
    labels = np.repeat([classes.index(label) for label, _ in found], [len(rows) for _, rows in found])
    rows = np.concatenate([rows for _, rows in found])
    if most:
        keep = label_budget(labels, most, search.seed)
        labels, rows = labels[keep], rows[keep]
    identity = Identity(name, classes, "live", like.window, like.hop, encoder_sha256(bundle.encoder))
    fit = fit_live(bundle, rows, labels, identity, search)
    return replace(fit, head=replace(fit.head, outlier_limit=like.outlier_limit))
